#include "app/commands.h"
#include "app/workbench.h"
#include "data/json_writer.h"
#include "tool/describe.h"
#include "util/text.h"

#include <fmt/core.h>
#include <sysexits.h>

#include <algorithm>
#include <cstdio>

/// `mcpd list`: what clients see, and what they do not.
namespace mcpd::app {

namespace {

using catalog::Catalog;

/// A rule of thumb for English and JSON.
constexpr std::size_t kBytesPerToken = 4;

void put(const std::string& line) {
    std::fputs((line + "\n").c_str(), stdout);
}

void print_json(const Catalog& catalog) {
    std::string out;
    data::JsonWriter json{out};
    json.begin_object().key("tools").begin_array();
    for (const auto& entry : catalog.entries()) {
        // What clients see, and what only we know.
        json.begin_object().member("name", entry.published).key("inputSchema").raw(tool::input_schema(entry.tool));
        json.member("description", entry.tool.description.empty() ? entry.tool.title : entry.tool.description);
        json.member("path", entry.tool.source.path);
        if (!entry.tool.version.empty()) json.member("version", entry.tool.version);
        json.member("bytes", std::uint64_t{entry.list_entry.size()});
        json.member("tokens", std::uint64_t{entry.list_entry.size() / kBytesPerToken});
        json.key("warnings").begin_array();
        for (const auto& warning : entry.warnings) json.value(warning);
        json.end_array().end_object();
    }
    json.end_array().key("broken").begin_array();
    for (const auto& broken : catalog.broken()) {
        json.begin_object().member("name", broken.name).member("path", broken.path);
        json.member("reason", broken.reason).end_object();
    }
    json.end_array().end_object();
    put(out);
}

void print_text(const Catalog& catalog) {
    std::size_t widest = 0, bytes = 0;
    for (const auto& entry : catalog.entries()) {
        widest = std::max(widest, entry.published.size());
        bytes += entry.list_entry.size();
    }
    for (const auto& entry : catalog.entries()) {
        const auto& tool = entry.tool;
        const std::string& words = tool.description.empty() ? tool.title : tool.description;
        put(fmt::format("{:<{}}  {:>6} bytes {:>5} tokens  {}{}", entry.published, widest, entry.list_entry.size(),
                        entry.list_entry.size() / kBytesPerToken, text::printable(text::first_line(words)),
                        tool.version.empty() ? "" : fmt::format(" ({})", text::printable(tool.version))));
        for (const auto& warning : entry.warnings) put("  warning: " + text::printable(warning));
    }
    for (const auto& broken : catalog.broken()) {
        put(fmt::format("broken: {}: {}", text::printable(broken.name), text::printable(broken.reason)));
    }
    put(fmt::format("{} tools, {} bytes, about {} tokens; {} broken", catalog.entries().size(), bytes,
                    bytes / kBytesPerToken, catalog.broken().size()));
}

}  // namespace

int run_list(loop::Loop& loop, const Options& options, const Settings& settings) {
    Workbench bench{loop, settings};
    bench.look();
    const auto catalog = bench.keeper.catalog();
    if (options.as_json) {
        print_json(*catalog);
    } else if (options.only_names) {
        for (const auto& entry : catalog->entries()) put(entry.published);
    } else {
        for (const auto& warning : bench.keeper.warnings()) put("warning: " + warning);
        print_text(*catalog);
    }
    return EX_OK;
}

}  // namespace mcpd::app
