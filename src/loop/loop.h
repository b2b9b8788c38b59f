#pragma once

#include "loop/handle.h"
#include "util/result.h"

#include <memory>
#include <span>

namespace mcpd::loop {

class Deferred;

/// The event loop. Everything else in this folder hangs on one, and must be gone before it is destroyed: the destructor
/// checks that no handle was leaked.
class Loop {
public:
    /// Fails when the process has no descriptors left. Also makes writing to a closed pipe an error (EPIPE) instead of
    /// the end of the program.
    static Result<std::unique_ptr<Loop>> open();
    ~Loop();
    Loop(const Loop&) = delete;

    /// Until stop(), or until nothing is left that could still happen.
    void run();
    void stop();

    /// Waits for the next events and handles them.
    void run_once();

    /// One buffer for everyone who reads: what is in it is good until the callback returns.
    std::span<char> scratch() { return {scratch_.get(), kScratchSize}; }

    uv_loop_t* get() { return &loop_; }

private:
    friend class Deferred;
    static constexpr std::size_t kScratchSize = 256 * 1024;

    Loop() = default;
    void run_deferred();

    uv_loop_t loop_;
    bool is_open_ = false;
    Handle<uv_idle_t> idle_;
    Deferred* first_deferred_ = nullptr;
    Deferred* last_deferred_ = nullptr;
    std::unique_ptr<char[]> scratch_;
};

}  // namespace mcpd::loop
