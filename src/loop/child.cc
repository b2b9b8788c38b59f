#include "loop/child.h"

#include "loop/loop.h"
#include "loop/reaper.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>

namespace mcpd::loop {

namespace {

/// A child that prints without end must not keep the loop to itself: after so much it is others' turn. Less for stderr,
/// each line of which is somebody's work.
constexpr std::size_t kOutPerTurn = 1024 * 1024;
constexpr std::size_t kErrPerTurn = 64 * 1024;

/// The pipe of one that has printed this much is made larger: twice as fast for megabytes, and not worth the call for
/// less.
constexpr std::size_t kMuchOutput = 64 * 1024;
constexpr int kLargePipe = 1024 * 1024;

int make_pipe(UniqueFd& reading, UniqueFd& writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return errno;
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    return 0;
}

}  // namespace

Child::Child(Loop& loop, Spawner& spawner, Listener& listener)
    : loop_(loop),
      spawner_(spawner),
      listener_(&listener),
      failed_(loop, Callback<void()>::to<&Child::report_failure>(this)),
      in_{.poll = Poll{Callback<void(int)>::to<&Child::on_input_ready>(this)}},
      out_{.poll = Poll{Callback<void(int)>::to<&Child::on_out_ready>(this)}},
      err_{.poll = Poll{Callback<void(int)>::to<&Child::on_err_ready>(this)}},
      exit_(Callback<void(int)>::to<&Child::on_exit_ready>(this)) {}

Child::~Child() {
    // Watching ends before the descriptors do.
    for (Pipe* pipe : {&in_, &out_, &err_}) pipe->poll.close();
    exit_.close();
    if (process_.pid == 0) return;
    if (!exited_) {
        spawner_.reaper().bury(std::move(process_));
        return;
    }
    siginfo_t status;
    waitid(P_PIDFD, static_cast<id_t>(process_.pidfd.get()), &status, WEXITED | WNOHANG);
    spawner_.reaper().discharge(process_.pid);
}

void Child::start(const Spec& spec) {
    assert(process_.pid == 0 && !is_starting());
    auto order = std::make_unique<Spawner::Order>();
    if (const int error = open_pipes(*order, spec)) {
        failure_ = {LaunchFailure::Step::Prepare, error};
        return failed_.schedule();
    }
    order->program = spec.program;
    order->argv = spec.argv;
    order->environment = spec.environment;
    order->directory = spec.directory;
    order->number = number_ = spawner_.reaper().next_number();
    ticket_ = spawner_.submit(std::move(order), *this);
}

int Child::open_pipes(Spawner::Order& order, const Spec& spec) {
    if (const int error = make_pipe(out_.fd, order.output)) return error;
    if (const int error = make_pipe(err_.fd, order.errors)) return error;
    if (!spec.input) {
        order.input.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
        return order.input ? 0 : errno;
    }
    if (const int error = make_pipe(order.input, in_.fd)) return error;
    // Only this end: the child's is a description of its own. (Poll does it for the other two.)
    fcntl(in_.fd.get(), F_SETFL, O_NONBLOCK);
    feed(*spec.input);
    return 0;
}

/// Before there is a process: what fits the pipe is its input already, nearly always all of it, and then the child finds
/// the end of its input right behind.
void Child::feed(std::string_view input) {
    while (!input.empty()) {
        const ssize_t written = write(in_.fd.get(), input.data(), input.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) break;
        input.remove_prefix(static_cast<std::size_t>(written));
    }
    if (input.empty()) return in_.fd.reset();
    input_ = input;
}

void Child::on_spawned(Process process) {
    ticket_.redeem();
    process_ = std::move(process);
    if (watch_all()) return listener_->on_started();
    failure_ = {LaunchFailure::Step::Prepare, ENOSPC};
    report_failure();
}

/// False when the user may watch no more descriptors (fs.epoll.max_user_watches).
bool Child::watch_all() {
    if (exit_.open(loop_, process_.pidfd.get()) < 0) return false;
    exit_.start(UV_READABLE);
    for (Pipe* pipe : {&in_, &out_, &err_}) {
        if (!pipe->fd) continue;
        if (pipe->poll.open(loop_, pipe->fd.get()) < 0) return false;
        pipe->poll.start(pipe == &in_ ? UV_WRITABLE : UV_READABLE);
    }
    return true;
}

void Child::on_spawn_failed(LaunchFailure failure) {
    ticket_.redeem();
    failure_ = failure;
    report_failure();
}

void Child::report_failure() {
    listener_->on_start_failed(failure_);
}

void Child::on_input_ready(int) {
    const ssize_t written = write(in_.fd.get(), input_.data() + input_written_, input_.size() - input_written_);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (written > 0) input_written_ += static_cast<std::size_t>(written);
    if (written > 0 && input_written_ < input_.size()) return;
    // All of it, or EPIPE: a child that does not want to read its input is within its rights.
    in_.poll.close();
    in_.fd.reset();
    input_ = {};
}

void Child::receive(Pipe& pipe, Output from) {
    const Alive::Watch alive{alive_};
    std::size_t left = from == Output::Out ? kOutPerTurn : kErrPerTurn;
    const auto buffer = loop_.scratch().first(std::min(loop_.scratch().size(), left));
    while (left > 0) {
        const ssize_t size = read(pipe.fd.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) {
            pipe.poll.close();
            pipe.fd.reset();
            if (has_output_ended()) listener_->on_output_end();
            return;
        }
        left -= std::min(left, static_cast<std::size_t>(size));
        const std::size_t before = pipe.received;
        pipe.received += static_cast<std::size_t>(size);
        // Unprivileged users have a limit on such pipes; the small one works too.
        if (before < kMuchOutput && pipe.received >= kMuchOutput) fcntl(pipe.fd.get(), F_SETPIPE_SZ, kLargePipe);
        listener_->on_output(from, {buffer.data(), static_cast<std::size_t>(size)});
        if (!alive) return;
    }
}

void Child::on_exit_ready(int) {
    siginfo_t status{};
    // WNOWAIT leaves the zombie: its number must not be given away while someone may still signal the group.
    if (waitid(P_PIDFD, static_cast<id_t>(process_.pidfd.get()), &status, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        status.si_pid == 0) {
        return;
    }
    exit_.close();
    exited_ = true;
    for (Pipe* pipe : {&out_, &err_}) {
        int buffered = 0;
        if (pipe->fd && ioctl(pipe->fd.get(), FIONREAD, &buffered) == 0)
            pipe->due = pipe->received + static_cast<std::size_t>(buffered);
    }
    const bool exited = status.si_code == CLD_EXITED;
    listener_->on_exit({.code = exited ? status.si_status : 0, .signal = exited ? 0 : status.si_status});
}

bool Child::signal(int number) {
    return process_.pid == 0 || kill(-process_.pid, number) == 0 || errno != EPERM;
}

}  // namespace mcpd::loop
