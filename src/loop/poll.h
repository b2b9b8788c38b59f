#pragma once

#include "loop/handle.h"
#include "util/callback.h"

namespace mcpd::loop {

class Loop;

/// Watches one descriptor, which stays its owner's: close() this first, then the descriptor.
class Poll {
public:
    /// The call says what is ready (UV_READABLE, UV_WRITABLE). An error or hang-up counts as ready for all that was
    /// asked: the read or write that follows finds out. It may destroy the Poll.
    explicit Poll(Callback<void(int)> call) : call_(call) {}
    Poll(const Poll&) = delete;

    /// 0, or a negative errno: -EPERM for a regular file, which is always ready and cannot be watched. Makes the
    /// descriptor non-blocking.
    int open(Loop& loop, int fd);
    void start(int events);
    void stop();
    void close() { handle_.close(); }

    bool is_open() const { return static_cast<bool>(handle_); }
    bool is_active() const { return handle_.is_active(); }
    void set_counted(bool counted) { handle_.set_counted(counted); }

private:
    Callback<void(int)> call_;
    Handle<uv_poll_t> handle_;
    int events_ = 0;
};

}  // namespace mcpd::loop
