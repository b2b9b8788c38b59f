#include "mcp/message.h"

#include "data/json.h"

#include <array>
#include <cmath>

namespace mcpd::mcp {

namespace {

using data::Node;

/// These go back as they were written: `1e2` must not become `100.0`.
constexpr std::array<std::string_view, 3> kRaw{"id", "progressToken", "requestId"};

Unreadable refuse(std::string id, std::string why) {
    return {std::move(id), {Fault::Kind::InvalidRequest, std::move(why)}};
}

Read read_one(const Node& node) {
    if (!node.object()) return refuse("", "a message must be a JSON object, not " + std::string{node.kind_name()});
    Message message;
    if (const Node* id = node.find("id")) {
        if (!is_id(*id)) return refuse("", "id: must be a string or an integer, not " + std::string{id->kind_name()});
        message.id = id->raw();
    }
    const Node* version = node.find("jsonrpc");
    if (!version || !version->string() || *version->string() != "2.0") {
        return refuse(message.id, R"(jsonrpc: must be "2.0")");
    }
    const Node* method = node.find("method");
    if (!method) {
        if (!message.id.empty() && (node.find("result") || node.find("error"))) return message;
        return refuse(message.id, "method: required");
    }
    if (!method->string() || method->string()->empty()) return refuse(message.id, "method: must be a string");
    message.method = *method->string();
    if (const Node* params = node.find("params")) {
        if (!params->object()) {
            return refuse(message.id, "params: must be an object, not " + std::string{params->kind_name()});
        }
        message.params = *params;
    }
    return message;
}

/// Names that occur twice make the text unusable, but not the id unreadable.
Unreadable explain(std::string_view text, const Error& error) {
    const auto lenient = data::parse_json(text, {.unique_names = false, .raw = kRaw});
    if (!lenient) return {"", {Fault::Kind::Parse, error.message}};
    const Node* id = lenient->find("id");
    return refuse(id && is_id(*id) ? id->raw() : "", error.message);
}

}  // namespace

bool is_id(const Node& node) {
    const auto number = node.number();
    return node.string() || (number && std::trunc(*number) == *number);
}

const Node* Message::meta(std::string_view key) const {
    const Node* all = params.find("_meta");
    return all ? all->find(key) : nullptr;
}

Received read_messages(std::string_view text) {
    Received received;
    const auto node = data::parse_json(text, {.raw = kRaw});
    if (!node) {
        received.messages.emplace_back(explain(text, node.error()));
        return received;
    }
    const auto* batch = node->array();
    if (!batch) {
        received.messages.push_back(read_one(*node));
        return received;
    }
    received.is_batch = true;
    for (const auto& item : *batch) received.messages.push_back(read_one(item));
    return received;
}

}  // namespace mcpd::mcp
