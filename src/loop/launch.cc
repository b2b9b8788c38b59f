#include "loop/launch.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace mcpd::loop {

namespace {

constexpr std::size_t kStackSize = 64 * 1024;
constexpr std::size_t kGuardSize = 4096;

/// The kernel's signal set. glibc's own leaves out the two signals that it uses itself, and those must be blocked too.
using KernelSignals = std::uint64_t;
constexpr KernelSignals kAllSignals = ~KernelSignals{0};
constexpr KernelSignals kNoSignals = 0;
constexpr int kLastSignal = 64;

/// What parent and child share: the child's writes are the parent's memory.
struct Shared {
    const Launch& what;
    pid_t parent;
    LaunchFailure failure;
};

/// bash's rule for what may be handed to a shell: no NUL in the first line.
[[gnu::no_sanitize("address", "undefined", "thread")]] bool looks_like_text(const char* path) {
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0) return false;
    char start[256];
    const long size = syscall(SYS_read, fd, start, sizeof start);
    syscall(SYS_close, fd);
    for (long i = 0; i < size && start[i] != '\n'; i++) {
        if (start[i] == '\0') return false;
    }
    return size >= 0;
}

/// Runs in the child, on borrowed memory: raw system calls only. No sanitizer may look, since it would take this for the
/// parent.
[[gnu::no_sanitize("address", "undefined", "thread")]] int run_child(void* argument) {
    Shared& shared = *static_cast<Shared*>(argument);
    const Launch& what = shared.what;

    // Handlers go first and the mask last: a signal that came between would run the daemon's handler in the daemon's
    // memory. An all-zero action is SIG_DFL whatever the layout; ignored signals would stay ignored after exec.
    const struct {
        std::uint64_t words[8];
    } default_action = {};
    for (int signal = 1; signal <= kLastSignal; signal++) {
        syscall(SYS_rt_sigaction, signal, &default_action, nullptr, sizeof(KernelSignals));
    }

    syscall(SYS_setsid);
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The parent may have died before that line.
    if (syscall(SYS_getppid) != shared.parent) syscall(SYS_exit_group, 127);

    syscall(SYS_dup3, what.input, 0, 0);
    syscall(SYS_dup3, what.output, 1, 0);
    syscall(SYS_dup3, what.errors, 2, 0);
    // All of ours are close-on-exec; a library's may not be. Before Linux 5.9 that has to do.
    syscall(SYS_close_range, 3u, ~0u, 0u);

    const rlimit no_core{0, 0};
    syscall(SYS_prlimit64, 0, RLIMIT_CORE, &no_core, nullptr);
    const rlimit mark{what.mark, what.mark};
    syscall(SYS_prlimit64, 0, RLIMIT_LOCKS, &mark, nullptr);

    if (what.directory && syscall(SYS_chdir, what.directory) < 0) {
        shared.failure = {LaunchFailure::Step::Directory, errno};
        syscall(SYS_exit_group, 127);
    }

    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kNoSignals, nullptr, sizeof kNoSignals);
    syscall(SYS_execve, what.program, what.argv, what.environment);
    int error = errno;
    if (error == ENOEXEC && looks_like_text(what.program)) {
        syscall(SYS_execve, what.shell_argv[0], what.shell_argv, what.environment);
        error = errno;
    }
    shared.failure = {LaunchFailure::Step::Execute, error};
    syscall(SYS_exit_group, 127);
    return 127;
}

}  // namespace

LaunchStack::LaunchStack() {
    void* base = mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) return;
    mprotect(base, kGuardSize, PROT_NONE);
    base_ = base;
}

LaunchStack::~LaunchStack() {
    if (base_) munmap(base_, kStackSize);
}

void* LaunchStack::top() const {
    return static_cast<char*>(base_) + kStackSize;
}

Launched launch(const Launch& what, const LaunchStack& stack) {
    if (!stack) return {.failure = {LaunchFailure::Step::Clone, ENOMEM}};
    assert(what.input > 2 && what.output > 2 && what.errors > 2);

    Shared shared{what, getpid(), {}};
    int pidfd = -1;
    KernelSignals mask;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kAllSignals, &mask, sizeof mask);
    const pid_t pid = clone(run_child, stack.top(), CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &shared, &pidfd);
    const int clone_error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);

    if (pid < 0) return {.failure = {LaunchFailure::Step::Clone, clone_error}};
    Process process{pid, UniqueFd{pidfd}};
    if (shared.failure.error == 0) return {.process = std::move(process)};

    // It has left already, and only its status is to be taken.
    siginfo_t status;
    while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &status, WEXITED) < 0 && errno == EINTR) {
    }
    return {.failure = shared.failure};
}

}  // namespace mcpd::loop
