#pragma once

#include "data/node.h"

#include <optional>
#include <string>

namespace mcpd::tool {

/// A number for people and for `bc`: plain decimal, never an exponent, no `.0`.
std::string plain_decimal(double value);
std::string plain_decimal(const data::Node& number);

/// The node as the integer that it is, 5.0 included; nothing for 5.5 and for what is no number.
std::optional<data::Node> as_integer(const data::Node& node);

}  // namespace mcpd::tool
