#pragma once

#include "util/result.h"

#include <string>
#include <string_view>

namespace mcpd::tool {

/// A pattern that a value matches somewhere. Bounded: one that would search without end (`(a+)+$`) does not match, and
/// says so.
enum class Match { Yes, No, GaveUp };
Match match_pattern(const std::string& pattern, std::string_view text);

/// Is it a regular expression at all? The message says where not.
Result<void> check_pattern(const std::string& pattern);

}  // namespace mcpd::tool
