#include "exec/queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

namespace mcpd::exec {

Queue::Queue(loop::Loop& loop, Size size) : size_(size), tell_(loop, Callback<void()>::to<&Queue::tell>(this)) {}

Result<void> Queue::enter(Waiter& waiter, Kind kind) {
    assert(!waiter.queue_);
    assert(kind.limit == 0 || !kind.name.empty());
    const bool can_run = has_room_for(kind);
    if (!can_run && line_.size() >= size_.waiting) {
        return Error{Code::Busy,
                     fmt::format("busy: {} commands run and {} wait; try again later", running_, line_.size())};
    }
    waiter.queue_ = this;
    waiter.kind_ = std::move(kind);
    // Nobody is passed over: whoever is in line could not take this place.
    can_run ? give(waiter) : put(waiter, line_);
    return {};
}

void Queue::put(Waiter& waiter, std::list<Waiter*>& list) {
    waiter.list_ = &list;
    waiter.position_ = list.insert(list.end(), &waiter);
}

void Queue::Waiter::leave_line() {
    if (!queue_) return;
    list_->erase(position_);
    queue_ = nullptr;
    place_ = {};
}

bool Queue::has_room_for(const Kind& kind) const {
    if (running_ >= size_.running) return false;
    if (kind.limit == 0) return true;
    const auto found = running_of_.find(kind.name);
    return found == running_of_.end() || found->second < kind.limit;
}

void Queue::give(Waiter& waiter) {
    running_++;
    if (waiter.kind_.limit > 0) running_of_[waiter.kind_.name]++;
    waiter.place_ = Place{this, waiter.kind_.limit > 0 ? waiter.kind_.name : std::string{}};
    put(waiter, given_);
    tell_.schedule();
}

void Queue::leave(const std::string& kind) {
    running_--;
    if (const auto found = running_of_.find(kind); found != running_of_.end() && --found->second == 0) {
        running_of_.erase(found);
    }
    // At most one can come in for one that leaves.
    const auto next = std::ranges::find_if(line_, [&](const Waiter* waiter) { return has_room_for(waiter->kind_); });
    if (next == line_.end()) return;
    Waiter& waiter = **next;
    line_.erase(next);
    give(waiter);
}

void Queue::tell() {
    // Those who come meanwhile hear in the next turn, so that commands that fail at once do not keep the loop here.
    for (std::size_t count = given_.size(); count > 0 && !given_.empty(); count--) {
        Waiter& waiter = *given_.front();
        Place place = std::move(waiter.place_);
        waiter.leave_line();
        waiter.on_place(std::move(place));
    }
    if (!given_.empty()) tell_.schedule();
}

}  // namespace mcpd::exec
