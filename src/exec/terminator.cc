#include "exec/terminator.h"

#include "loop/timer.h"
#include "util/log.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <vector>

namespace mcpd::exec {

namespace {

/// After KILL: what a dying process leaves behind appears a moment later.
constexpr std::chrono::milliseconds kBetweenKills{50};

/// A process that has not died of KILL by then waits for a broken disk or network file system. It is waited for, but its
/// place is given to another.
constexpr std::chrono::milliseconds kPatience{5000};

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
        const bool allowed = !child_ || child_->signal(SIGKILL);
        if (place_ && (!allowed || std::chrono::steady_clock::now() - hard_since_ > kPatience)) {
            log::warning("process {} cannot be killed{}: it is left to itself", child_->group(),
                         allowed ? "" : " because it has become another user");
            place_ = {};
        }
        timer_.start(place_ || !child_ ? kBetweenKills : kPatience);
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
    on_finished_ = on_done;
    patients_.emplace_back(*this, nullptr, Queue::Place{});
}

void Terminator::look() {
    if (patients_.empty()) return;
    const auto orphans = reaper_.orphans();
    std::erase_if(patients_, [&](Patient& patient) { return patient.is_child() && patient.look(orphans); });
    // All orphans, whosever they were, wait for the last child: until then there may be more.
    std::erase_if(patients_, [&](Patient& patient) {
        return !patient.is_child() && patient.look(orphans) && patients_.size() == 1 && reaper_.buried() == 0;
    });
    if (patients_.empty() && on_finished_) on_finished_();
}

}  // namespace mcpd::exec
