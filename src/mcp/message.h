#pragma once

#include "data/node.h"
#include "mcp/fault.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mcpd::mcp {

/// One message of a client: a request when it has an id and a method, a notification without an id, a response without a
/// method.
struct Message {
    std::string method;  ///< empty: a response
    std::string id;      ///< as the client wrote it, type and digits; empty: none
    data::Node params{data::Node::Object{}};

    bool is_request() const { return !method.empty() && !id.empty(); }
    bool is_response() const { return method.empty(); }

    /// `params._meta[key]`, or null.
    const data::Node* meta(std::string_view key) const;
};

/// A string or a whole number: what ids and progress tokens may be.
bool is_id(const data::Node& node);

/// A message that cannot be understood; `id` where it could be read.
struct Unreadable {
    std::string id;
    Fault fault;
};

using Read = std::variant<Message, Unreadable>;

/// What a client sent: one message, or a batch of them.
struct Received {
    std::vector<Read> messages;
    bool is_batch = false;
};
Received read_messages(std::string_view text);

}  // namespace mcpd::mcp
