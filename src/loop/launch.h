#pragma once

#include "util/unique_fd.h"

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>

namespace mcpd::loop {

/// All that a new process needs, built beforehand: between clone and exec nothing can be allocated or looked up.
struct Launch {
    const char* program;      ///< a path; nothing is searched
    char* const* argv;        ///< for the program
    char* const* shell_argv;  ///< for /bin/sh, when the file is text without a `#!` line
    char* const* environment;
    const char* directory;      ///< where it runs; null: here
    int input, output, errors;  ///< what become its descriptors 0, 1 and 2; each at least 3
    rlim_t mark;                ///< RLIMIT_LOCKS, which the kernel ignores: tells whose process this is (see Reaper)
};

/// A process of ours. Its number is safe to signal until it has been waited for.
struct Process {
    pid_t pid = 0;
    UniqueFd pidfd;
};

/// Why there is no process.
struct LaunchFailure {
    enum class Step { Prepare, Clone, Directory, Execute };
    Step step = Step::Prepare;
    int error = 0;
};

/// The small stack on which the child runs until it execs. One per thread that launches.
class LaunchStack {
public:
    LaunchStack();
    ~LaunchStack();
    LaunchStack(const LaunchStack&) = delete;

    explicit operator bool() const { return memory_ != nullptr; }
    void* base() const;
    std::size_t size() const;

private:
    void* memory_ = nullptr;
};

/// Starts a process the fastest way the kernel has: a child that borrows our memory until it execs (as vfork does), so
/// that nothing is copied however much memory we hold. Blocks the calling thread until then.
///
/// The process leads a session and a group of its own; has descriptors 0 to 2 and no others, default signal handling, an
/// empty signal mask, no core file; and dies with the thread that launched it. Returns with `process` set, or with
/// `failure`.
struct Launched {
    Process process;
    LaunchFailure failure;
};
Launched launch(const Launch& what, const LaunchStack& stack);

}  // namespace mcpd::loop
