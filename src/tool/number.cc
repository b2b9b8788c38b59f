#include "tool/number.h"

#include <array>
#include <charconv>
#include <cmath>

namespace mcpd::tool {

std::string plain_decimal(double value) {
    // The longest is the smallest denormal: 1077 digits after the point.
    std::array<char, 1100> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed).ptr;
    return {digits.data(), end};
}

std::string plain_decimal(const data::Node& number) {
    if (const auto integer = number.integer()) return std::to_string(*integer);
    if (const auto integer = number.unsigned_integer()) return std::to_string(*integer);
    return plain_decimal(number.number().value_or(0));
}

std::optional<data::Node> as_integer(const data::Node& node) {
    if (node.integer() || node.unsigned_integer()) return node;
    const auto number = node.number();
    if (!number || std::trunc(*number) != *number) return std::nullopt;
    if (*number >= -0x1p63 && *number < 0x1p63) return data::Node{static_cast<std::int64_t>(*number)};
    if (*number >= 0 && *number < 0x1p64) return data::Node{static_cast<std::uint64_t>(*number)};
    return std::nullopt;
}

}  // namespace mcpd::tool
