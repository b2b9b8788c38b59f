#include "tool/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace mcpd::tool {

std::string plain_decimal(double value) {
    // The fewest digits that mean this number, with zeros around them: 1e100 has one, and no other 99 that were never given.
    std::array<char, 32> shortest;
    const auto end =
        std::to_chars(shortest.data(), shortest.data() + shortest.size(), value, std::chars_format::scientific).ptr;
    std::string_view text{shortest.data(), end};
    const auto mark = text.find('e');
    if (mark == std::string_view::npos) return std::string{text};
    std::string sign, digits;
    for (const char c : text.substr(0, mark)) {
        if (c == '-')
            sign = c;
        else if (c != '.')
            digits += c;
    }
    int exponent = 0;
    const auto* power = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
    std::from_chars(power, end, exponent);
    const auto size = static_cast<int>(digits.size());
    if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    if (exponent + 1 >= size) return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - size), '0');
    return sign + digits.insert(static_cast<std::size_t>(exponent + 1), ".");
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
