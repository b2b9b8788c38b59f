#include "catalog/catalog.h"

#include "tool/describe.h"
#include "tool/name.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace mcpd::catalog {

namespace {

/// Two tools whose portable names clash get a suffix each that depends on nothing but their own names: so a name does not
/// change when another tool comes or goes, unless that one clashes.
std::string with_suffix(const std::string& portable, std::string_view name) {
    std::uint32_t hash = 2166136261u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return fmt::format("{}_{:06x}", portable.substr(0, 57), hash & 0xFFFFFF);
}

void publish(std::vector<Entry>& entries, Names names) {
    std::map<std::string, int> uses;
    for (const auto& entry : entries) uses[tool::portable_name(entry.tool.name)]++;
    for (auto& entry : entries) {
        const std::string portable = tool::portable_name(entry.tool.name);
        const bool shortened = entry.tool.name.size() > portable.size();
        entry.published = names == Names::Path              ? entry.tool.name
                          : uses[portable] > 1 || shortened ? with_suffix(portable, entry.tool.name)
                                                            : portable;
        entry.list_entry = tool::list_entry(entry.tool, entry.published);
    }
}

}  // namespace

Catalog::Catalog(std::vector<Entry> entries, std::vector<Broken> broken, Names names)
    : entries_(std::move(entries)), broken_(std::move(broken)) {
    std::ranges::sort(entries_, {}, [](const Entry& entry) -> const std::string& { return entry.tool.name; });
    std::ranges::sort(broken_, {}, &Broken::name);
    publish(entries_, names);
    // Paths first: an emplace that comes later does not replace.
    for (const auto& entry : entries_) by_name_.emplace(entry.tool.name, &entry);
    for (const auto& entry : entries_) by_name_.emplace(entry.published, &entry);
    for (const auto& entry : entries_) by_name_.emplace(tool::portable_name(entry.tool.name), &entry);
    for (const auto& entry : entries_) {
        if (!entry.tool.has_state) continue;
        states_.push_back(&entry);
        by_state_uri_.emplace(state_uri(entry.tool.name), &entry);
    }
}

const Entry* Catalog::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
}

const Broken* Catalog::find_broken(std::string_view name) const {
    const auto found = std::ranges::lower_bound(broken_, name, {}, &Broken::name);
    return found != broken_.end() && found->name == name ? &*found : nullptr;
}

const Entry* Catalog::find_state(std::string_view uri) const {
    const auto found = by_state_uri_.find(uri);
    return found == by_state_uri_.end() ? nullptr : found->second;
}

std::vector<std::string_view> Catalog::nearest(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const auto& entry : entries_) names.push_back(entry.published);
    return tool::nearest(name, names, 3);
}

std::string state_uri(std::string_view tool_name) {
    std::string uri = "mcpd://";
    for (const char c : tool_name) {
        if (std::isalnum(static_cast<unsigned char>(c)) ||
            std::string_view{"-._~/"}.find(c) != std::string_view::npos) {
            uri += c;
        } else {
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return uri + "/state";
}

}  // namespace mcpd::catalog
