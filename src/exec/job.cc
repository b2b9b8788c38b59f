#include "exec/job.h"

#include "exec/engine.h"
#include "exec/start_failure.h"

#include <array>
#include <cassert>
#include <cerrno>

namespace mcpd::exec {

namespace {

/// How long the outputs are read after the process has ended while something in the background holds them open.
constexpr std::chrono::milliseconds kDrain{100};

/// A file that is being written cannot be executed (ETXTBSY); whoever writes it is nearly always about to close it.
constexpr std::array<std::chrono::milliseconds, 5> kRetries{
    std::chrono::milliseconds{1}, std::chrono::milliseconds{5}, std::chrono::milliseconds{20},
    std::chrono::milliseconds{50}, std::chrono::milliseconds{100}};

/// What shells and env exit with when they cannot find what to run.
constexpr int kNotFoundExit = 127;

}  // namespace

Job::Job(Engine& engine, Command command, Limits limits, Listener& listener)
    : engine_(engine),
      command_(std::move(command)),
      limits_(limits),
      listener_(listener),
      out_(limits.out),
      err_(limits.err),
      lines_(limits.line),
      timeout_(engine.loop, Callback<void()>::to<&Job::on_timeout>(this)),
      drain_(engine.loop, Callback<void()>::to<&Job::on_drained>(this)),
      retry_(engine.loop, Callback<void()>::to<&Job::launch>(this)),
      report_(engine.loop, Callback<void()>::to<&Job::report>(this)) {}

Job::~Job() {
    let_go();
}

Result<void> Job::start(Queue::Kind kind) {
    return engine_.queue.enter(*this, std::move(kind));
}

void Job::on_place(Queue::Place place) {
    place_ = std::move(place);
    if (auto flaw = find_flaw(command_)) return not_started(EINVAL, std::move(*flaw));
    launch();
}

void Job::launch() {
    std::vector<std::string> argv{command_.program};
    argv.insert(argv.end(), command_.arguments.begin(), command_.arguments.end());
    loop::Child::Listener& self = *this;
    child_ = std::make_unique<loop::Child>(engine_.loop, engine_.spawner, self);
    child_->start({.program = command_.program,
                   .argv = argv,
                   .environment = command_.environment,
                   .directory = command_.working_directory,
                   .input = command_.input});
}

void Job::on_started() {
    started_at_ = std::chrono::steady_clock::now();
    command_.input.reset();
    if (limits_.timeout.count() > 0) timeout_.start(limits_.timeout);
}

void Job::on_start_failed(loop::LaunchFailure failure) {
    child_.reset();
    if (failure.error == ETXTBSY && attempts_ < kRetries.size()) return retry_.start(kRetries[attempts_++]);
    not_started(failure.error, explain_start_failure(command_, failure));
}

void Job::not_started(int error, std::string reason) {
    outcome_.code = error;
    outcome_.reason = std::move(reason);
    end(Outcome::End::NotStarted);
    report();
}

void Job::on_output(loop::Child::Output from, std::string_view bytes) {
    if (from == loop::Child::Output::Out) return out_.add(bytes);
    err_.add(bytes);
    give_lines(bytes);
}

void Job::give_lines(std::string_view bytes) {
    const Alive::Watch alive{alive_};
    std::string_view line;
    while (!bytes.empty() && lines_.next(bytes, line)) {
        listener_.on_stderr_line(line);
        if (!alive || over_) return;
    }
}

void Job::on_exit(loop::ExitStatus status) {
    exit_ = status;
    timeout_.stop();
    if (child_->has_output_ended()) return on_drained();
    drain_.start(kDrain);
}

void Job::on_output_end() {
    if (child_->has_exited()) on_drained();
}

void Job::on_drained() {
    if (child_->has_unread()) return drain_.start(kDrain);
    // What is left in the background is left alone: the script meant it so.
    child_.reset();
    outcome_.code = exit_.signal ? exit_.signal : exit_.code;
    if (exit_.signal == 0 && exit_.code == kNotFoundExit) {
        outcome_.reason = find_windows_line_end(command_.program).value_or("");
    }
    end(exit_.signal ? Outcome::End::Signalled : Outcome::End::Exited);
    report();
}

void Job::on_timeout() {
    end(Outcome::End::TimedOut);
    report();
}

void Job::cancel() {
    if (over_) return;
    end(Outcome::End::Cancelled);
    report_.schedule();
}

void Job::end(Outcome::End how) {
    over_ = true;
    outcome_.end = how;
    outcome_.out = out_.take();
    outcome_.err = err_.take();
    if (started_at_ != std::chrono::steady_clock::time_point{}) {
        outcome_.duration =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started_at_);
    }
    let_go();
}

void Job::let_go() {
    leave_line();
    timeout_.stop();
    drain_.stop();
    retry_.stop();
    if (child_) engine_.terminator.take(std::move(child_), std::move(place_));
    place_ = {};
}

void Job::report() {
    const Alive::Watch alive{alive_};
    std::string_view line;
    if (lines_.last(line)) {
        listener_.on_stderr_line(line);
        if (!alive) return;
    }
    listener_.on_outcome(std::move(outcome_));
}

}  // namespace mcpd::exec
