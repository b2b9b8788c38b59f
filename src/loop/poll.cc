#include "loop/poll.h"

#include "loop/loop.h"

namespace mcpd::loop {

int Poll::open(Loop& loop, int fd) {
    return handle_.open(this, [&](uv_poll_t* poll) { return uv_poll_init(loop.get(), poll, fd); });
}

void Poll::start(int events) {
    // Starting anew would take the descriptor out of the kernel's set and put it back.
    if (is_active() && events == events_) return;
    events_ = events;
    uv_poll_start(handle_.get(), events, [](uv_poll_t* poll, int status, int ready) {
        auto* self = static_cast<Poll*>(poll->data);
        if (!self) return;
        self->call_(status < 0 ? self->events_ : ready);
    });
}

void Poll::stop() {
    if (handle_) uv_poll_stop(handle_.get());
}

}  // namespace mcpd::loop
