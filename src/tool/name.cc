#include "tool/name.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mcpd::tool {

namespace {

constexpr std::size_t kLongestPortable = 64;

/// Longer names are not compared: nobody mistypes them, and it would take long.
constexpr std::size_t kLongestCompared = 128;

bool is_portable(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string fold(std::string_view name) {
    std::string folded;
    for (const char c : name) {
        if (c == '-' || c == '.' || c == '/') {
            folded += '_';
        } else {
            folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        }
    }
    return folded;
}

}  // namespace

std::string portable_name(std::string_view name) {
    std::string portable{name.substr(0, kLongestPortable)};
    std::ranges::replace_if(
        portable, [](char c) { return !is_portable(c); }, '_');
    return portable;
}

std::size_t distance(std::string_view first, std::string_view second) {
    const std::string a = fold(first.substr(0, kLongestCompared)), b = fold(second.substr(0, kLongestCompared));
    // Rows of the usual table (optimal string alignment): the one before the last is for swapped letters.
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 1; i <= a.size(); i++) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); j++) {
            const std::size_t differ = a[i - 1] != b[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differ});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

bool is_near(std::string_view word, std::string_view known) {
    const std::size_t length = std::min(word.size(), known.size());
    const std::size_t allowed = length <= 3 ? 0 : length <= 6 ? 1 : 2;
    const std::size_t difference = std::max(word.size(), known.size()) - length;
    return difference <= allowed && distance(word, known) <= allowed;
}

std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known,
                                      std::size_t most) {
    // A part of the path that was left out is as good as a slip: `add` for `math/add`.
    const auto is_part = [&](std::string_view name) {
        return word.size() >= 3 && fold(name).find(fold(word)) != std::string::npos;
    };
    std::vector<std::pair<std::size_t, std::string_view>> candidates;
    for (const auto name : known) {
        const std::size_t steps = distance(word, name);
        if (steps <= std::max<std::size_t>(1, std::min(word.size(), name.size()) / 3) || is_part(name)) {
            candidates.emplace_back(steps, name);
        }
    }
    std::ranges::sort(candidates);
    std::vector<std::string_view> names;
    for (const auto& [steps, name] : candidates) {
        if (names.size() < most) names.push_back(name);
    }
    return names;
}

}  // namespace mcpd::tool
