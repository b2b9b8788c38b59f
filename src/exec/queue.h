#pragma once

#include "loop/deferred.h"
#include "util/result.h"

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace mcpd::exec {

/// Decides who may run now: so many at once, so many of one kind, the rest in line in the order they came. One that waits
/// for its kind holds up nobody of another.
class Queue {
public:
    struct Size {
        std::size_t running = 32;
        std::size_t waiting = 1024;
    };

    /// The right to run. It goes where the process goes: a command that was cancelled but has not died yet keeps its
    /// place, so that two of one kind never overlap. Destroying it gives it to the next one, who hears of it at the end of
    /// the turn.
    class Place {
    public:
        Place() = default;
        Place(Place&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)), kind_(std::move(other.kind_)) {}
        Place& operator=(Place&& other) noexcept {
            std::swap(queue_, other.queue_);
            std::swap(kind_, other.kind_);
            return *this;
        }
        ~Place() {
            if (queue_) queue_->leave(kind_);
        }
        explicit operator bool() const { return queue_ != nullptr; }

    private:
        friend class Queue;
        Place(Queue* queue, std::string kind) : queue_(queue), kind_(std::move(kind)) {}
        Queue* queue_ = nullptr;
        std::string kind_;
    };

    /// What counts together, and how many of it may run at once; 0: any number. One with a limit has a name.
    struct Kind {
        std::string name;
        std::size_t limit = 0;
    };

    /// Someone in line. Destroying one leaves it.
    class Waiter {
    public:
        Waiter() = default;
        Waiter(const Waiter&) = delete;

    protected:
        ~Waiter() { leave_line(); }
        void leave_line();

        /// It is this one's turn. May destroy the Waiter.
        virtual void on_place(Place place) = 0;

    private:
        friend class Queue;
        Queue* queue_ = nullptr;
        std::list<Waiter*>* list_ = nullptr;  ///< the line, or those whose turn it is
        std::list<Waiter*>::iterator position_;
        Kind kind_;
        Place place_;  ///< given, but not heard of yet
    };

    Queue(loop::Loop& loop, Size size);
    Queue(const Queue&) = delete;

    /// Joins the line; the place comes later, never from within this call. Code::Busy when it would have to wait and the
    /// line is full.
    Result<void> enter(Waiter& waiter, Kind kind);

    std::size_t running() const { return running_; }
    std::size_t waiting() const { return line_.size(); }

private:
    void put(Waiter& waiter, std::list<Waiter*>& list);
    bool has_room_for(const Kind& kind) const;
    void give(Waiter& waiter);
    void leave(const std::string& kind);
    void tell();

    Size size_;
    std::size_t running_ = 0;
    std::unordered_map<std::string, std::size_t> running_of_;  ///< only of kinds that are limited
    std::list<Waiter*> line_;                                  ///< none of these could run now
    std::list<Waiter*> given_;  ///< these have a place, and hear of it at the end of the turn
    loop::Deferred tell_;
};

}  // namespace mcpd::exec
