#pragma once

#include "loop/handle.h"
#include "util/callback.h"

#include <chrono>

namespace mcpd::loop {

class Loop;

/// Calls once, after a while, by the monotonic clock. Destroying or stopping it is how one no longer waits.
class Timer {
public:
    Timer(Loop& loop, Callback<void()> call);
    Timer(const Timer&) = delete;

    /// Starts it, or starts it anew.
    void start(std::chrono::milliseconds delay);
    void stop();
    bool is_active() const { return handle_.is_active(); }

private:
    Loop& loop_;
    Callback<void()> call_;
    Handle<uv_timer_t> handle_;
};

}  // namespace mcpd::loop
