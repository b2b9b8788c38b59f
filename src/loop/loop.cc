#include "loop/loop.h"

#include "loop/deferred.h"
#include "util/log.h"

#include <cassert>
#include <csignal>

namespace mcpd::loop {

Result<std::unique_ptr<Loop>> Loop::open() {
    signal(SIGPIPE, SIG_IGN);
    std::unique_ptr<Loop> loop{new Loop};
    int error = uv_loop_init(&loop->loop_);
    if (error < 0) {
        return Error{Code::System, std::string{"cannot make an event loop: "} + uv_strerror(error)};
    }
    loop->is_open_ = true;
    loop->idle_.open(loop.get(), [&](uv_idle_t* idle) { return uv_idle_init(&loop->loop_, idle); });
    loop->scratch_ = std::make_unique_for_overwrite<char[]>(kScratchSize);
    return loop;
}

Loop::~Loop() {
    if (!is_open_) return;
    idle_.close();
    // Nobody may have a handle open any more; those that are being closed are freed by their callbacks, in the next turn.
    bool leaked = false;
    uv_walk(
        &loop_,
        [](uv_handle_t* handle, void* leaked) {
            if (uv_is_closing(handle)) return;
            log::error("a {} handle was left open", uv_handle_type_name(handle->type));
            *static_cast<bool*>(leaked) = true;
        },
        &leaked);
    assert(!leaked);
    if (leaked) return;
    // More than once after a stop(), which makes one run return at once.
    while (uv_loop_close(&loop_) == UV_EBUSY) uv_run(&loop_, UV_RUN_DEFAULT);
}

void Loop::run() {
    uv_run(&loop_, UV_RUN_DEFAULT);
}

void Loop::run_once() {
    uv_run(&loop_, UV_RUN_ONCE);
}

void Loop::stop() {
    uv_stop(&loop_);
}

void Loop::run_deferred() {
    // Only those that are waiting now: one that asks again waits for the next turn, so that I/O gets its turn too. The
    // idle handle stays active for it, which keeps the loop from sleeping.
    Deferred marker{*this, Callback<void()>{}};
    marker.append();
    while (first_deferred_ != &marker) {
        Deferred* next = first_deferred_;
        next->cancel();
        next->call_();
    }
    marker.cancel();
    if (!first_deferred_) uv_idle_stop(idle_.get());
}

}  // namespace mcpd::loop
