#include "util/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace mcpd::utf8 {

namespace {

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

bool is_lead(char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value >= 0xC2 && value <= 0xF4;
}

/// Length of the ASCII run at the start, eight bytes at a time.
std::size_t ascii_run(std::string_view text) {
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + i, sizeof word);
        if (word & 0x8080808080808080u) break;
    }
    while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) i++;
    return i;
}

}  // namespace

Step step(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {1, true};

    // The range of the second byte is what excludes overlong forms, surrogates and what lies past U+10FFFF.
    std::size_t length;
    unsigned char low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
    } else {
        return {1, false};
    }
    for (std::size_t i = 1; i < length; i++) {
        if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
        low = 0x80;
        high = 0xBF;
    }
    return {length, true};
}

char32_t code_point(std::string_view character) {
    const auto lead = static_cast<unsigned char>(character.front());
    if (character.size() == 1) return lead;
    // The lead byte has as many ones before its first zero as the character has bytes.
    char32_t point = lead & (0x7Fu >> character.size());
    for (const char byte : character.substr(1)) point = point << 6 | (static_cast<unsigned char>(byte) & 0x3F);
    return point;
}

std::size_t find_invalid(std::string_view text) {
    std::size_t i = 0;
    while (true) {
        i += ascii_run(text.substr(i));
        if (i == text.size()) return std::string_view::npos;
        const Step next = step(text.substr(i));
        if (!next.valid) return i;
        i += next.length;
    }
}

std::string repair(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (true) {
        const std::size_t bad = find_invalid(text);
        out += text.substr(0, bad);
        if (bad == std::string_view::npos) return out;
        text.remove_prefix(bad);
        out += kReplacement;
        text.remove_prefix(step(text).length);
    }
}

std::size_t count_code_points(std::string_view text) {
    std::size_t count = 0;
    for (const char byte : text) count += !is_continuation(byte);
    return count;
}

std::string_view trim_end(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); back++) {
        const auto last = text.substr(text.size() - back);
        if (is_continuation(last.front())) continue;
        const Step found = step(last);
        // Broken because the text ends, not because of what stands there.
        const bool cut = !found.valid && found.length == back && is_lead(last.front());
        return cut ? text.substr(0, text.size() - back) : text;
    }
    return text;
}

std::string_view trim_start(std::string_view text) {
    std::size_t skip = 0;
    while (skip < std::min<std::size_t>(4, text.size()) && is_continuation(text[skip])) skip++;
    // Four in a row are the rest of nothing.
    return skip < 4 ? text.substr(skip) : text;
}

}  // namespace mcpd::utf8
