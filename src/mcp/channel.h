#pragma once

#include <string>

namespace mcpd::mcp {

/// Where messages to a client go: all of a stdio connection, or one answer's own stream.
class Channel {
public:
    /// The answer to a request; news that it waits for; and what may be left out when the client does not keep up: log
    /// lines.
    enum class Weight { Answer, Needed, Droppable };

    /// A whole message, without a line end. Never calls back.
    virtual void send(std::string message, Weight weight) = 0;

protected:
    ~Channel() = default;
};

}  // namespace mcpd::mcp
