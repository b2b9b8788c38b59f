#pragma once

#include "tool/tool.h"
#include "util/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace mcpd::define {

/// A tool, and what its author should know about its definition.
struct Definition {
    tool::Tool tool;
    std::vector<std::string> warnings;
};

/// Reads what a script printed when it was asked for `--help`: an object that describes it on stdout, an object of options,
/// or nothing, on stderr. An error says what is wrong, without the script's name: one bad field makes the whole script
/// broken, since a client would be told something that its author did not mean.
Result<Definition> read_script_help(std::string name, std::string_view out, std::string_view err);

}  // namespace mcpd::define
