#include "loop/launch.h"

#include <fcntl.h>
#include <linux/sched.h>
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

/// At least one page, whatever its size here.
std::size_t guard_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// The kernel's signal set. glibc's own leaves out the two signals that it uses itself, and those must be blocked too.
using KernelSignals = std::uint64_t;
constexpr KernelSignals kAllSignals = ~KernelSignals{0};
constexpr KernelSignals kNoSignals = 0;
constexpr int kLastSignal = 64;

/// What parent and child share: the child's writes are the parent's memory.
struct Shared {
    const Launch& what;
    pid_t parent;
    KernelSignals to_reset;  ///< signals whose handling the child must set to the default itself
    LaunchFailure failure;
};

/// Those that we ignore (SIGPIPE) or were started with (nohup, a shell's background job): exec would keep them ignored.
/// Looked at once: what the program comes to ignore later, it should not.
KernelSignals ignored_signals() {
    KernelSignals ignored = 0;
    for (int number = 1; number <= kLastSignal; number++) {
        struct sigaction action {};
        const bool known = sigaction(number, nullptr, &action) == 0;
        if (known && action.sa_handler == SIG_IGN) ignored |= KernelSignals{1} << (number - 1);
    }
    return ignored;
}

/// bash's rule for what may be handed to a shell: no NUL in the first line.
__attribute__((no_sanitize("address", "undefined", "thread"))) bool looks_like_text(const char* path) {
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

/// All of ours are close-on-exec; a library's, and those that the daemon was started with, may not be.
__attribute__((no_sanitize("address", "undefined", "thread"))) void close_others() {
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0) return;
    // Before Linux 5.9 one by one. The limit is nearly always 1024; where it is a million, high numbers are not in use.
    rlimit descriptors{1024, 0};
    syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &descriptors);
    for (rlim_t fd = 3; fd < descriptors.rlim_cur && fd < 65536; fd++) syscall(SYS_close, fd);
}

/// Runs in the child, on borrowed memory: raw system calls only. No sanitizer may look, since it would take this for the
/// parent.
__attribute__((no_sanitize("address", "undefined", "thread"))) int run_child(void* argument) {
    Shared& shared = *static_cast<Shared*>(argument);
    const Launch& what = shared.what;

    // Handlers go first and the mask last: a signal that came between would run the daemon's handler in the daemon's
    // memory. An all-zero action is SIG_DFL, whatever the layout.
    const struct { std::uint64_t words[8]; } default_action = {};
    for (int number = 1; number <= kLastSignal; number++) {
        if (!(shared.to_reset >> (number - 1) & 1)) continue;
        syscall(SYS_rt_sigaction, number, &default_action, nullptr, sizeof(KernelSignals));
    }

    syscall(SYS_setsid);
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The parent may have died before that line.
    if (syscall(SYS_getppid) != shared.parent) syscall(SYS_exit_group, 127);

    syscall(SYS_dup3, what.input, 0, 0);
    syscall(SYS_dup3, what.output, 1, 0);
    syscall(SYS_dup3, what.errors, 2, 0);
    close_others();

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

/// clone3 can set all handlers to the default by itself, where the child would need 64 calls, a fortieth of what it takes
/// to start a shell. The C library has no function for it, because the child returns on another stack; so it must not
/// return, and that takes an instruction of our own. -ENOSYS where there is none for this machine, or no clone3.
__attribute__((no_sanitize("address", "undefined", "thread"))) long clone3_child(clone_args& args, Shared& shared) {
#if defined(__x86_64__)
    register long number asm("rax") = SYS_clone3;
    register clone_args* first asm("rdi") = &args;
    register std::size_t second asm("rsi") = sizeof args;
    register Shared* argument asm("r12") = &shared;
    register int (*child)(void*) asm("r13") = run_child;
    asm volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xor %%ebp, %%ebp\n\t"
        "mov %%r12, %%rdi\n\t"
        "call *%%r13\n\t"
        "hlt\n"
        "1:"
        : "+r"(number)
        : "r"(first), "r"(second), "r"(argument), "r"(child)
        : "rcx", "r11", "memory", "cc");
    return number;
#elif defined(__aarch64__)
    register long number asm("x8") = SYS_clone3;
    register long first asm("x0") = reinterpret_cast<long>(&args);
    register std::size_t second asm("x1") = sizeof args;
    register Shared* argument asm("x19") = &shared;
    register int (*child)(void*) asm("x20") = run_child;
    asm volatile(
        "svc #0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, xzr\n\t"
        "mov x0, x19\n\t"
        "blr x20\n\t"
        "brk #0\n"
        "1:"
        : "+r"(first)
        : "r"(number), "r"(second), "r"(argument), "r"(child)
        : "memory", "cc");
    return first;
#else
    (void)args, (void)shared;
    return -ENOSYS;
#endif
}

/// The child's number, or a negative errno. Signals are blocked.
pid_t start_child(Shared& shared, const LaunchStack& stack, int& pidfd) {
    static const KernelSignals ignored = ignored_signals();
    constexpr std::uint64_t kFlags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD;
    clone_args args{};
    args.flags = kFlags | CLONE_CLEAR_SIGHAND;
    args.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
    args.exit_signal = SIGCHLD;
    args.stack = reinterpret_cast<std::uintptr_t>(stack.base());
    args.stack_size = stack.size();
    shared.to_reset = ignored;
    const long pid = clone3_child(args, shared);
    // Containers' filters and old kernels answer ENOSYS (5.3) or EINVAL (5.5, the flag).
    if (pid != -ENOSYS && pid != -EINVAL && pid != -EPERM) return static_cast<pid_t>(pid);

    shared.to_reset = kAllSignals;
    const pid_t plain = clone(run_child, static_cast<char*>(stack.base()) + stack.size(),
                              static_cast<int>(kFlags) | SIGCHLD, &shared, &pidfd);
    return plain < 0 ? -errno : plain;
}

}  // namespace

LaunchStack::LaunchStack() {
    void* memory = mmap(nullptr, guard_size() + kStackSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    mprotect(memory, guard_size(), PROT_NONE);
    memory_ = memory;
}

LaunchStack::~LaunchStack() {
    if (memory_) munmap(memory_, guard_size() + kStackSize);
}

void* LaunchStack::base() const {
    return static_cast<char*>(memory_) + guard_size();
}

std::size_t LaunchStack::size() const {
    return kStackSize;
}

Launched launch(const Launch& what, const LaunchStack& stack) {
    if (!stack) return {.failure = {LaunchFailure::Step::Clone, ENOMEM}};
    assert(what.input > 2 && what.output > 2 && what.errors > 2);

    Shared shared{what, getpid(), 0, {}};
    int pidfd = -1;
    KernelSignals mask;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kAllSignals, &mask, sizeof mask);
    const pid_t pid = start_child(shared, stack, pidfd);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);

    if (pid < 0) return {.failure = {LaunchFailure::Step::Clone, -pid}};
    Process process{pid, UniqueFd{pidfd}};
    if (shared.failure.error == 0) return {.process = std::move(process)};

    // It has left already, and only its status is to be taken.
    siginfo_t status;
    while (waitid(P_PIDFD, static_cast<id_t>(pidfd), &status, WEXITED) < 0 && errno == EINTR) {
    }
    return {.failure = shared.failure};
}

}  // namespace mcpd::loop
