#include "data/json_writer.h"
#include "mcp/catalog_wait.h"
#include "mcp/page.h"
#include "mcp/server.h"
#include "mcp/state_read.h"

#include <algorithm>

namespace mcpd::mcp {

namespace {

using data::JsonWriter;

void write_resource(JsonWriter& json, const tool::Tool& tool) {
    json.begin_object().member("uri", catalog::state_uri(tool.name)).member("name", tool.name + "/state");
    json.member("title", "State of " + tool.title);
    json.member("description", "What " + tool.name + " remembers").end_object();
}

void list_now(Server& server, Exchange& exchange) {
    std::string after;
    if (!read_cursor(exchange, after)) return;
    server.note_listed();

    Reply reply{.cacheable = true};
    JsonWriter json{reply.members};
    json.key("resources").begin_array();
    const auto states = server.catalog().states();
    const auto name = [](const catalog::Entry* entry) -> const std::string& { return entry->tool.name; };
    auto entry = after.empty() ? states.begin() : std::ranges::upper_bound(states, after, {}, name);
    for (std::size_t count = 0; entry != states.end() && count < kPageSize; ++entry, ++count) {
        write_resource(json, (*entry)->tool);
    }
    json.end_array();
    if (entry != states.end()) json.member("nextCursor", make_cursor(name(*std::prev(entry))));
    exchange.reply(reply);
}

void read_now(Server& server, Exchange& exchange) {
    auto read = std::make_unique<StateRead>(server, exchange);
    StateRead& begun = *read;
    exchange.set_task(std::move(read));
    begun.start();
}

}  // namespace

void list_resources(Server& server, Exchange& exchange) {
    with_catalog(server, exchange, list_now);
}

void list_resource_templates(Server&, Exchange& exchange) {
    std::string after;
    if (read_cursor(exchange, after)) exchange.reply({.members = R"("resourceTemplates":[])", .cacheable = true});
}

void read_resource(Server& server, Exchange& exchange) {
    const auto* uri = exchange.params().find("uri");
    if (!uri || !uri->string()) return exchange.fail({Fault::Kind::InvalidParams, "uri: must be a string"});
    with_catalog(server, exchange, read_now);
}

}  // namespace mcpd::mcp
