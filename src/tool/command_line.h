#pragma once

#include "exec/command.h"
#include "tool/tool.h"

#include <string>
#include <vector>

namespace mcpd::tool {

/// What is the same for every run of every tool.
struct Surroundings {
    std::vector<std::string> environment;  ///< inherited, and what the operator configured
    std::string root_directory;            ///< absolute
    std::string working_directory;         ///< absolute
};

/// What a run has of its own.
struct Run {
    std::string call_id;
    std::string client_capabilities = "{}";  ///< as the client declared them
};

/// A call: the options as one line of JSON on stdin, and as `MCPD_OPT_*`.
exec::Command call_command(const Tool& tool, const data::Node& options, const Surroundings& around, const Run& run);

/// A question to the script itself: `--help`, `--state`. Its input is empty.
exec::Command question(const std::string& path, const std::string& name, const std::string& flag,
                       const Surroundings& around);

}  // namespace mcpd::tool
