#include "mcp/page.h"
#include "mcp/server.h"
#include "util/text.h"

/// No script can be a prompt yet; clients ask all the same.
namespace mcpd::mcp {

void list_prompts(Server&, Exchange& exchange) {
    std::string after;
    if (read_cursor(exchange, after)) exchange.reply({.members = R"("prompts":[])", .cacheable = true});
}

void get_prompt(Server&, Exchange& exchange) {
    const auto* name = exchange.params().find("name");
    if (!name || !name->string()) return exchange.fail({Fault::Kind::InvalidParams, "name: must be a string"});
    exchange.fail({Fault::Kind::InvalidParams, "unknown prompt " + text::printable(name->string()->substr(0, 200))});
}

}  // namespace mcpd::mcp
