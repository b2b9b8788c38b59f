#include "catalog/instructions.h"
#include "data/json_writer.h"
#include "mcp/server.h"
#include "util/log.h"
#include "util/text.h"

/// How a client and we get to know each other: `initialize` in the older versions, `server/discover` since.
namespace mcpd::mcp {

namespace {

using data::JsonWriter;

void write_capabilities(JsonWriter& json, Version version) {
    json.key("capabilities").begin_object();
    for (const auto* list : {"tools", "resources"}) {
        json.key(list).begin_object().member("listChanged", true).end_object();
    }
    json.key("prompts").begin_object().end_object();
    json.key("logging").begin_object().end_object();
    if (version >= Version::V2025_03_26) json.key("completions").begin_object().end_object();
    json.end_object();
}

void write_instructions(JsonWriter& json, Server& server) {
    const auto& root = server.settings().around.root_directory;
    const auto instructions = catalog::read_instructions(root, server.keeper().permissions());
    if (!instructions) return log::warning("{}", instructions.error().message);
    if (!instructions->empty()) json.member("instructions", *instructions);
}

}  // namespace

void initialize(Server& server, Exchange& exchange) {
    const auto* asked = exchange.params().find("protocolVersion");
    // A version that we do not know gets the newest of that kind, never an error: clients give up on errors.
    auto version = asked && asked->string() ? find_version(*asked->string()) : std::nullopt;
    if (!version || *version >= kModern) version = kNewestLegacy;

    Session& session = exchange.session();
    session.version = *version;
    session.is_initialized = true;
    session.client = exchange.caller().client;
    if (const auto* capabilities = exchange.params().find("capabilities"); capabilities && capabilities->object()) {
        session.capabilities = *capabilities;
    }

    Reply reply;
    JsonWriter json{reply.members};
    json.member("protocolVersion", version_name(*version));
    write_capabilities(json, *version);
    json.key("serverInfo").raw(server.identity());
    write_instructions(json, server);
    exchange.reply(reply);
}

void discover(Server& server, Exchange& exchange) {
    Reply reply{.cacheable = true};
    JsonWriter json{reply.members};
    json.key("supportedVersions").begin_array().value(version_name(kModern)).end_array();
    write_capabilities(json, kModern);
    write_instructions(json, server);
    exchange.reply(reply);
}

void ping(Server&, Exchange& exchange) {
    exchange.reply({});
}

}  // namespace mcpd::mcp
