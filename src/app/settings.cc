#include "app/settings.h"

#include "tool/environment.h"
#include "util/file.h"
#include "util/log.h"
#include "util/text.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace mcpd::app {

namespace {

constexpr std::size_t kLargestConfig = 1024 * 1024;

std::optional<std::string> real_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real{realpath(path.c_str(), nullptr), std::free};
    return real ? std::optional<std::string>{real.get()} : std::nullopt;
}

std::string variable(const char* name) {
    const char* value = getenv(name);
    return value ? value : "";
}

std::optional<Refusal> find_directory(const char* option, const std::string& given, std::string& into) {
    const auto path = real_path(given);
    const auto refuse = [&](int status, const std::string& why) {
        return Refusal{status, fmt::format("{} {}: {}", option, text::printable(given), why)};
    };
    if (!path) return refuse(errno == EACCES ? EX_NOPERM : EX_NOINPUT, text::describe_errno(errno));
    struct stat status;
    if (stat(path->c_str(), &status) < 0 || !S_ISDIR(status.st_mode)) return refuse(EX_NOINPUT, "not a directory");
    if (access(path->c_str(), R_OK | X_OK) < 0) return refuse(EX_NOPERM, text::describe_errno(errno));
    into = *path;
    return std::nullopt;
}

/// Every executable below the root is run with --help: some directories hold too many that were not written for that.
std::optional<Refusal> find_danger(const std::string& root) {
    const auto refuse = [&](std::string_view what) {
        return Refusal{EX_USAGE,
                       fmt::format("--root-directory {}: this is {}, and every executable below it would be run "
                                   "with --help; make a directory of its own for your tools",
                                   text::printable(root), what)};
    };
    if (root == "/") return refuse("the whole system");
    if (const auto home = real_path(variable("HOME")); home && *home == root) return refuse("your home directory");
    std::string path = variable("PATH");
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t end = std::min(path.find(':', start), path.size());
        const auto entry = real_path(path.substr(start, end - start));
        if (end > start && entry && *entry == root) return refuse("on PATH");
        start = end + 1;
    }
    return std::nullopt;
}

std::optional<std::string> find_flaw(std::string_view entry) {
    const auto end = entry.find('=');
    if (end == std::string_view::npos || end == 0) return "must be KEY=VALUE";
    const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    if (!std::ranges::all_of(entry.substr(0, end), is_part)) return "the key may have letters, digits and _ only";
    if (entry.find('\0') != std::string_view::npos) return "the value has a NUL byte";
    return std::nullopt;
}

/// One `KEY=VALUE` a line; blank lines and those that begin with # do not count.
std::optional<Refusal> read_config_file(const std::string& path, std::vector<std::string>& into) {
    const auto refuse = [&](int status, const std::string& why) {
        return Refusal{status, fmt::format("--config-file {}: {}", text::printable(path), why)};
    };
    struct stat status;
    if (stat(path.c_str(), &status) < 0) return refuse(EX_NOINPUT, text::describe_errno(errno));
    if (status.st_mode & 077) {
        return refuse(EX_CONFIG, fmt::format("others can read it (mode {:04o}): chmod 600 it", status.st_mode & 07777));
    }
    const auto content = file::read(path, kLargestConfig);
    if (!content) return Refusal{EX_NOPERM, "--config-file " + content.error().message};
    int number = 0;
    for (std::string_view rest = *content; !rest.empty();) {
        const auto line = text::first_line(rest);
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        number++;
        const auto entry = text::trim(line);
        if (entry.empty() || entry.front() == '#') continue;
        // The value may be a secret, so it is not shown.
        if (const auto flaw = find_flaw(entry)) return refuse(EX_CONFIG, fmt::format("line {}: {}", number, *flaw));
        into.push_back("MCPD_CONFIG_" + std::string{entry});
    }
    return std::nullopt;
}

std::optional<Refusal> find_environment(const Options& options, const char* const* environment,
                                        std::vector<std::string>& into) {
    into = tool::inherited_environment(environment, options.clean_env);
    if (!options.config_file.empty()) {
        if (auto refusal = read_config_file(options.config_file, into)) return refusal;
    }
    for (const auto& entry : options.config) {
        if (const auto flaw = find_flaw(entry)) {
            return Refusal{EX_USAGE,
                           fmt::format("--config {}: {}", text::printable(entry.substr(0, entry.find('='))), *flaw)};
        }
        // A later one replaces an earlier one, the file's included.
        const std::string name = "MCPD_CONFIG_" + entry.substr(0, entry.find('=') + 1);
        std::erase_if(into, [&](const std::string& other) { return other.starts_with(name); });
        into.push_back("MCPD_CONFIG_" + entry);
    }
    return std::nullopt;
}

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds{std::llround(std::ceil(seconds * 1000))};
}

}  // namespace

std::optional<Refusal> make_settings(const Options& options, const char* const* environment, Settings& into) {
    tool::Surroundings around;
    std::string root = options.root_directory;
    if (root.empty()) {
        if (options.verb == Verb::Serve) {
            return Refusal{EX_USAGE, "which directory? Say mcpd --root-directory DIR; see mcpd --help"};
        }
        root = ".";
    }
    if (auto refusal = find_directory("--root-directory", root, around.root_directory)) return refusal;
    if (auto refusal = find_danger(around.root_directory)) return refusal;
    const std::string working = options.working_directory.empty() ? "." : options.working_directory;
    if (auto refusal = find_directory("--working-directory", working, around.working_directory)) return refusal;
    if (auto refusal = find_environment(options, environment, around.environment)) return refusal;
    if (options.unsafe_permissions) log::warning("--unsafe-permissions: scripts that others can write are run, too");

    into.keeper = {.around = around,
                   .help_timeout = milliseconds(options.help_timeout),
                   .names = options.portable_names ? catalog::Names::Portable : catalog::Names::Path,
                   .unsafe_permissions = options.unsafe_permissions};
    into.server = {.name = options.name,
                   .title = around.root_directory.substr(around.root_directory.rfind('/') + 1),
                   .around = around,
                   .timeout = milliseconds(options.timeout),
                   .help_timeout = milliseconds(options.help_timeout),
                   .max_output = options.max_output};
    into.queue = {.running = options.max_running, .waiting = options.max_queue};
    into.max_request = options.max_request;
    return std::nullopt;
}

}  // namespace mcpd::app
