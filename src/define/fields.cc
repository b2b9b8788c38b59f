#include "define/fields.h"

#include "tool/name.h"
#include "util/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace mcpd::define {

const data::Node* Fields::find(std::string_view name) const {
    const data::Node* found = object_.find(name);
    return found && !found->is_null() ? found : nullptr;
}

std::string Fields::string(std::string_view name) {
    const auto* found = find(name);
    if (!found) return {};
    if (found->string()) return *found->string();
    fail_kind(name, "a string", *found);
    return {};
}

bool Fields::boolean(std::string_view name, bool fallback) {
    const auto* found = find(name);
    if (!found) return fallback;
    if (found->boolean()) return *found->boolean();
    fail_kind(name, "true or false", *found);
    return fallback;
}

std::optional<double> Fields::number(std::string_view name) {
    const auto* found = find(name);
    if (!found) return std::nullopt;
    if (!found->number()) fail_kind(name, "a number", *found);
    return found->number();
}

std::vector<std::string> Fields::strings(std::string_view name) {
    const auto* found = find(name);
    if (!found) return {};
    std::vector<std::string> result;
    const auto* items = found->array();
    if (!items) {
        fail_kind(name, "an array of strings", *found);
        return {};
    }
    for (const auto& item : *items) {
        if (!item.string()) {
            fail_kind(name, "an array of strings", item);
            return {};
        }
        result.push_back(text::visible(*item.string()));
    }
    return result;
}

void Fields::warn_of_others(std::span<const std::string_view> known, std::vector<std::string>& warnings) const {
    for (const auto& [name, value] : *object_.object()) {
        if (std::ranges::find(known, name) != known.end()) continue;
        const auto near = tool::nearest(name, known, 1);
        warnings.push_back(fmt::format("{}{}: unknown field, ignored{}", subject_, text::printable(name),
                                       near.empty() ? "" : fmt::format("; did you mean {}?", near.front())));
    }
}

void Fields::fail(std::string message) {
    if (error_.empty()) error_ = subject_ + std::move(message);
}

void Fields::fail_kind(std::string_view name, std::string_view expected, const data::Node& found) {
    fail(fmt::format("{}: must be {}, not {}", name, expected, found.kind_name()));
}

}  // namespace mcpd::define
