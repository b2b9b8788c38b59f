#pragma once

#include "exec/capture.h"

#include <chrono>
#include <string>

namespace mcpd::exec {

/// How a command ended, and what it printed until then.
struct Outcome {
    enum class End {
        Exited,      ///< by itself: `code` is its exit code
        Signalled,   ///< `code` is the signal that killed it
        TimedOut,    ///< it ran longer than its limit, and is being killed
        Cancelled,   ///< nobody wanted it any more, and it is being killed
        NotStarted,  ///< `reason` says why, `code` is the errno
    };

    End end = End::Exited;
    int code = 0;
    std::string reason;  ///< what the numbers do not say; mostly empty
    Captured out;
    Captured err;
    std::chrono::milliseconds duration{0};  ///< from the start of its process

    bool is_success() const { return end == End::Exited && code == 0; }
};

/// In words: `exit code 4`, `killed by SIGSEGV`, `timed out after 2.5 s`, or why it could not be started.
std::string describe(const Outcome& outcome);

}  // namespace mcpd::exec
