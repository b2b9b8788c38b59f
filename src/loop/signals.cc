#include "loop/signals.h"

#include "loop/loop.h"

namespace mcpd::loop {

Signals::Signals(Loop& loop, std::initializer_list<int> signals, Callback<void(int)> call) : call_(call) {
    for (const int signal : signals) {
        Handle<uv_signal_t> handle;
        handle.open(this, [&](uv_signal_t* body) { return uv_signal_init(loop.get(), body); });
        uv_signal_start(
            handle.get(),
            [](uv_signal_t* body, int number) {
                if (body->data) static_cast<Signals*>(body->data)->call_(number);
            },
            signal);
        handle.set_counted(false);
        handles_.push_back(std::move(handle));
    }
}

}  // namespace mcpd::loop
