#pragma once

#include <optional>
#include <string_view>

namespace mcpd::mcp {

/// The protocol's levels, least first.
enum class Level { Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency };

std::string_view level_name(Level level);
std::optional<Level> find_level(std::string_view name);

/// A line that a script wrote to stderr: `WARNING Low memory` is `Low memory`, a warning. Lines without a prefix are info.
struct LogLine {
    Level level;
    std::string_view text;
};
LogLine read_log_line(std::string_view line);

}  // namespace mcpd::mcp
