#include "util/text.h"

#include "util/utf8.h"

#include <algorithm>
#include <cstring>

namespace mcpd::text {

namespace {
constexpr std::string_view kBlank = " \t\r\n";
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    const auto word = text.substr(0, text.find_first_of(kBlank));
    text.remove_prefix(word.size());
    return word;
}

namespace {

bool is_invisible(char32_t point) {
    const auto between = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
    return (point < 0x20 && point != '\t' && point != '\n') || between(0x7F, 0x9F) || between(0x200B, 0x200F) ||
           between(0x202A, 0x202E) || between(0x2060, 0x2069) || point == 0xFEFF;
}

}  // namespace

std::string visible(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto step = utf8::step(text);
        const auto character = text.substr(0, step.length);
        if (!step.valid || !is_invisible(utf8::code_point(character))) out += character;
        text.remove_prefix(character.size());
    }
    return out;
}

std::string printable(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        const auto step = utf8::step(text);
        const auto byte = static_cast<unsigned char>(text.front());
        // C0 and DEL; C1 (U+0080 to U+009F) drives terminals just as well.
        const bool control =
            byte < 0x20 || byte == 0x7F || (byte == 0xC2 && step.valid && static_cast<unsigned char>(text[1]) < 0xA0);
        for (const char c : text.substr(0, step.length)) {
            const auto b = static_cast<unsigned char>(c);
            if (step.valid && !control) {
                out += c;
            } else {
                out += "\\x";
                out += kHex[b >> 4];
                out += kHex[b & 15];
            }
        }
        text.remove_prefix(step.length);
    }
    return out;
}

std::string describe_errno(int error) {
    char buffer[128];
    return strerror_r(error, buffer, sizeof buffer);
}

}  // namespace mcpd::text
