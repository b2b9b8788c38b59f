#pragma once

#include <string>
#include <string_view>

namespace mcpd::text {

/// `text` without blanks, tabs and line ends at either end.
std::string_view trim(std::string_view text);

/// What stands before the first line end; the whole text when there is none.
std::string_view first_line(std::string_view text);

/// The first blank-separated word, and `text` shortened to what follows it.
std::string_view take_word(std::string_view& text);

/// For messages: control characters and bytes that are not UTF-8 shown as `\xNN`, so that a hostile file name cannot
/// forge a log line or move a terminal's cursor.
std::string printable(std::string_view text);

/// For texts of others that people and models read: without control characters (but for tab and line end) and without
/// the invisible ones that turn the direction of writing or hide words (U+200B to U+200F, U+202A to U+202E, U+2060 to
/// U+2069, U+FEFF).
std::string visible(std::string_view text);

/// `ENOENT` → `No such file or directory`; the reentrant strerror.
std::string describe_errno(int error);

}  // namespace mcpd::text
