#include "exec/queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

namespace mcpd::exec {

Queue::Queue(loop::Loop& loop, Size size) : size_(size), admit_(loop, Callback<void()>::to<&Queue::admit>(this)) {}

Result<void> Queue::enter(Waiter& waiter, Kind kind) {
    assert(!waiter.queue_);
    // Those who will get a place at the end of this turn do not wait.
    const std::size_t free = size_.running - std::min(size_.running, running_);
    if (line_.size() >= size_.waiting + free) {
        return Error{Code::Busy,
                     fmt::format("busy: {} commands run and {} wait; try again later", running_, line_.size())};
    }
    waiter.queue_ = this;
    waiter.kind_ = std::move(kind);
    waiter.position_ = line_.insert(line_.end(), &waiter);
    admit_.schedule();
    return {};
}

void Queue::Waiter::leave_line() {
    if (!queue_) return;
    queue_->line_.erase(position_);
    queue_ = nullptr;
}

void Queue::leave(const std::string& kind) {
    running_--;
    if (const auto found = running_of_.find(kind); found != running_of_.end() && --found->second == 0) {
        running_of_.erase(found);
    }
    if (!line_.empty()) admit_.schedule();
}

bool Queue::has_room_for(const Kind& kind) const {
    if (kind.limit == 0) return true;
    const auto found = running_of_.find(kind.name);
    return found == running_of_.end() || found->second < kind.limit;
}

void Queue::admit() {
    while (running_ < size_.running) {
        // The line may change with each who is let in: they may take others with them.
        const auto next =
            std::ranges::find_if(line_, [&](const Waiter* waiter) { return has_room_for(waiter->kind_); });
        if (next == line_.end()) return;
        Waiter& waiter = **next;
        waiter.leave_line();
        Kind kind = std::move(waiter.kind_);
        running_++;
        if (kind.limit > 0) running_of_[kind.name]++;
        waiter.on_place(Place{this, kind.limit > 0 ? std::move(kind.name) : std::string{}});
    }
}

}  // namespace mcpd::exec
