#include "mcp/logging.h"

#include "mcp/server.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpd::mcp {

namespace {

constexpr std::array<std::string_view, 8> kNames{"debug", "info",     "notice", "warning",
                                                 "error", "critical", "alert",  "emergency"};

constexpr std::array<std::pair<std::string_view, Level>, 6> kPrefixes{{{"TRACE", Level::Debug},
                                                                       {"DEBUG", Level::Debug},
                                                                       {"INFO", Level::Info},
                                                                       {"WARNING", Level::Warning},
                                                                       {"WARN", Level::Warning},
                                                                       {"ERROR", Level::Error}}};

}  // namespace

std::string_view level_name(Level level) {
    return kNames[static_cast<std::size_t>(level)];
}

std::optional<Level> find_level(std::string_view name) {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<Level>(found - kNames.begin());
}

LogLine read_log_line(std::string_view line) {
    for (const auto& [prefix, level] : kPrefixes) {
        if (!line.starts_with(prefix)) continue;
        auto rest = line.substr(prefix.size());
        if (rest.empty() || (rest.front() != ' ' && rest.front() != ':' && rest.front() != '\t')) continue;
        if (rest.front() == ':') rest.remove_prefix(1);
        return {level, text::trim(rest)};
    }
    return {Level::Info, line};
}

void set_level(Server&, Exchange& exchange) {
    const auto* name = exchange.params().find("level");
    const auto level = name && name->string() ? find_level(*name->string()) : std::nullopt;
    if (!level) {
        return exchange.fail(
            {Fault::Kind::InvalidParams,
             "level: must be one of: debug, info, notice, warning, error, critical, alert, emergency"});
    }
    exchange.session().log_level = *level;
    exchange.reply({});
}

}  // namespace mcpd::mcp
