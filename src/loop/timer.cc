#include "loop/timer.h"

#include "loop/loop.h"

namespace mcpd::loop {

Timer::Timer(Loop& loop, Callback<void()> call) : loop_(loop), call_(call) {}

void Timer::start(std::chrono::milliseconds delay) {
    // Most timers are never started: a call without a timeout, a child that needs no drain.
    if (!handle_) handle_.open(this, [&](uv_timer_t* timer) { return uv_timer_init(loop_.get(), timer); });
    // The loop's clock stands still during a turn, and counts whole milliseconds: either would make the timer early.
    uv_update_time(loop_.get());
    const auto whole = delay.count() > 0 ? static_cast<std::uint64_t>(delay.count()) + 1 : 0;
    uv_timer_start(
        handle_.get(),
        [](uv_timer_t* timer) {
            if (timer->data) static_cast<Timer*>(timer->data)->call_();
        },
        whole, 0);
}

void Timer::stop() {
    if (handle_) uv_timer_stop(handle_.get());
}

}  // namespace mcpd::loop
