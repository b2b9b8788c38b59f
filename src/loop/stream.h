#pragma once

#include "loop/deferred.h"
#include "loop/poll.h"
#include "util/unique_fd.h"

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace mcpd::loop {

class Loop;

/// Remembers the flags of the standard descriptors, and gives them back in the end: one for the program, since two of the
/// three may be the same socket.
class StandardFlags {
public:
    StandardFlags();
    ~StandardFlags();
    StandardFlags(const StandardFlags&) = delete;

private:
    std::array<int, 3> flags_;
};

/// Bytes in and out of a pipe, a terminal, a socket, or a file (which is always ready), through one descriptor.
///
/// What is written in one turn of the loop goes out together at its end; what the other side does not take waits here,
/// and pending() says how much that is.
class Stream {
public:
    /// Any of these may destroy the Stream.
    class Listener {
    public:
        /// Bytes as they came. They are good until this returns.
        virtual void on_data(std::string_view bytes) = 0;

        /// The other side writes no more. Writing to it may go on.
        virtual void on_end() = 0;

        /// Reading or writing failed, for good: what was pending is dropped.
        virtual void on_broken(int error) = 0;

        /// All that was written has been taken.
        virtual void on_drained() = 0;

    protected:
        ~Listener() = default;
    };

    Stream(Loop& loop, UniqueFd fd, Listener& listener);
    ~Stream();
    Stream(const Stream&) = delete;

    /// A descriptor for standard input or output that the loop may make non-blocking. The original shares its flags with
    /// whoever started us, a shell perhaps, which would find its terminal changed; so pipes and terminals are opened
    /// again where the system allows it. Where it does not (sockets), see StandardFlags.
    static UniqueFd open_standard(int fd);

    void start_reading();

    /// No on_data() until started again; what the other side sends waits in the kernel.
    void stop_reading();

    void write(std::string_view bytes);

    /// A large piece that need not be copied.
    void write_block(std::string bytes);

    /// Bytes not yet taken by the other side.
    std::size_t pending() const { return pending_; }

    int fd() const { return fd_.get(); }

private:
    void on_ready(int events);
    void on_turn_end();
    void read_some();
    void flush();
    void watch();
    void fail(int error);

    Loop& loop_;
    Listener& listener_;
    UniqueFd fd_;
    Poll poll_;
    bool always_ready_ = false;
    int unusable_ = 0;  ///< why it cannot be watched at all
    bool reading_ = false;
    bool broken_ = false;
    bool blocked_ = false;  ///< the other side takes nothing now
    std::deque<std::string> queue_;
    std::size_t front_written_ = 0;
    std::size_t pending_ = 0;
    Deferred turn_end_;
};

}  // namespace mcpd::loop
