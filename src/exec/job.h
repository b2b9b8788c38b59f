#pragma once

#include "exec/capture.h"
#include "exec/command.h"
#include "exec/lines.h"
#include "exec/outcome.h"
#include "exec/queue.h"
#include "loop/child.h"
#include "loop/timer.h"
#include "util/alive.h"

#include <chrono>
#include <memory>

namespace mcpd::exec {

struct Engine;

/// Runs one command to its outcome: waits for its turn, starts it, collects what it prints within the limits, and reports
/// exactly once.
///
/// Destroying a Job before it reports is how a call is cancelled: nothing is reported any more, and what runs is handed to
/// the Terminator, which sees it dead.
class Job final : Queue::Waiter, loop::Child::Listener {
public:
    class Listener {
    public:
        /// A line of stderr, as soon as it is complete. May destroy the Job.
        virtual void on_stderr_line(std::string_view line) = 0;

        /// The last call. May destroy the Job.
        virtual void on_outcome(Outcome outcome) = 0;

    protected:
        ~Listener() = default;
    };

    Job(Engine& engine, Command command, Limits limits, Listener& listener);
    ~Job();

    /// Joins the line and returns at once. Fails, with Code::Busy, only when the line is full; a command that cannot be
    /// started is reported like any other outcome, later.
    Result<void> start(Queue::Kind kind = {});

    /// Ends it, and reports Cancelled with the output so far.
    void cancel();

private:
    void on_place(Queue::Place place) override;
    void on_started() override;
    void on_start_failed(loop::LaunchFailure failure) override;
    void on_output(loop::Child::Output from, std::string_view bytes) override;
    void on_output_end() override;
    void on_exit(loop::ExitStatus status) override;
    void on_timeout();

    void launch();
    void not_started(int error, std::string reason);
    void give_lines(std::string_view bytes);

    /// The process has ended, but what it left in the background may hold the pipes: what is there is read for a moment,
    /// then it is over.
    void on_drained();

    void let_go();
    void end(Outcome::End how);
    void report();

    Engine& engine_;
    Command command_;
    Limits limits_;
    Listener& listener_;
    Queue::Place place_;
    std::unique_ptr<loop::Child> child_;
    Capture out_, err_;
    Lines lines_;
    std::size_t attempts_ = 0;
    std::chrono::steady_clock::time_point started_at_{};
    loop::ExitStatus exit_;
    bool over_ = false;
    Outcome outcome_;
    loop::Timer timeout_, drain_, retry_;
    loop::Deferred report_;
    Alive alive_;
};

}  // namespace mcpd::exec
