#include "data/json_writer.h"
#include "mcp/catalog_wait.h"
#include "mcp/page.h"
#include "mcp/server.h"
#include "mcp/tool_call.h"
#include "util/text.h"

#include <algorithm>

namespace mcpd::mcp {

namespace {

void list_now(Server& server, Exchange& exchange) {
    std::string after;
    if (!read_cursor(exchange, after)) return;
    server.note_listed();

    Reply reply{.cacheable = true};
    data::JsonWriter json{reply.members};
    json.key("tools").begin_array();
    const auto& entries = server.catalog().entries();
    const auto name = [](const catalog::Entry& entry) -> const std::string& { return entry.tool.name; };
    auto entry = after.empty() ? entries.begin() : std::ranges::upper_bound(entries, after, {}, name);
    for (std::size_t count = 0; entry != entries.end() && count < kPageSize; ++entry, ++count) {
        json.raw(entry->list_entry);
    }
    json.end_array();
    if (entry != entries.end()) json.member("nextCursor", make_cursor(name(*std::prev(entry))));
    exchange.reply(reply);
}

}  // namespace

void list_tools(Server& server, Exchange& exchange) {
    with_catalog(server, exchange, list_now);
}

void call_tool(Server& server, Exchange& exchange) {
    const auto* name = exchange.params().find("name");
    const auto* arguments = exchange.params().find("arguments");
    if (!name || !name->string()) {
        return exchange.fail({Fault::Kind::InvalidParams, "name: must be the name of a tool"});
    }
    if (arguments && !arguments->is_null() && !arguments->object()) {
        return exchange.fail(
            {Fault::Kind::InvalidParams, "arguments: must be an object, not " + std::string{arguments->kind_name()}});
    }
    auto call = std::make_unique<ToolCall>(server, exchange);
    ToolCall& begun = *call;
    exchange.set_task(std::move(call));
    begun.start();
}

}  // namespace mcpd::mcp
