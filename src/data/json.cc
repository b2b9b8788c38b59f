#include "data/json.h"

#include "data/json_cursor.h"
#include "util/text.h"

#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mcpd::data {

namespace dom = simdjson::dom;

namespace {

/// A parser keeps about twelve times the largest text it has seen. One that has grown past this is
/// given back before the next text.
constexpr std::size_t kKeptCapacity = 1024 * 1024;

/// Past this many members names are sorted to compare them.
constexpr std::size_t kManyMembers = 16;

/// One for the process: the loop parses one text at a time.
dom::parser& parser() {
    static std::unique_ptr<dom::parser> kept;
    if (!kept || kept->capacity() > kKeptCapacity) {
        kept = std::make_unique<dom::parser>();
        // On failure the parser allocates when it parses, and reports there.
        // It does not count the innermost array when that is empty, so the Builder counts, and here is one more.
        [[maybe_unused]] const auto error = kept->allocate(4096, kJsonDepth + 1);
    }
    return *kept;
}

std::string where(const JsonCursor& cursor) {
    return "line " + std::to_string(cursor.line()) + ", column " + std::to_string(cursor.column()) + ": ";
}

/// The parser only says that the text is no JSON; the cursor finds the place.
Error locate(std::string_view text, simdjson::error_code code) {
    JsonCursor cursor{text};
    if (cursor.take_value(kJsonDepth) && cursor.take_end()) {
        return {Code::Invalid, std::string{"not JSON: "} + simdjson::error_message(code)};
    }
    return {Code::Invalid, "not JSON: " + where(cursor) + cursor.fault()};
}

/// Sorted rather than hashed: whoever sends the text could choose names that all have one hash.
const Node::Member* find_duplicate(const Node::Object& members) {
    if (members.size() <= kManyMembers) {
        for (auto a = members.begin(); a != members.end(); ++a) {
            if (std::find_if(members.begin(), a, [&](const auto& b) { return a->key == b.key; }) != a) return &*a;
        }
        return nullptr;
    }
    std::vector<const Node::Member*> sorted;
    for (const auto& member : members) sorted.push_back(&member);
    const auto key = [](const Node::Member* member) -> const std::string& { return member->key; };
    std::ranges::sort(sorted, {}, key);
    const auto twice = std::ranges::adjacent_find(sorted, {}, key);
    return twice == sorted.end() ? nullptr : *twice;
}

/// Turns the parser's tree into ours. With a cursor, it moves through the text in step, and each node learns its place.
class Builder {
public:
    Builder(std::string_view text, const JsonOptions& options)
        : text_(text), options_(options), cursor_(text), placed_(options.lines || !options.raw.empty()) {}

    Node build(dom::element element, bool keep_raw = false) {
        if (placed_) cursor_.skip_blanks();
        const std::size_t start = cursor_.offset();
        const int line = cursor_.line();
        Node node = convert(element);
        if (options_.lines) node.set_line(line);
        if (keep_raw) node.set_raw(std::string{text_.substr(start, cursor_.offset() - start)});
        return node;
    }

    const std::string& fault() const { return fault_; }
    bool is_too_deep() const { return is_too_deep_; }

private:
    Node convert(dom::element element) {
        if (element.is_object() || element.is_array()) {
            is_too_deep_ |= ++depth_ > kJsonDepth;
            Node node = element.is_object() ? object(dom::object(element)) : array(dom::array(element));
            depth_--;
            return node;
        }
        if (placed_) cursor_.take_scalar();
        switch (element.type()) {
            case dom::element_type::STRING: return std::string_view(element);
            case dom::element_type::INT64: return std::int64_t(element);
            case dom::element_type::UINT64: return std::uint64_t(element);
            case dom::element_type::DOUBLE: return double(element);
            case dom::element_type::BOOL: return bool(element);
            default: return {};
        }
    }

    Node object(dom::object source) {
        Node::Object members;
        members.reserve(source.size());
        if (placed_) cursor_.take('{');
        for (const auto field : source) {
            if (placed_) {
                if (!members.empty()) cursor_.take(',');
                cursor_.take_scalar();
                cursor_.take(':');
            }
            const bool keep_raw = std::ranges::find(options_.raw, field.key) != options_.raw.end();
            members.push_back({std::string{field.key}, build(field.value, keep_raw)});
        }
        if (placed_) cursor_.take('}');
        if (!options_.unique_names) return members;
        if (const auto* twice = find_duplicate(members); twice && fault_.empty()) {
            fault_ = (twice->value.line() ? "line " + std::to_string(twice->value.line()) + ": " : "") + "the name \"" +
                     text::printable(twice->key) + "\" occurs twice in one object";
        }
        return members;
    }

    Node array(dom::array source) {
        Node::Array items;
        items.reserve(source.size());
        if (placed_) cursor_.take('[');
        for (const auto item : source) {
            if (placed_ && !items.empty()) cursor_.take(',');
            items.push_back(build(item));
        }
        if (placed_) cursor_.take(']');
        return items;
    }

    std::string_view text_;
    const JsonOptions& options_;
    JsonCursor cursor_;
    bool placed_;
    int depth_ = 0;
    bool is_too_deep_ = false;
    std::string fault_;
};

}  // namespace

Result<Node> parse_json(std::string_view text, const JsonOptions& options) {
    // The library's conversions throw on a wrong type, which cannot happen after a look at the type; its containers may
    // throw when memory ends, which we do not survive anyway.
    const auto parsed = parser().parse(text.data(), text.size());
    if (parsed.error()) return locate(text, parsed.error());
    Builder builder{text, options};
    Node root = builder.build(parsed.value_unsafe());
    if (builder.is_too_deep()) return locate(text, simdjson::DEPTH_ERROR);
    if (!builder.fault().empty()) return Error{Code::Invalid, builder.fault()};
    return root;
}

}  // namespace mcpd::data
