#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpd::tool {

/// The name in the characters that every client takes: `math/add` → `math_add`, at most 64 of `[A-Za-z0-9_-]`.
std::string portable_name(std::string_view name);

/// How many letters one has to change, add, drop or swap to make one of the other; letters' case, `-`, `_`, `.` and `/`
/// do not count.
std::size_t distance(std::string_view a, std::string_view b);

/// Could `word` be a slip of `known`?
bool is_near(std::string_view word, std::string_view known);

/// Those of `known` that are near, nearest first, at most `most`.
std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known, std::size_t most);

}  // namespace mcpd::tool
