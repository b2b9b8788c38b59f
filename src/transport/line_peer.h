#pragma once

#include "loop/stream.h"
#include "mcp/peer.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace mcpd::transport {

/// A client that sends and gets one message a line.
///
/// One that does not read is not waited for: its answers wait here, its log lines only so many of them, the oldest going
/// first; and when too much waits, nothing more is read from it until it has caught up.
class LinePeer final : mcp::Channel, loop::Stream::Listener {
public:
    class Listener {
    public:
        /// The client sends no more, and all that it was owed has gone out; or it cannot be reached any more. May destroy
        /// the LinePeer.
        virtual void on_gone() = 0;

    protected:
        ~Listener() = default;
    };

    LinePeer(loop::Loop& loop, mcp::Server& server, UniqueFd in, UniqueFd out, std::size_t max_request,
             Listener& listener);

    /// It has sent something, at least one byte.
    bool has_spoken() const { return has_spoken_; }

    /// For the end of the program: what is open is closed in good order, as far as that needs no waiting.
    void end_input();

private:
    void send(std::string message, Weight weight) override;
    void on_data(std::string_view bytes) override;
    void on_end() override;
    void on_broken(int error) override;
    void on_drained() override;

    void take_line(std::string_view line);
    void flush_held();
    void on_idle() { check_gone(); }
    void check_gone();

    std::size_t max_request_;
    Listener& listener_;
    loop::Deferred gone_;
    std::string line_;       ///< what came after the last line end
    bool skipping_ = false;  ///< the rest of a line that is too long
    bool has_spoken_ = false;
    bool input_ended_ = false;
    bool broken_ = false;
    std::deque<std::string> held_;  ///< log lines for which there is no room now
    std::size_t held_bytes_ = 0;
    std::uint64_t dropped_ = 0;
    loop::Stream in_, out_;
    mcp::Peer peer_;
};

}  // namespace mcpd::transport
