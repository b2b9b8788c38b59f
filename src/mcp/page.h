#pragma once

#include "mcp/exchange.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpd::mcp {

/// As many entries as one answer holds. Few clients ask for a second page.
inline constexpr std::size_t kPageSize = 1000;

/// Where a page begins: after the entry of that name, so that a list which changes meanwhile skips and repeats nothing.
/// Fails the exchange, and returns false, when the cursor is none of ours.
bool read_cursor(Exchange& exchange, std::string& after);
std::string make_cursor(std::string_view last);

}  // namespace mcpd::mcp
