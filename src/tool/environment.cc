#include "tool/environment.h"

#include "data/json_writer.h"
#include "tool/number.h"

#include <algorithm>
#include <array>
#include <optional>

namespace mcpd::tool {

namespace {

constexpr std::string_view kPrefix = "MCPD_OPT_";

/// The kernel's limit for one `NAME=VALUE` with its NUL, and ours for all of them: a script needs room for its own.
constexpr std::size_t kLongestEntry = 128 * 1024 - 1;
constexpr std::size_t kMostBytes = 1024 * 1024;

/// Of systemd's, for this process only. A script that found these would think itself a service.
constexpr std::array<std::string_view, 9> kOurs{"LISTEN_FDS",    "LISTEN_PID",   "LISTEN_FDNAMES",
                                                "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
                                                "MAINPID",       "MANAGERPID",   "CREDENTIALS_DIRECTORY"};
constexpr std::array<std::string_view, 6> kNeeded{"HOME", "PATH", "USER", "LANG", "TZ", "TMPDIR"};

bool is_inherited(std::string_view name, bool clean) {
    if (name.starts_with("MCPD_") || std::ranges::find(kOurs, name) != kOurs.end()) return false;
    return !clean || std::ranges::find(kNeeded, name) != kNeeded.end() || name.starts_with("LC_") ||
           name.starts_with("XDG_");
}

bool is_identifier_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The name in characters that every shell takes; after the prefix a digit may come first.
std::string shell_name(std::string_view name) {
    std::string result{name};
    std::ranges::replace_if(
        result, [](char c) { return !is_identifier_part(c); }, '_');
    return result;
}

}  // namespace

std::vector<std::string> inherited_environment(const char* const* environment, bool clean) {
    std::vector<std::string> result;
    for (; *environment; environment++) {
        const std::string_view entry = *environment;
        if (is_inherited(entry.substr(0, entry.find('=')), clean)) result.emplace_back(entry);
    }
    return result;
}

std::string as_text(const data::Node& value) {
    if (const auto* text = value.string()) return *text;
    if (value.is_null()) return {};
    if (value.number()) return plain_decimal(value);
    return data::to_json(value);
}

void add_options(std::vector<std::string>& environment, const data::Node& options,
                 std::span<const std::string_view> known) {
    struct Variable {
        std::string_view option;
        std::string entry;
        bool omitted;
    };
    std::vector<Variable> variables;
    const auto& members = *options.object();
    for (const auto& member : members) {
        const std::string& name = member.key;
        const std::string text = as_text(member.value);
        const auto add = [&](std::string_view spelled) {
            std::string entry = std::string{kPrefix}.append(spelled).append("=").append(text);
            const bool impossible = entry.find('\0') != std::string::npos || entry.size() > kLongestEntry;
            variables.push_back({name, std::move(entry), impossible});
        };
        // An equals sign would end the name.
        if (name.find_first_of(std::string_view{"=\0", 2}) == std::string::npos) add(name);
        const std::string plain = shell_name(name);
        const bool collides = std::ranges::any_of(
            known, [&](std::string_view other) { return other != name && shell_name(other) == plain; });
        if (plain != name && !collides) add(plain);
    }

    std::size_t total = 0;
    for (const auto& variable : variables) total += variable.omitted ? 0 : variable.entry.size() + 1;
    while (total > kMostBytes) {
        const auto size = [](const Variable& variable) { return variable.omitted ? 0 : variable.entry.size(); };
        auto& largest = *std::ranges::max_element(variables, {}, size);
        largest.omitted = true;
        total -= largest.entry.size() + 1;
    }

    std::string omitted;
    std::string_view last;
    for (auto& variable : variables) {
        if (!variable.omitted) {
            environment.push_back(std::move(variable.entry));
        } else if (variable.option != last) {
            omitted += (omitted.empty() ? "" : ",") + std::string{variable.option};
            last = variable.option;
        }
    }
    std::erase(omitted, '\0');
    if (!omitted.empty() && omitted.size() < kLongestEntry / 2) environment.push_back("MCPD_OMITTED=" + omitted);
}

}  // namespace mcpd::tool
