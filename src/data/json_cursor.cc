#include "data/json_cursor.h"

#include "util/text.h"
#include "util/utf8.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace mcpd::data {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool fits_a_number(std::string_view digits) {
    const char* end = digits.data() + digits.size();
    if (digits.find_first_of(".eE") != std::string_view::npos) {
        // What is too small to tell from zero is zero; only what is too large is no number. std::from_chars calls both
        // "out of range".
        return std::isfinite(std::strtod(std::string{digits}.c_str(), nullptr));
    }
    std::int64_t negative;
    std::uint64_t positive;
    const auto error = digits.front() == '-' ? std::from_chars(digits.data(), end, negative).ec
                                             : std::from_chars(digits.data(), end, positive).ec;
    return error == std::errc{};
}

}  // namespace

bool JsonCursor::fail(std::string what) {
    fault_ = std::move(what);
    return false;
}

std::size_t JsonCursor::column() const {
    return utf8::count_code_points(text_.substr(line_start_, at_ - line_start_)) + 1;
}

void JsonCursor::skip_blanks() {
    for (; at_ < text_.size(); at_++) {
        const char c = text_[at_];
        if (c == '\n') {
            line_++;
            line_start_ = at_ + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

bool JsonCursor::take(char expected) {
    skip_blanks();
    if (next() != expected || at_ == text_.size()) {
        return fail(std::string{"expected '"} + expected + "'");
    }
    at_++;
    return true;
}

bool JsonCursor::take_end() {
    skip_blanks();
    return at_ == text_.size() || fail("nothing may follow the value");
}

bool JsonCursor::take_scalar() {
    skip_blanks();
    switch (next()) {
        case '"': return take_string();
        case 't': return take_word("true");
        case 'f': return take_word("false");
        case 'n': return take_word("null");
        default: break;
    }
    if (next() == '-' || is_digit(next())) return take_number();
    if (at_ == text_.size()) return fail("the text ends where a value should be");
    if (text_.substr(at_).starts_with("\xEF\xBB\xBF")) return fail("a byte order mark is not JSON");
    if (next() == '\'') return fail("strings are written in double quotes");
    const auto rest = text_.substr(at_);
    return fail("expected a value, found '" + text::printable(rest.substr(0, utf8::step(rest).length)) + "'");
}

bool JsonCursor::take_value(int depth) {
    skip_blanks();
    if (next() != '{' && next() != '[') return take_scalar();
    if (depth == 0) return fail("nested too deep");
    return next() == '{' ? take_members(depth - 1) : take_items(depth - 1);
}

bool JsonCursor::take_members(int depth) {
    at_++;
    skip_blanks();
    if (next() == '}') return take('}');
    while (true) {
        skip_blanks();
        if (next() != '"') return fail("expected a name in double quotes");
        if (!take_string() || !take(':') || !take_value(depth)) return false;
        skip_blanks();
        if (next() == '}') return take('}');
        if (next() != ',') return fail("expected ',' or '}'");
        at_++;
    }
}

bool JsonCursor::take_items(int depth) {
    at_++;
    skip_blanks();
    if (next() == ']') return take(']');
    while (true) {
        if (!take_value(depth)) return false;
        skip_blanks();
        if (next() == ']') return take(']');
        if (next() != ',') return fail("expected ',' or ']'");
        at_++;
    }
}

bool JsonCursor::take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return fail("expected '" + std::string{word} + "'");
    at_ += word.size();
    return true;
}

bool JsonCursor::take_digits() {
    if (!is_digit(next())) return fail("expected a digit");
    while (is_digit(next())) at_++;
    return true;
}

bool JsonCursor::take_number() {
    const std::size_t start = at_;
    if (next() == '-') at_++;
    if (next() == '0') {
        at_++;
        if (is_digit(next())) return fail("a number does not begin with 0");
    } else if (!take_digits()) {
        return false;
    }
    if (next() == '.') {
        at_++;
        if (!take_digits()) return false;
    }
    if (next() == 'e' || next() == 'E') {
        at_++;
        if (next() == '+' || next() == '-') at_++;
        if (!take_digits()) return false;
    }
    if (!fits_a_number(text_.substr(start, at_ - start))) {
        at_ = start;
        return fail("the number is out of range (integers have 64 bits)");
    }
    return true;
}

bool JsonCursor::take_escape() {
    at_++;
    if (at_ == text_.size()) return fail("the text ends inside a string");
    if (next() != 'u') {
        if (std::string_view{"\"\\/bfnrt"}.find(next()) == std::string_view::npos) return fail("no such escape");
        at_++;
        return true;
    }
    const auto digits = text_.substr(at_ + 1, 4);
    if (digits.size() < 4) return fail("\\u needs four hexadecimal digits");
    for (const char c : digits) {
        if (!is_hex(c)) return fail("\\u needs four hexadecimal digits");
    }
    unsigned unit = 0;
    std::from_chars(digits.data(), digits.data() + 4, unit, 16);
    if (unit >= 0xDC00 && unit <= 0xDFFF) return fail("half of a surrogate pair");
    at_ += 5;
    if (unit < 0xD800 || unit > 0xDBFF) return true;
    const auto second = text_.substr(at_, 6);
    unsigned low = 0;
    if (second.size() == 6 && second.starts_with("\\u")) {
        std::from_chars(second.data() + 2, second.data() + 6, low, 16);
    }
    if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
    at_ += 6;
    return true;
}

bool JsonCursor::take_string() {
    at_++;
    while (at_ < text_.size()) {
        const char c = next();
        if (c == '"') {
            at_++;
            return true;
        }
        if (c == '\\') {
            if (!take_escape()) return false;
            continue;
        }
        if (static_cast<unsigned char>(c) < 0x20) return fail("a line end or control character inside a string");
        const auto step = utf8::step(text_.substr(at_));
        if (!step.valid) return fail("not UTF-8");
        at_ += step.length;
    }
    return fail("the text ends inside a string");
}

}  // namespace mcpd::data
