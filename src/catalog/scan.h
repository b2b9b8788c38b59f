#pragma once

#include "tool/tool.h"

#include <optional>
#include <string>
#include <vector>

namespace mcpd::catalog {

class Permissions;

/// An executable file below the root.
struct Candidate {
    std::string name;  ///< its path relative to the root
    tool::Source source;

    /// Why it must not be run at all; empty: ask it for `--help`.
    std::string refused;
};

struct Scan {
    std::vector<Candidate> candidates;  ///< by name, in byte order
    std::vector<std::string> warnings;
};

/// Finds the executables below `root`, to a depth of 16, through symbolic links, without the leftovers of editors and
/// what nobody means as a tool. One bad entry never fails the rest.
Scan scan(const std::string& root, const Permissions& permissions);

/// The file as it is now; nothing when it is gone, no regular file, or not executable any more.
std::optional<tool::Source::Identity> identify(const std::string& path);

/// What is wrong with a directory between the root and a file below it.
std::optional<std::string> find_fault_above(const std::string& root, const std::string& path,
                                            const Permissions& permissions);

}  // namespace mcpd::catalog
