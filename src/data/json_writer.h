#pragma once

#include "data/node.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpd::data {

/// Appends compact JSON to a string, comma by comma. What comes out is always valid: text that is not UTF-8 is repaired
/// with U+FFFD, numbers that JSON cannot say are null.
///
///     JsonWriter json{out};
///     json.begin_object().member("count", 3).key("items").begin_array().end_array().end_object();
class JsonWriter {
public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name);

    JsonWriter& value(std::string_view text);
    JsonWriter& value(const char* text) { return value(std::string_view{text}); }
    JsonWriter& value(const std::string& text) { return value(std::string_view{text}); }
    JsonWriter& value(bool value);
    JsonWriter& value(int value) { return this->value(std::int64_t{value}); }
    JsonWriter& value(std::int64_t value);
    JsonWriter& value(std::uint64_t value);
    JsonWriter& value(double value);
    JsonWriter& value(const Node& node);
    JsonWriter& null() { return raw("null"); }

    /// A value that is JSON already: an id as the client wrote it, a prebuilt fragment.
    JsonWriter& raw(std::string_view json);

    template <typename T>
    JsonWriter& member(std::string_view name, const T& value) {
        return key(name).value(value);
    }

private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void separate();

    std::string& out_;
    bool comma_ = false;
};

/// The text in double quotes, escaped and repaired.
void append_json_string(std::string& out, std::string_view text);

/// The shortest digits that read back as the same double; always a float to its reader (`5.0`, `1e+22`).
void append_json_number(std::string& out, double value);

/// The node as compact JSON.
std::string to_json(const Node& node);

}  // namespace mcpd::data
