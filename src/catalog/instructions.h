#pragma once

#include "util/result.h"

#include <string>

namespace mcpd::catalog {

class Permissions;

/// What the owner of the directory wants models to know about it: the beginning of `INSTRUCTIONS.md` at its root, empty
/// when there is none. One that others could have written is an error, as for a script.
Result<std::string> read_instructions(const std::string& root, const Permissions& permissions);

}  // namespace mcpd::catalog
