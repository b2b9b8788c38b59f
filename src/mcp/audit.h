#pragma once

#include "util/result.h"
#include "util/unique_fd.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace mcpd::mcp {

/// The record of calls that the operator asked for: one JSON line each, in a file that only they can read.
class Audit {
public:
    struct Call {
        const std::string& client;
        const std::string& tool;
        std::string_view outcome;  ///< `ok`, `cancelled`, or what went wrong
        std::optional<int> exit;
        std::chrono::milliseconds duration{0};
        std::uint64_t bytes = 0;       ///< of its output
        const std::string& arguments;  ///< JSON
    };

    static Result<Audit> open(std::string path, bool with_arguments);

    /// The file may have been moved away: from now on another one of that name.
    void reopen();
    void record(const Call& call);

private:
    Audit(std::string path, bool with_arguments) : path_(std::move(path)), with_arguments_(with_arguments) {}

    std::string path_;
    bool with_arguments_;
    UniqueFd fd_;
};

}  // namespace mcpd::mcp
