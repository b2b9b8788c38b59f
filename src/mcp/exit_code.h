#pragma once

#include "exec/outcome.h"
#include "mcp/fault.h"

#include <string_view>

namespace mcpd::mcp {

/// What an exit code of a script means: 4 is `not found`.
std::string_view exit_name(int code);

/// How a run went wrong, in the same words: `not found`, `timeout`, `internal error`.
std::string_view error_name(const exec::Outcome& outcome);

/// The error that a run which failed becomes where no result can carry it.
Fault script_fault(const exec::Outcome& outcome, std::string message);

}  // namespace mcpd::mcp
