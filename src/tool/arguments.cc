#include "tool/arguments.h"

#include "data/json_writer.h"
#include "tool/name.h"
#include "tool/number.h"
#include "tool/pattern.h"
#include "util/text.h"
#include "util/utf8.h"

#include <fmt/core.h>

#include <algorithm>

namespace mcpd::tool {

namespace {

/// Names with this belong to mcpd: a model must not be able to forge a person's answer.
constexpr std::string_view kReserved = "mcpd:";

bool is_of(Type type, const data::Node& value) {
    switch (type) {
        case Type::Any: return true;
        case Type::String: return value.string() != nullptr;
        case Type::Integer: return as_integer(value).has_value();
        case Type::Float: return value.number().has_value();
        case Type::Boolean: return value.boolean() != nullptr;
        case Type::Array: return value.array() != nullptr;
        case Type::Object: return value.object() != nullptr;
    }
    return false;
}

std::string_view with_article(Type type) {
    constexpr std::string_view kWords[] = {"anything",  "a string", "an integer", "a number",
                                           "a boolean", "an array", "an object"};
    return kWords[static_cast<std::size_t>(type)];
}

bool is_same(const data::Node& a, const data::Node& b) {
    return a == b || (a.number() && b.number() && *a.number() == *b.number());
}

std::string in_words(const data::Node& value) {
    return value.string() ? *value.string() : data::to_json(value);
}

void check_choice(const Param& param, const data::Node& value, std::vector<std::string>& complaints) {
    if (param.choices.empty()) return;
    if (std::ranges::any_of(param.choices, [&](const auto& choice) { return is_same(choice, value); })) return;
    std::string list;
    for (const auto& choice : param.choices) list += (list.empty() ? "" : ", ") + in_words(choice);
    complaints.push_back("must be one of: " + list);
}

void check_range(const Param& param, const data::Node& value, std::vector<std::string>& complaints) {
    std::optional<double> size;
    std::string subject;
    if (param.type == Type::Integer || param.type == Type::Float) {
        size = value.number();
        subject = plain_decimal(value) + " is";
    } else if (const auto* text = value.string(); text && param.type == Type::String) {
        size = static_cast<double>(utf8::count_code_points(*text));
        subject = "has " + plain_decimal(*size) + (*size == 1 ? " character," : " characters,");
    } else if (const auto* items = value.array(); items && param.type == Type::Array) {
        size = static_cast<double>(items->size());
        subject = "has " + plain_decimal(*size) + (*size == 1 ? " item," : " items,");
    }
    if (!size) return;
    if (param.min && *size < *param.min) {
        complaints.push_back(fmt::format("{} less than the minimum {}", subject, plain_decimal(*param.min)));
    }
    if (param.max && *size > *param.max) {
        complaints.push_back(fmt::format("{} more than the maximum {}", subject, plain_decimal(*param.max)));
    }
}

void check_pattern_of(const Param& param, const data::Node& value, std::vector<std::string>& complaints) {
    const auto* text = value.string();
    if (param.pattern.empty() || !text) return;
    switch (match_pattern(param.pattern, *text)) {
        case Match::Yes: return;
        case Match::No: return complaints.push_back("does not match the pattern " + param.pattern);
        case Match::GaveUp: return complaints.push_back("could not be matched with the pattern " + param.pattern);
    }
}

void check_items(const Param& param, const data::Node& value, std::vector<std::string>& complaints) {
    if (param.type != Type::Array || param.items == Type::Any) return;
    std::size_t index = 0;
    for (const auto& item : *value.array()) {
        if (!is_of(param.items, item)) {
            complaints.push_back(
                fmt::format("item {} must be {}, not {}", index, with_article(param.items), item.kind_name()));
        }
        index++;
    }
}

/// `dryrun: unknown; did you mean dry_run?`, or nothing when it is like none.
std::optional<std::string> near_miss(const Tool& tool, std::string_view name) {
    for (const auto& param : tool.params) {
        if (is_near(name, param.name)) {
            return fmt::format("{}: unknown; did you mean {}?", text::printable(name), param.name);
        }
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> check_value(const Param& param, data::Node& value) {
    if (!is_of(param.type, value)) {
        return {fmt::format("must be {}, not {}", with_article(param.type), value.kind_name())};
    }
    if (param.type == Type::Integer) value = *as_integer(value);
    std::vector<std::string> complaints;
    check_choice(param, value, complaints);
    check_range(param, value, complaints);
    check_pattern_of(param, value, complaints);
    check_items(param, value, complaints);
    return complaints;
}

Checked check_arguments(const Tool& tool, const data::Node& arguments) {
    Checked result;
    for (const auto& param : tool.params) {
        const auto* given = arguments.find(param.name);
        // Models send null for what they leave out; only where anything goes is it a value.
        if (given && given->is_null() && param.type != Type::Any) given = nullptr;
        if (given) {
            data::Node value = *given;
            for (const auto& complaint : check_value(param, value)) {
                result.complaints.push_back(param.name + ": " + complaint);
            }
            result.options.set(param.name, std::move(value));
        } else if (param.required) {
            result.complaints.push_back(param.name + ": required");
        } else if (param.fallback) {
            result.options.set(param.name, *param.fallback);
        }
    }
    for (const auto& [name, value] : *arguments.object()) {
        if (name.starts_with(kReserved)) {
            result.complaints.push_back(text::printable(name) + ": names that begin with \"mcpd:\" are reserved");
        } else if (!tool.find(name)) {
            auto complaint = near_miss(tool, name);
            complaint ? result.complaints.push_back(std::move(*complaint)) : result.ignored.push_back(name);
        }
    }
    return result;
}

}  // namespace mcpd::tool
