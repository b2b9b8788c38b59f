#pragma once

#include "tool/tool.h"

#include <string>
#include <vector>

namespace mcpd::tool {

/// What became of a client's arguments.
struct Checked {
    /// The options as the tool gets them: in the tool's order, defaults applied.
    data::Node options{data::Node::Object{}};

    /// Everything that is wrong with them, not only the first thing: `count: 200 is more than the maximum 100`.
    std::vector<std::string> complaints;

    /// Names that the tool does not know: dropped, never passed on.
    std::vector<std::string> ignored;
};

/// Checks arguments, an object, against a tool's parameters.
Checked check_arguments(const Tool& tool, const data::Node& arguments);

/// Checks one value that is given; what is wrong with it, without the name, or nothing. `value` may be changed to the
/// form that the tool gets (5.0 → 5).
std::vector<std::string> check_value(const Param& param, data::Node& value);

}  // namespace mcpd::tool
