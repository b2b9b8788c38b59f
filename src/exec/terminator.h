#pragma once

#include "exec/queue.h"
#include "loop/child.h"
#include "loop/reaper.h"

#include <chrono>
#include <list>
#include <memory>

namespace mcpd::exec {

/// Ends processes that nobody wants any more, politely and then not: TERM to the whole group, KILL after a grace, and the
/// same to those that have left the group. Nobody waits for it; who hands a process over may forget it.
class Terminator {
public:
    /// How long they have between TERM and KILL.
    static constexpr std::chrono::milliseconds kGrace{2000};

    Terminator(loop::Loop& loop, loop::Reaper& reaper);
    ~Terminator();
    Terminator(const Terminator&) = delete;

    /// Takes a child in whatever state, and its place in the queue, which is free again when the last process of that
    /// child has gone, or when it turns out that it cannot be killed.
    void take(std::unique_ptr<loop::Child> child, Queue::Place place);

    /// For the end of the program, when all jobs are gone: ends everything that descends from us, also what calls left in
    /// the background that ended well. `on_done` comes once, when nothing is left but what cannot be killed, after four
    /// seconds at most. Nothing may be started meanwhile; asking again changes nothing.
    void finish(Callback<void()> on_done);

    /// How many it has not seen dead yet.
    std::size_t size() const { return patients_.size(); }

private:
    class Patient;

    void look();
    void check_finished(const loop::Reaper::Orphans& orphans);
    void look_soon() { look_.schedule(); }

    loop::Loop& loop_;
    loop::Reaper& reaper_;
    std::list<Patient> patients_;
    loop::Deferred look_;
    bool finishing_ = false;
    Callback<void()> on_finished_;
};

}  // namespace mcpd::exec
