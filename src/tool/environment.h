#pragma once

#include "data/node.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpd::tool {

/// What of our own environment tools inherit: never our settings (`MCPD_*`), our secrets, or what systemd gave to us
/// alone. `clean`: only what a program needs to find its way (HOME, PATH, LANG …).
std::vector<std::string> inherited_environment(const char* const* environment, bool clean);

/// Appends each option as `MCPD_OPT_<name>`: exactly as it is named, and, where a shell could not read that, also with
/// `_` for each other character. What the environment cannot carry (a NUL, 128 KiB, 1 MiB in all) is left out, largest
/// first, and named in `MCPD_OMITTED`.
/// `known`: all names that the tool has, given or not; a spelling that belongs to another of them is not used.
void add_options(std::vector<std::string>& environment, const data::Node& options,
                 std::span<const std::string_view> known);

/// A value as text: strings as they are, booleans `true` or `false`, numbers in plain decimal, null empty, the rest JSON.
std::string as_text(const data::Node& value);

}  // namespace mcpd::tool
