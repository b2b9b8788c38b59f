#include "data/node.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace mcpd::data {

Node::Node() = default;
Node::Node(bool value) : value_(value) {}
Node::Node(int value) : value_(std::int64_t{value}) {}
Node::Node(std::int64_t value) : value_(value) {}
Node::Node(double value) : value_(value) {}
Node::Node(std::string value) : value_(std::move(value)) {}
Node::Node(std::string_view value) : value_(std::string{value}) {}
Node::Node(const char* value) : value_(std::string{value}) {}
Node::Node(Array items) : value_(std::move(items)) {}
Node::Node(Object members) : value_(std::move(members)) {}

Node::Node(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        value_ = static_cast<std::int64_t>(value);
    } else {
        value_ = value;
    }
}

bool Node::operator==(const Node& other) const {
    return value_ == other.value_;
}

std::optional<std::int64_t> Node::integer() const {
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
    return std::nullopt;
}

std::optional<std::uint64_t> Node::unsigned_integer() const {
    if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
    const auto* value = std::get_if<std::int64_t>(&value_);
    if (value && *value >= 0) return static_cast<std::uint64_t>(*value);
    return std::nullopt;
}

std::optional<double> Node::number() const {
    if (const auto* value = std::get_if<double>(&value_)) return *value;
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
    if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
    return std::nullopt;
}

const Node* Node::find(std::string_view key) const {
    const auto* members = object();
    if (!members) return nullptr;
    const auto found = std::ranges::find(*members, key, &Member::key);
    return found == members->end() ? nullptr : &found->value;
}

Node& Node::set(std::string key, Node value) {
    auto* members = object();
    assert(members);
    const auto found = std::ranges::find(*members, key, &Member::key);
    if (found != members->end()) return found->value = std::move(value);
    return members->emplace_back(Member{std::move(key), std::move(value)}).value;
}

std::string_view Node::kind_name() const {
    constexpr std::string_view kNames[] = {"null",     "a boolean", "an integer", "an integer",
                                           "a number", "a string",  "an array",   "an object"};
    return kNames[value_.index()];
}

}  // namespace mcpd::data
