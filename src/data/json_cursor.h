#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpd::data {

/// Walks JSON text and knows where it is. The parser that decides what is JSON (see json.cc) is fast but tells neither
/// where a value stands in the text nor where the text goes wrong; this does both, when asked.
///
/// Every method that moves returns false at the first thing that is not JSON; fault() then says what it is, and
/// offset(), line() and column() where.
class JsonCursor {
public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    /// Moves past blanks, so that offset() is where the next value or sign begins.
    void skip_blanks();

    /// Moves past one character that must come next, blanks before it included.
    bool take(char expected);

    /// Moves past a whole string, number, or word.
    bool take_scalar();

    /// Moves past a whole value, nested at most `depth` deep.
    bool take_value(int depth);

    /// Nothing but blanks may be left.
    bool take_end();

    std::size_t offset() const { return at_; }
    int line() const { return line_; }

    /// Counted from 1, in code points, as editors do.
    std::size_t column() const;
    const std::string& fault() const { return fault_; }

    /// The sign that comes next, NUL at the end of the text.
    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

private:
    bool fail(std::string what);
    bool take_string();
    bool take_escape();
    bool take_number();
    bool take_word(std::string_view word);
    bool take_members(int depth);
    bool take_items(int depth);
    bool take_digits();

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_start_ = 0;
    int line_ = 1;
    std::string fault_;
};

}  // namespace mcpd::data
