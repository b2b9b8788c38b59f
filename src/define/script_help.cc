#include "define/script_help.h"

#include "data/json.h"
#include "define/fields.h"
#include "define/script_option.h"
#include "util/text.h"
#include "util/utf8.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mcpd::define {

namespace {

using data::Node;

/// What later versions bring. To ignore a word that its author relies on would be worse than to refuse it.
constexpr std::array<std::string_view, 14> kNotYet{"kind",   "uri",           "uri_template", "mime_type", "complete",
                                                   "output", "output_schema", "input_schema", "requires",  "sandbox",
                                                   "rate",   "cache",         "icons",        "examples"};
constexpr std::array<std::string_view, 10> kKnown{"title",       "description", "version",     "state",    "timeout",
                                                  "concurrency", "effect",      "annotations", "category", "tags"};

/// Longer ones drown the model that reads them.
constexpr std::size_t kLongestDescription = 4096;

constexpr double kLongestTimeout = 1e9;

std::string file_name(std::string_view name) {
    return std::string{name.substr(name.rfind('/') + 1)};
}

void read_words(Fields& fields, Definition& into) {
    tool::Tool& tool = into.tool;
    tool.title = text::visible(fields.string("title"));
    if (tool.title.empty()) tool.title = file_name(tool.name);
    tool.description = text::visible(fields.string("description"));
    if (tool.description.size() > kLongestDescription) {
        tool.description.resize(kLongestDescription);
        tool.description.resize(utf8::trim_end(tool.description).size());
        into.warnings.push_back(fmt::format("description: cut after {} bytes", kLongestDescription));
    }
    tool.version = text::visible(fields.string("version"));
    tool.category = text::visible(fields.string("category"));
    tool.tags = fields.strings("tags");
}

void read_limits(Fields& fields, tool::Tool& tool) {
    tool.has_state = fields.boolean("state", false);
    if (const auto seconds = fields.number("timeout")) {
        if (*seconds < 0 || *seconds > kLongestTimeout) {
            fields.fail("timeout: must be a number of seconds, 0 for none");
        } else {
            tool.timeout = std::chrono::milliseconds{std::llround(*seconds * 1000)};
        }
    }
    // Two calls at once of a script that remembers something would lose what one of them wrote.
    tool.concurrency = tool.has_state ? 1 : 0;
    if (const Node* given = fields.find("concurrency")) {
        const auto count = given->unsigned_integer();
        if (!count || *count == 0) return fields.fail("concurrency: must be an integer of at least 1");
        tool.concurrency = *count;
    }
}

void read_effect(Fields& fields, tool::Tool& tool) {
    const std::string effect = fields.string("effect");
    if (effect == "read")
        tool.effect = tool::Effect::Read;
    else if (effect == "write")
        tool.effect = tool::Effect::Write;
    else if (effect == "destructive")
        tool.effect = tool::Effect::Destructive;
    else if (!effect.empty())
        fields.fail("effect: must be one of: read, write, destructive");
    if (const Node* annotations = fields.find("annotations")) {
        if (!annotations->object())
            return fields.fail("annotations: must be an object, not " + std::string{annotations->kind_name()});
        tool.annotations = *annotations;
    }
}

Result<Node> read_object(std::string_view stream, std::string_view text) {
    auto node = data::parse_json(text, {.lines = true});
    if (!node) return Error{Code::Invalid, fmt::format("{} of --help: {}", stream, node.error().message)};
    if (node->object()) return node;
    return Error{Code::Invalid, fmt::format("{} of --help: must be a JSON object, not {}", stream, node->kind_name())};
}

Result<void> read_options(std::string_view err, Definition& into) {
    if (text::trim(err).empty()) return {};
    const auto options = read_object("stderr", err);
    if (!options) return options.error();
    for (const auto& [name, option] : *options->object()) {
        auto param = read_script_option(name, option, into.warnings);
        if (!param) return param.error();
        into.tool.params.push_back(std::move(*param));
    }
    return check_headers(into.tool.params);
}

}  // namespace

Result<Definition> read_script_help(std::string name, std::string_view out, std::string_view err) {
    if (text::trim(out).empty()) {
        return Error{Code::Invalid,
                     "stdout of --help: empty; it must be a JSON object, at least {\"description\": \"…\"}"};
    }
    const auto metadata = read_object("stdout", out);
    if (!metadata) return metadata.error();

    Definition result;
    result.tool.name = std::move(name);
    Fields fields{*metadata, ""};
    for (const auto word : kNotYet) {
        if (fields.find(word)) return Error{Code::Unsupported, fmt::format("{}: not supported by this version", word)};
    }
    read_words(fields, result);
    read_limits(fields, result.tool);
    read_effect(fields, result.tool);
    fields.warn_of_others(kKnown, result.warnings);
    if (!fields.error().empty()) return Error{Code::Invalid, fields.error()};

    if (const auto options = read_options(err, result); !options) return options.error();
    return result;
}

}  // namespace mcpd::define
