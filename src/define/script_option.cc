#include "define/script_option.h"

#include "define/fields.h"
#include "tool/arguments.h"
#include "tool/number.h"
#include "tool/pattern.h"
#include "util/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace mcpd::define {

namespace {

using data::Node;
using tool::Param;
using tool::Type;

constexpr std::array<std::string_view, 8> kKnown{"description", "required", "value_type", "default_value",
                                                 "size",        "items",    "pattern",    "header"};
constexpr std::array kTypes{Type::Any,     Type::String, Type::Integer, Type::Float,
                            Type::Boolean, Type::Array,  Type::Object};

std::optional<Type> type_of(std::string_view name) {
    const auto found = std::ranges::find(kTypes, name, tool::type_name);
    return found == kTypes.end() ? std::nullopt : std::optional{*found};
}

/// The narrowest type that all choices have: clients want one.
Type type_of_choices(const std::vector<Node>& choices) {
    const auto all = [&](auto is) { return std::ranges::all_of(choices, is); };
    if (all([](const Node& node) { return node.string() != nullptr; })) return Type::String;
    if (all([](const Node& node) { return tool::as_integer(node).has_value(); })) return Type::Integer;
    if (all([](const Node& node) { return node.number().has_value(); })) return Type::Float;
    if (all([](const Node& node) { return node.boolean() != nullptr; })) return Type::Boolean;
    return Type::Any;
}

void read_choices(Fields& fields, const Node& choices, Param& param) {
    const auto* values = choices.array();
    if (!values || values->empty()) return fields.fail("value_type: enum must be a list of at least one value");
    for (auto value = values->begin(); value != values->end(); ++value) {
        if (value->array() || value->object()) return fields.fail("value_type: enum values must be simple ones");
        if (std::find(values->begin(), value, *value) != value) {
            return fields.fail("value_type: enum names a value twice");
        }
    }
    param.choices = *values;
    param.type = type_of_choices(param.choices);
}

void read_type(Fields& fields, Param& param) {
    const Node* type = fields.find("value_type");
    if (!type) return;
    if (type->object() && type->object()->size() == 1 && type->find("enum")) {
        return read_choices(fields, *type->find("enum"), param);
    }
    const auto named = type->string() ? type_of(*type->string()) : std::nullopt;
    if (!named) {
        return fields.fail(
            "value_type: must be one of: string, integer, float, boolean, any, array, object, {\"enum\": […]}");
    }
    param.type = *named;
}

void read_items(Fields& fields, Param& param) {
    const std::string items = fields.string("items");
    if (items.empty()) return;
    const auto type = type_of(items);
    if (param.type != Type::Array) return fields.fail("items: only an array has them");
    if (!type) return fields.fail("items: must be one of: string, integer, float, boolean, any, array, object");
    param.items = *type;
}

void read_size(Fields& fields, Param& param, std::vector<std::string>& warnings) {
    const Node* size = fields.find("size");
    if (!size) return;
    if (!size->object()) return fields.fail("size: must be an object with min or max");
    if (param.type != Type::String && param.type != Type::Integer && param.type != Type::Float &&
        param.type != Type::Array) {
        warnings.push_back(fmt::format("option {}: size: means nothing for a value of this type", param.name));
        return;
    }
    for (const auto& [bound, value] : *size->object()) {
        if (bound != "min" && bound != "max")
            return fields.fail("size: knows only min and max, not " + text::printable(bound));
        if (value.is_null()) continue;
        if (!value.number()) return fields.fail("size: " + bound + " must be a number");
        if (param.type != Type::Float && !tool::as_integer(value)) {
            return fields.fail("size: " + bound + " must be a whole number");
        }
        (bound == "min" ? param.min : param.max) = value.number();
    }
    if (param.min && param.max && *param.min > *param.max) fields.fail("size: min is greater than max");
}

void read_pattern(Fields& fields, Param& param, std::vector<std::string>& warnings) {
    param.pattern = fields.string("pattern");
    if (param.pattern.empty()) return;
    if (param.type != Type::String && param.type != Type::Any) {
        warnings.push_back(fmt::format("option {}: pattern: means nothing for a value of this type", param.name));
        param.pattern.clear();
        return;
    }
    if (const auto valid = tool::check_pattern(param.pattern); !valid) fields.fail("pattern: " + valid.error().message);
}

void read_default(Fields& fields, const Node& option, Param& param, std::vector<std::string>& warnings) {
    const Node* value = option.find("default_value");
    if (!value || (value->is_null() && param.type != Type::Any)) return;
    if (param.required) {
        warnings.push_back(
            fmt::format("option {}: default_value: ignored, because the option is required", param.name));
        return;
    }
    Node fallback = *value;
    const auto complaints = tool::check_value(param, fallback);
    if (!complaints.empty()) return fields.fail("default_value: " + complaints.front());
    param.fallback = std::move(fallback);
}

bool is_token(std::string_view text) {
    constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || kSigns.find(c) != std::string_view::npos;
    });
}

}  // namespace

Result<Param> read_script_option(const std::string& name, const Node& option, std::vector<std::string>& warnings) {
    const std::string subject = fmt::format("option {}: ", text::printable(name));
    if (name.empty()) return Error{Code::Invalid, "an option has an empty name"};
    if (name.starts_with("mcpd:"))
        return Error{Code::Invalid, subject + "names that begin with \"mcpd:\" are reserved"};
    if (!option.object()) {
        return Error{Code::Invalid, fmt::format("{}must be an object, not {}", subject, option.kind_name())};
    }
    Param param{.name = name};
    Fields fields{option, subject};
    param.description = text::visible(fields.string("description"));
    param.required = fields.boolean("required", false);
    param.header = fields.string("header");
    read_type(fields, param);
    read_items(fields, param);
    read_size(fields, param, warnings);
    read_pattern(fields, param, warnings);
    if (fields.error().empty()) read_default(fields, option, param, warnings);
    fields.warn_of_others(kKnown, warnings);
    if (!fields.error().empty()) return Error{Code::Invalid, fields.error()};
    return param;
}

Result<void> check_headers(const std::vector<Param>& params) {
    std::set<std::string> seen;
    for (const auto& param : params) {
        if (param.header.empty()) continue;
        const auto fail = [&](std::string_view why) {
            return Error{Code::Invalid, fmt::format("option {}: header: {}", param.name, why)};
        };
        if (!is_token(param.header)) return fail("must be the name of an HTTP header");
        if (param.type != Type::String && param.type != Type::Integer && param.type != Type::Boolean) {
            return fail("only strings, integers and booleans can be sent as one");
        }
        std::string folded = param.header;
        std::ranges::transform(folded, folded.begin(), [](unsigned char c) { return std::tolower(c); });
        if (!seen.insert(folded).second) return fail("another option has the same one");
    }
    return {};
}

}  // namespace mcpd::define
