#pragma once

#include "data/node.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpd::define {

/// Reads the members of an object by name and kind, and remembers the first that is of another kind, so that whoever reads
/// a dozen of them checks once.
class Fields {
public:
    /// `subject` goes before each message: `option count: `.
    Fields(const data::Node& object, std::string subject) : object_(object), subject_(std::move(subject)) {}

    /// The member, unless it is absent or null.
    const data::Node* find(std::string_view name) const;

    /// Each is empty, `fallback`, or nothing when the member is absent or wrong.
    std::string string(std::string_view name);
    bool boolean(std::string_view name, bool fallback);
    std::optional<double> number(std::string_view name);
    std::vector<std::string> strings(std::string_view name);

    /// For each member that is none of `known`: a warning, with the known name that was probably meant.
    void warn_of_others(std::span<const std::string_view> known, std::vector<std::string>& warnings) const;

    /// The first failure counts.
    void fail(std::string message);
    const std::string& error() const { return error_; }

private:
    void fail_kind(std::string_view name, std::string_view expected, const data::Node& found);

    const data::Node& object_;
    std::string subject_;
    std::string error_;
};

}  // namespace mcpd::define
