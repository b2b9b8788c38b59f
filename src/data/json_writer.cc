#include "data/json_writer.h"

#include "util/utf8.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace mcpd::data {

namespace {

/// Plain bytes go out as they are: ASCII but for quote, backslash and what lies below blank.
bool is_plain(unsigned char byte) {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/// Length of the run of plain bytes at the start. Most text is one such run, and results may have megabytes of it.
std::size_t plain_run(std::string_view text) {
    std::size_t i = 0;
#ifdef __SSE2__
    const __m128i below_blank = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; i + 16 <= text.size(); i += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
        // The comparison is signed: it catches what lies below blank and, as negative numbers, all that is not ASCII.
        const __m128i special =
            _mm_or_si128(_mm_cmplt_epi8(bytes, below_blank),
                         _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        if (const int mask = _mm_movemask_epi8(special)) return i + static_cast<std::size_t>(__builtin_ctz(mask));
    }
#endif
    while (i < text.size() && is_plain(static_cast<unsigned char>(text[i]))) i++;
    return i;
}

void append_escape(std::string& out, unsigned char byte) {
    switch (byte) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        default: break;
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    out += "\\u00";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
}

template <typename Integer>
void append_integer(std::string& out, Integer value) {
    std::array<char, 24> digits;
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    while (true) {
        const std::size_t run = plain_run(text);
        out += text.substr(0, run);
        text.remove_prefix(run);
        if (text.empty()) break;
        const auto byte = static_cast<unsigned char>(text.front());
        std::size_t length = 1;
        if (byte < 0x80) {
            append_escape(out, byte);
        } else {
            const auto step = utf8::step(text);
            out += step.valid ? text.substr(0, step.length) : utf8::kReplacement;
            length = step.length;
        }
        text.remove_prefix(length);
    }
    out += '"';
}

void append_json_number(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    std::array<char, 32> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view number{digits.data(), static_cast<std::size_t>(end - digits.data())};
    out += number;
    if (number.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void JsonWriter::separate() {
    if (comma_) out_ += ',';
    comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    append_json_string(out_, name);
    out_ += ':';
    comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
    separate();
    append_json_string(out_, text);
    return *this;
}

JsonWriter& JsonWriter::value(bool value) {
    return raw(value ? "true" : "false");
}

JsonWriter& JsonWriter::value(std::int64_t value) {
    separate();
    append_integer(out_, value);
    return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t value) {
    separate();
    append_integer(out_, value);
    return *this;
}

JsonWriter& JsonWriter::value(double value) {
    separate();
    append_json_number(out_, value);
    return *this;
}

JsonWriter& JsonWriter::value(const Node& node) {
    if (const auto* members = node.object()) {
        begin_object();
        for (const auto& [name, item] : *members) key(name).value(item);
        return end_object();
    }
    if (const auto* items = node.array()) {
        begin_array();
        for (const auto& item : *items) value(item);
        return end_array();
    }
    if (const auto* text = node.string()) return value(*text);
    if (const auto* flag = node.boolean()) return value(*flag);
    if (const auto integer = node.integer()) return value(*integer);
    if (const auto integer = node.unsigned_integer()) return value(*integer);
    if (const auto number = node.number()) return value(*number);
    return null();
}

JsonWriter& JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
}

std::string to_json(const Node& node) {
    std::string out;
    JsonWriter{out}.value(node);
    return out;
}

}  // namespace mcpd::data
