#pragma once

#include "util/result.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpd::app {

enum class Verb { Serve, List, Check, Call, Help, Version };

/// What the command line and the environment ask for; a flag wins over its `MCPD_…` twin.
struct Options {
    Verb verb = Verb::Serve;
    std::vector<std::string> words;  ///< what follows the verb

    std::string root_directory;
    bool stdio = false;
    bool portable_names = false;
    double timeout = 300;
    double help_timeout = 5;
    std::size_t max_output = 1024 * 1024;
    std::size_t max_request = 4 * 1024 * 1024;
    std::size_t max_running = 32;
    std::size_t max_queue = 1024;
    std::string working_directory;
    std::vector<std::string> config;  ///< KEY=VALUE
    std::string config_file;
    bool clean_env = false;
    std::string audit_log;
    bool audit_arguments = false;
    std::string name = "mcpd";
    std::string log_level = "info";
    std::string log_format;  ///< empty: by where stderr goes
    bool unsafe_permissions = false;

    /// Of single commands.
    bool as_json = false;
    bool only_names = false;
    bool state = false;
    std::optional<std::string> json_arguments;
};

/// `environment` ends with a null. The error's message is the one line that the user sees.
Result<Options> parse_options(int argc, const char* const* argv, const char* const* environment);

/// The text of `--help`.
std::string help_text();

}  // namespace mcpd::app
