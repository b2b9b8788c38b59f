#pragma once

#include "mcp/channel.h"

#include <cstddef>
#include <string>

namespace mcpd::mcp {

/// Gathers the answers to a batch of requests, which go out together. Notifications do not wait for them.
class Batch final : public Channel {
public:
    /// `expected`: so many will be answered, or cancelled.
    Batch(Channel& out, std::size_t expected) : out_(out), expected_(expected) {}

    void send(std::string message, Weight weight) override;

    /// One will not be answered.
    void forget_one();

    bool is_over() const { return expected_ == 0; }

private:
    void settle();

    Channel& out_;
    std::size_t expected_;
    std::string answers_;
};

}  // namespace mcpd::mcp
