#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing past U+10FFFF.
namespace mcpd::utf8 {

/// What stands for bytes that are not UTF-8: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// How many bytes at the start of `text` belong together: a whole character (`valid`), or the longest beginning of one
/// that is broken off, at least one byte, which one replacement character stands for. `text` is not empty.
struct Step {
    std::size_t length;
    bool valid;
};
Step step(std::string_view text);

/// The code point of one whole character.
char32_t code_point(std::string_view character);

/// Offset of the first byte that is not UTF-8, or npos.
std::size_t find_invalid(std::string_view text);

inline bool is_valid(std::string_view text) {
    return find_invalid(text) == std::string_view::npos;
}

/// `text` with each broken sequence replaced, as browsers do it.
std::string repair(std::string_view text);

/// Number of code points in valid UTF-8.
std::size_t count_code_points(std::string_view text);

/// `text`, which may have been cut anywhere, without the beginning of a character at its end …
std::string_view trim_end(std::string_view text);

/// … and without the rest of one at its start. Bytes that are not UTF-8 anyway stay.
std::string_view trim_start(std::string_view text);

}  // namespace mcpd::utf8
