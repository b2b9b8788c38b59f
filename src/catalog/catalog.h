#pragma once

#include "tool/tool.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpd::catalog {

/// A tool that clients see, and what they are shown of it.
struct Entry {
    tool::Tool tool;
    std::string published;   ///< the name they are told
    std::string list_entry;  ///< its bytes in `tools/list`
    std::vector<std::string> warnings;
};

/// A file that would be a tool, but for its fault.
struct Broken {
    std::string name;
    std::string path;
    std::string reason;
};

enum class Names { Path, Portable };

/// Which tools exist, at one moment. Never changed: who holds one keeps what it saw, a reload makes another.
class Catalog {
public:
    Catalog() = default;
    Catalog(const Catalog&) = delete;
    Catalog(std::vector<Entry> entries, std::vector<Broken> broken, Names names);

    /// In byte order of their names.
    const std::vector<Entry>& entries() const { return entries_; }
    const std::vector<Broken>& broken() const { return broken_; }

    /// By its path or by the name that was published; a path beats a published name. Null when there is none.
    const Entry* find(std::string_view name) const;

    /// The file of that name that is no tool, or null.
    const Broken* find_broken(std::string_view name) const;

    /// Those that have a state to read, in byte order of their names.
    const std::vector<const Entry*>& states() const { return states_; }

    /// The tool whose state this URI names.
    const Entry* find_state(std::string_view uri) const;

    /// Up to three names that are like it, for "did you mean".
    std::vector<std::string_view> nearest(std::string_view name) const;

private:
    std::vector<Entry> entries_;
    std::vector<Broken> broken_;
    std::vector<const Entry*> states_;
    std::map<std::string, const Entry*, std::less<>> by_name_;
    std::map<std::string, const Entry*, std::less<>> by_state_uri_;
};

/// `mcpd://math/add/state`, with each segment percent-encoded.
std::string state_uri(std::string_view tool_name);

}  // namespace mcpd::catalog
