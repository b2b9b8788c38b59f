#pragma once

#include "tool/tool.h"
#include "util/result.h"

#include <string>
#include <vector>

namespace mcpd::define {

/// One option as a script declares it on the stderr of `--help`.
Result<tool::Param> read_script_option(const std::string& name, const data::Node& option,
                                       std::vector<std::string>& warnings);

/// Headers are tokens, each for one parameter only, whatever the case of its letters, and for simple values only.
Result<void> check_headers(const std::vector<tool::Param>& params);

}  // namespace mcpd::define
