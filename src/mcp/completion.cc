#include "mcp/catalog_wait.h"
#include "mcp/server.h"
#include "util/text.h"

#include <fmt/core.h>

namespace mcpd::mcp {

namespace {

void complete_now(Server& server, Exchange& exchange) {
    const auto& params = exchange.params();
    const auto fail = [&](std::string why) { exchange.fail({Fault::Kind::InvalidParams, std::move(why)}); };
    const auto* ref = params.find("ref");
    const auto* type = ref ? ref->find("type") : nullptr;
    const auto* argument = params.find("argument");
    for (const auto* field : {"name", "value"}) {
        const auto* text = argument ? argument->find(field) : nullptr;
        if (!text || !text->string()) return fail(std::string{"argument."} + field + ": must be a string");
    }
    const std::string kind = type && type->string() ? *type->string() : "";
    if (kind != "ref/prompt" && kind != "ref/resource") return fail("ref.type: must be ref/prompt or ref/resource");
    const auto* name = ref->find(kind == "ref/prompt" ? "name" : "uri");
    if (!name || !name->string()) return fail("ref: must say what it refers to");
    // What we have of resources has no arguments to complete.
    if (kind == "ref/resource" && server.catalog().find_state(*name->string())) {
        return exchange.reply({.members = R"("completion":{"values":[],"total":0,"hasMore":false})"});
    }
    fail(fmt::format("ref: unknown {} {}", kind == "ref/prompt" ? "prompt" : "resource",
                     text::printable(name->string()->substr(0, 200))));
}

}  // namespace

void complete(Server& server, Exchange& exchange) {
    with_catalog(server, exchange, complete_now);
}

}  // namespace mcpd::mcp
