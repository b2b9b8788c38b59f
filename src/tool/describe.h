#pragma once

#include "tool/tool.h"

#include <string>

namespace mcpd::tool {

/// The JSON Schema of a tool's arguments, in the order of its parameters; the same bytes each time.
std::string input_schema(const Tool& tool);

/// The tool's entry in `tools/list`, under the name that clients are told.
std::string list_entry(const Tool& tool, const std::string& published_name);

}  // namespace mcpd::tool
