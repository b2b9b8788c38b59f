#pragma once

#include <fmt/core.h>

#include <string_view>

/// The program's log: lines on stderr, because stdout belongs to the protocol. error = someone must act; warning = we
/// coped; info = life cycle, a handful of lines a day; debug = per request.
namespace mcpd::log {

enum class Level { Debug, Info, Warning, Error, Off };

/// Lines with a time; JSON objects; or lines with the priority that journald reads.
enum class Format { Text, Json, Journal };

/// Journal when journald reads our stderr, else Text.
Format format_of_stderr();

/// The first statement of `main`: until then nothing may be logged, since the library's own default is stdout.
/// May be called again, to change the level and the format.
void open(Level level = Level::Info, Format format = Format::Text);

bool is_enabled(Level level);
void write(Level level, std::string_view message);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
    if (is_enabled(Level::Debug)) write(Level::Debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
    if (is_enabled(Level::Info)) write(Level::Info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
    if (is_enabled(Level::Warning)) write(Level::Warning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
    if (is_enabled(Level::Error)) write(Level::Error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace mcpd::log
