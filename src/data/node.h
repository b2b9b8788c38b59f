#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mcpd::data {

/// The one tree of the program: requests, arguments, definitions and structured results are all Nodes, whatever syntax
/// they came in. Objects keep the order of their members.
///
/// Each question answers with "nothing" for a node of another kind, so that a path through a document of unknown shape
/// needs no checks between its steps:
///
///     if (const Node* name = params.find("name"); name && name->string()) …
class Node {
public:
    struct Member;
    using Array = std::vector<Node>;
    using Object = std::vector<Member>;

    Node();  ///< null
    Node(bool value);
    Node(int value);
    Node(std::int64_t value);
    /// Becomes a signed integer where it fits one, so that a number has one form only.
    Node(std::uint64_t value);
    Node(double value);
    Node(std::string value);
    Node(std::string_view value);
    Node(const char* value);
    Node(Array items);
    Node(Object members);

    bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
    bool is_float() const { return std::holds_alternative<double>(value_); }
    const bool* boolean() const { return std::get_if<bool>(&value_); }
    const std::string* string() const { return std::get_if<std::string>(&value_); }
    const Array* array() const { return std::get_if<Array>(&value_); }
    const Object* object() const { return std::get_if<Object>(&value_); }
    Array* array() { return std::get_if<Array>(&value_); }
    Object* object() { return std::get_if<Object>(&value_); }

    /// An integer that fits; never a float, not even 5.0.
    std::optional<std::int64_t> integer() const;
    std::optional<std::uint64_t> unsigned_integer() const;

    /// Any number; integers past 2^53 are rounded.
    std::optional<double> number() const;

    /// The member of that name, or null when there is none or this is no object.
    const Node* find(std::string_view key) const;

    /// Adds a member at the end, or replaces the value of the one that has this name. This must be an object.
    Node& set(std::string key, Node value);

    /// `a string`, `an object` …, for messages.
    std::string_view kind_name() const;

    /// The line of the source where this value begins, counted from 1; 0 when the reader was not asked for lines.
    int line() const { return line_; }

    /// The value's own source text, where the reader was asked to keep it; else empty.
    const std::string& raw() const { return raw_; }

    void set_line(int line) { line_ = line; }
    void set_raw(std::string raw) { raw_ = std::move(raw); }

    /// Equal values; where they came from does not count. 1 and 1.0 differ.
    bool operator==(const Node& other) const;

private:
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
    std::string raw_;
    int line_ = 0;
};

struct Node::Member {
    std::string key;
    Node value;

    bool operator==(const Member&) const = default;
};

}  // namespace mcpd::data
