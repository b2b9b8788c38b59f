#include "mcp/script_log.h"

#include "mcp/logging.h"
#include "util/log.h"
#include "util/text.h"

namespace mcpd::mcp {

namespace {

log::Level ours(Level level) {
    if (level == Level::Debug) return log::Level::Debug;
    if (level == Level::Warning) return log::Level::Warning;
    return level == Level::Error ? log::Level::Error : log::Level::Info;
}

}  // namespace

void log_script_line(Exchange& exchange, const std::string& tool, const std::string& call_id, std::string_view line) {
    if (text::trim(line).empty()) return;
    const auto [level, text] = read_log_line(line);
    if (log::is_enabled(ours(level))) {
        log::write(ours(level), fmt::format("{} {}: {}", tool, call_id, text::printable(text)));
    }
    exchange.log(level, tool, text);
}

}  // namespace mcpd::mcp
