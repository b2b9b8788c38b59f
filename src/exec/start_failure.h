#pragma once

#include "exec/command.h"
#include "loop/launch.h"

#include <optional>
#include <string>

namespace mcpd::exec {

/// Why a command could not be started, in words that say what to do about it. The kernel has one number for several
/// mistakes (ENOENT is said of a missing file, a missing interpreter and a Windows line end): the file itself tells.
std::string explain_start_failure(const Command& command, loop::LaunchFailure failure);

/// What no system call would report: a word with a NUL in it would be cut off there, silently.
std::optional<std::string> find_flaw(const Command& command);

/// For a script that did start and exited with 127, as `env` does when it cannot find the interpreter: a first line that
/// ends in CR LF is why.
std::optional<std::string> find_windows_line_end(const std::string& program);

}  // namespace mcpd::exec
