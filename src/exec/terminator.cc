#include "exec/terminator.h"

#include "loop/timer.h"
#include "util/log.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

namespace mcpd::exec {

namespace {

/// After KILL: what a dying process leaves behind appears a moment later.
constexpr std::chrono::milliseconds kBetweenKills{50};

/// A process that has not died of KILL by then waits for a broken disk or network file system. It is reaped if it ever
/// ends, but nobody waits for it.
constexpr std::chrono::milliseconds kPatience{1500};

}  // namespace

/// One child being ended, or all orphans, at the end of the program.
class Terminator::Patient final : loop::Child::Listener {
public:
    Patient(Terminator& terminator, std::unique_ptr<loop::Child> child, Queue::Place place)
        : terminator_(terminator),
          child_(std::move(child)),
          place_(std::move(place)),
          timer_(terminator.loop_, Callback<void()>::to<&Patient::on_timer>(this)) {
        if (child_) child_->set_listener(*this);
        if (!child_ || !child_->is_starting()) begin();
    }

    bool is_child() const { return child_ != nullptr; }
    bool is_given_up() const { return given_up_; }

    /// Looks after those of `orphans` that are this one's; true when nothing is left to do.
    bool look(const std::vector<loop::Reaper::Orphan>& orphans) {
        if (child_ && child_->is_starting()) return false;
        bool any = false;
        for (const auto& orphan : orphans) {
            if (child_ && !is_mine(orphan)) continue;
            any = true;
            hard_ ? end(orphan.pid, SIGKILL) : ask(orphan.pid);
        }
        return !any && (!child_ || child_->has_exited() || failed_);
    }

private:
    /// A child that was never numbered has left nobody.
    bool is_mine(const loop::Reaper::Orphan& orphan) const {
        return orphan.number != 0 && orphan.number == child_->number();
    }

    void begin() {
        if (child_) {
            child_->signal(SIGTERM);
            // One that is stopped would not hear it.
            child_->signal(SIGCONT);
        }
        timer_.start(kGrace);
        terminator_.look_soon();
    }

    /// TERM, once, for a process that was not in the group when the group got it.
    void ask(pid_t orphan) {
        if (std::ranges::find(asked_, orphan) != asked_.end()) return;
        asked_.push_back(orphan);
        if (child_ && getpgid(orphan) == child_->group()) return;
        end(orphan, SIGTERM);
        end(orphan, SIGCONT);
    }

    /// It is our child now, so its number is its own. If it leads a group, that means all of it.
    static void end(pid_t orphan, int signal) {
        if (getpgid(orphan) == orphan) kill(-orphan, signal);
        kill(orphan, signal);
    }

    void on_timer() {
        if (!hard_) hard_since_ = std::chrono::steady_clock::now();
        hard_ = true;
        const bool allowed = !child_ || child_->signal(SIGKILL) || child_->has_exited();
        if (!given_up_ && (!allowed || std::chrono::steady_clock::now() - hard_since_ > kPatience)) {
            if (child_) {
                log::warning("process {} cannot be killed{}: it is left to itself", child_->group(),
                             allowed ? "" : " because it has become another user");
            }
            given_up_ = true;
            place_ = {};
        }
        timer_.start(given_up_ ? kPatience : kBetweenKills);
        terminator_.look_soon();
    }

    void on_started() override { begin(); }
    void on_start_failed(loop::LaunchFailure) override {
        failed_ = true;
        terminator_.look_soon();
    }
    // It may still want to say something before it ends, and must not die of a closed pipe while it tidies up.
    void on_output(loop::Child::Output, std::string_view) override {}
    void on_output_end() override {}
    void on_exit(loop::ExitStatus) override { terminator_.look_soon(); }

    Terminator& terminator_;
    std::unique_ptr<loop::Child> child_;
    Queue::Place place_;
    loop::Timer timer_;
    bool hard_ = false;
    bool failed_ = false;
    bool given_up_ = false;
    std::chrono::steady_clock::time_point hard_since_;
    std::vector<pid_t> asked_;
};

Terminator::Terminator(loop::Loop& loop, loop::Reaper& reaper)
    : loop_(loop), reaper_(reaper), look_(loop, Callback<void()>::to<&Terminator::look>(this)) {
    reaper_.set_listener(Callback<void()>::to<&Terminator::look_soon>(this));
}

Terminator::~Terminator() {
    reaper_.set_listener({});
}

void Terminator::take(std::unique_ptr<loop::Child> child, Queue::Place place) {
    patients_.emplace_back(*this, std::move(child), std::move(place));
}

void Terminator::finish(Callback<void()> on_done) {
    if (finishing_) return;
    finishing_ = true;
    on_finished_ = on_done;
    patients_.emplace_back(*this, nullptr, Queue::Place{});
}

void Terminator::look() {
    if (patients_.empty()) return;
    const auto orphans = reaper_.orphans();
    if (!orphans.settled) look_soon();
    std::erase_if(patients_, [&](Patient& patient) {
        const bool is_over = patient.look(orphans.alive) && orphans.settled;
        return is_over && patient.is_child();
    });
    if (finishing_ && on_finished_) check_finished(orphans);
}

/// The last patient is all orphans, whosever they were: until every child has gone there may be more.
void Terminator::check_finished(const loop::Reaper::Orphans& orphans) {
    const bool children_gone = std::ranges::all_of(
        patients_, [](const Patient& patient) { return !patient.is_child() || patient.is_given_up(); });
    const Patient& everyone = *std::ranges::find_if(patients_, [](const Patient& p) { return !p.is_child(); });
    const bool nothing_left = orphans.settled && orphans.alive.empty() && reaper_.buried() == 0;
    if (!children_gone || (!nothing_left && !everyone.is_given_up())) return;
    // May destroy us.
    std::exchange(on_finished_, {})();
}

}  // namespace mcpd::exec
