#pragma once

#include "mcp/exchange.h"

#include <string>
#include <string_view>

namespace mcpd::mcp {

/// A line that a script wrote to stderr while it worked on this request: to our log, and to the client that wants it.
void log_script_line(Exchange& exchange, const std::string& tool, const std::string& call_id, std::string_view line);

}  // namespace mcpd::mcp
