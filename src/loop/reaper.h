#pragma once

#include "loop/launch.h"
#include "loop/poll.h"
#include "loop/signals.h"
#include "loop/timer.h"

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace mcpd::loop {

/// Sees to it that no process is lost: neither the ones we started whose owner has gone, nor what they left behind.
///
/// This process is a child subreaper: a descendant whose parent dies becomes our child. Such orphans are reaped by
/// process number when they end. Nobody ever waits for "any child", because that would take the status away from the
/// one who is waiting for it.
///
/// Whose orphan it is says a number that each process we start carries in a resource limit which the kernel ignores
/// (RLIMIT_LOCKS). Descendants inherit it through fork, exec, setsid, an emptied environment and setuid; one that lowers
/// that limit on purpose is no longer known, and ends with the daemon.
class Reaper {
public:
    explicit Reaper(Loop& loop);
    ~Reaper();
    Reaper(const Reaper&) = delete;

    /// A number that no other process of this daemon has carried, nor, but for an odd chance, one of a daemon that we run or
    /// that runs us.
    std::uint64_t next_number();

    /// What RLIMIT_LOCKS is for the process of that number.
    rlim_t mark(std::uint64_t number) const;

    /// Counts a process that we started ourselves: its owner waits for it, the Reaper leaves it alone.
    void enroll(pid_t pid) { enrolled_.insert(pid); }

    /// Its owner has waited for it.
    void discharge(pid_t pid) { enrolled_.erase(pid); }
    std::size_t enrolled() const { return enrolled_.size(); }

    /// Kills an enrolled process whose owner has gone, with its group, and sees to it that it is reaped.
    void bury(Process process);
    std::size_t buried() const { return graves_.size(); }

    struct Orphan {
        pid_t pid;
        std::uint64_t number;  ///< 0: none of ours
    };

    struct Orphans {
        std::vector<Orphan> alive;

        /// Two looks agreed. Otherwise there may be more, since the kernel skips one in its list when another ends at the
        /// same moment, or one could not be read: look again.
        bool settled;
    };

    /// Those alive now; the dead are reaped.
    Orphans orphans();

    /// What a child makes with CLONE_PARENT belongs to the thread that started the child. This one starts some too; while
    /// it does, what it has may be a child that nobody has heard of yet, and is left alone.
    void set_second_parent(pid_t thread);
    void set_launching(bool launching) { launching_ = launching; }

    /// Called after a process ended that may have been an orphan, or may have left one.
    void set_listener(Callback<void()> on_change) { on_change_ = on_change; }

private:
    struct Grave;

    void on_signal(int);
    void look();
    bool reap_orphans();
    std::vector<pid_t> children() const;
    std::optional<std::uint64_t> number_of(pid_t pid) const;
    void forget(Grave& grave);

    Loop& loop_;
    rlim_t highest_mark_;
    std::uint64_t last_number_;
    UniqueFd proc_children_;
    UniqueFd proc_second_children_;
    pid_t second_parent_ = 0;
    bool launching_ = false;
    std::set<pid_t> enrolled_;
    std::map<pid_t, std::optional<std::uint64_t>> orphans_;
    std::list<Grave> graves_;
    Callback<void()> on_change_;
    Timer pause_;
    std::chrono::steady_clock::time_point last_look_;
    Signals signals_;
};

}  // namespace mcpd::loop
