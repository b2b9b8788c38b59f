#pragma once

#include "exec/outcome.h"
#include "mcp/dialect.h"

#include <string>
#include <string_view>
#include <vector>

namespace mcpd::mcp {

/// What a run came to, as the result of `tools/call`. A failure always has words that a model can act on.
Reply tool_result(exec::Outcome outcome, const std::vector<std::string>& ignored);

/// A call that was not run, and why.
Reply refusal(std::string_view text, std::string_view error);

/// `exit code 4: not found` and the end of stderr.
std::string describe_failure(const exec::Outcome& outcome);

}  // namespace mcpd::mcp
