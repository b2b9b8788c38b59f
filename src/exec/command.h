#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace mcpd::exec {

/// What to run. Plain data: whoever makes one need not know how it is run.
struct Command {
    /// The file to execute: an absolute path, never searched for.
    std::string program;

    /// What follows the program's name in its argv.
    std::vector<std::string> arguments;

    /// `NAME=VALUE`, the whole environment.
    std::vector<std::string> environment;

    /// Where it runs; empty: where the daemon was started.
    std::string working_directory;

    /// What it finds on stdin; none: /dev/null.
    std::optional<std::string> input;
};

/// How much of one output is kept: so many bytes of its beginning and of its end. What lies between is counted and let
/// go, so that a command that prints without end costs no more memory than this.
struct Keep {
    std::size_t head = 512 * 1024;
    std::size_t tail = 512 * 1024;
};

/// What a command may take.
struct Limits {
    /// From the moment its process runs, not while it waits in line. 0: none.
    std::chrono::milliseconds timeout{0};

    Keep out;
    Keep err{.head = 0, .tail = 4 * 1024};

    /// A longer line of stderr is cut.
    std::size_t line = 64 * 1024;
};

}  // namespace mcpd::exec
