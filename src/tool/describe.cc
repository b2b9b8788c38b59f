#include "tool/describe.h"

#include "data/json_writer.h"
#include "tool/number.h"

namespace mcpd::tool {

namespace {

using data::JsonWriter;

void write_type(JsonWriter& json, Type type) {
    if (type == Type::Any) return;
    json.member("type", type == Type::Float ? "number" : type_name(type));
}

void write_bounds(JsonWriter& json, const Param& param) {
    const char *least = nullptr, *greatest = nullptr;
    switch (param.type) {
        case Type::String: least = "minLength", greatest = "maxLength"; break;
        case Type::Integer:
        case Type::Float: least = "minimum", greatest = "maximum"; break;
        case Type::Array: least = "minItems", greatest = "maxItems"; break;
        default: return;
    }
    if (param.min) json.key(least).raw(plain_decimal(*param.min));
    if (param.max) json.key(greatest).raw(plain_decimal(*param.max));
}

void write_property(JsonWriter& json, const Param& param) {
    json.begin_object();
    write_type(json, param.type);
    if (param.type == Type::Array) {
        // Some clients refuse an array whose items are not described at all.
        json.key("items").begin_object();
        write_type(json, param.items);
        json.end_object();
    }
    if (!param.description.empty()) json.member("description", param.description);
    if (!param.choices.empty()) {
        json.key("enum").begin_array();
        for (const auto& choice : param.choices) json.value(choice);
        json.end_array();
    }
    write_bounds(json, param);
    if (!param.pattern.empty()) json.member("pattern", param.pattern);
    if (!param.required && param.fallback) json.member("default", *param.fallback);
    if (!param.header.empty()) json.member("x-mcp-header", param.header);
    json.end_object();
}

void write_annotations(JsonWriter& json, const Tool& tool) {
    data::Node annotations{data::Node::Object{}};
    if (tool.effect != Effect::Unknown) {
        annotations.set("readOnlyHint", tool.effect == Effect::Read);
        if (tool.effect != Effect::Read) annotations.set("destructiveHint", tool.effect == Effect::Destructive);
    }
    if (tool.annotations) {
        for (const auto& [name, value] : *tool.annotations->object()) annotations.set(name, value);
    }
    if (!annotations.object()->empty()) json.member("annotations", annotations);
}

}  // namespace

std::string input_schema(const Tool& tool) {
    std::string out;
    JsonWriter json{out};
    json.begin_object().member("type", "object").key("properties").begin_object();
    bool any_required = false;
    for (const auto& param : tool.params) {
        json.key(param.name);
        write_property(json, param);
        any_required |= param.required;
    }
    json.end_object();
    if (any_required) {
        json.key("required").begin_array();
        for (const auto& param : tool.params) {
            if (param.required) json.value(param.name);
        }
        json.end_array();
    }
    json.end_object();
    return out;
}

std::string list_entry(const Tool& tool, const std::string& published_name) {
    std::string out;
    JsonWriter json{out};
    json.begin_object().member("name", published_name).member("title", tool.title);
    // Clients refuse a tool without a description.
    json.member("description", tool.description.empty() ? tool.title : tool.description);
    json.key("inputSchema").raw(input_schema(tool));
    write_annotations(json, tool);
    if (!tool.version.empty()) json.key("_meta").begin_object().member("mcpd/version", tool.version).end_object();
    json.end_object();
    return out;
}

}  // namespace mcpd::tool
