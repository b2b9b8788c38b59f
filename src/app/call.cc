#include "app/commands.h"
#include "app/workbench.h"
#include "data/json.h"
#include "data/json_writer.h"
#include "mcp/peer.h"
#include "tool/tool.h"
#include "util/text.h"

#include <fmt/core.h>
#include <sysexits.h>

#include <cstdio>

/// `mcpd call`: one tool, run as a client would run it, through the protocol itself.
namespace mcpd::app {

namespace {

using data::Node;

/// Keeps the answer.
class Answer final : public mcp::Channel {
public:
    void send(std::string message, Weight weight) override {
        if (weight == Weight::Answer) text = std::move(message);
    }
    std::string text;
};

/// A word by the option's type: `5` is a number where a number is wanted. What does not fit stays a string, and the check
/// that every call goes through says so.
Node read_value(const tool::Param* param, const std::string& text) {
    using tool::Type;
    const Type type = param ? param->type : Type::String;
    if (type == Type::String || (type == Type::Any && param->choices.empty())) return text;
    auto value = data::parse_json(text);
    return value ? *value : Node{text};
}

Result<Node> read_arguments(const Options& options, const tool::Tool* tool) {
    Node arguments{Node::Object{}};
    if (options.json_arguments) {
        auto all = data::parse_json(*options.json_arguments);
        if (!all) return Error{Code::Invalid, "--json: " + all.error().message};
        if (!all->object()) return Error{Code::Invalid, "--json: must be an object"};
        arguments = *std::move(all);
    }
    for (std::size_t i = 1; i < options.words.size(); i++) {
        const std::string& word = options.words[i];
        const auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0) {
            return Error{Code::Invalid, fmt::format("'{}' is not name=value", text::printable(word))};
        }
        const std::string value = word.substr(equals + 1);
        if (word[equals - 1] == ':') {
            auto json = data::parse_json(value);
            if (!json) return Error{Code::Invalid, fmt::format("{}: {}", text::printable(word), json.error().message)};
            arguments.set(word.substr(0, equals - 1), *std::move(json));
        } else {
            const std::string name = word.substr(0, equals);
            arguments.set(name, read_value(tool ? tool->find(name) : nullptr, value));
        }
    }
    return arguments;
}

std::string request(const std::string& method, std::string_view members) {
    return fmt::format(
        R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{{{},"_meta":{{)"
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},)"
        R"("io.modelcontextprotocol/clientInfo":{{"name":"mcpd call","version":"{}"}}}}}}}})",
        method, members, MCPD_VERSION);
}

void put(std::FILE* file, const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file);
    if (!text.ends_with('\n')) std::fputc('\n', file);
}

/// Output to stdout; what we say about a failure to stderr, with the tool's own exit code.
int print(const std::string& answer) {
    const auto message = data::parse_json(answer);
    if (!message) return EX_SOFTWARE;
    if (const Node* error = message->find("error")) {
        put(stderr, "mcpd: " + *error->find("message")->string());
        return EX_USAGE;
    }
    const Node* result = message->find("result");
    if (const Node* contents = result->find("contents")) {
        for (const auto& content : *contents->array()) put(stdout, *content.find("text")->string());
        return EX_OK;
    }
    const auto& blocks = *result->find("content")->array();
    const bool failed = *result->find("isError")->boolean();
    for (std::size_t i = 0; i < blocks.size(); i++) {
        const bool is_ours = failed && i + 1 == blocks.size();
        put(is_ours ? stderr : stdout, *blocks[i].find("text")->string());
    }
    const Node* exit = result->find("_meta")->find("mcpd/exitCode");
    if (exit && exit->integer()) return static_cast<int>(*exit->integer());
    const Node* error = result->find("_meta")->find("mcpd/error");
    // A call that was refused never had an exit code: the one that says the same.
    if (failed && error && *error->string() == "bad request") return 2;
    if (failed && error && *error->string() == "timeout") return 9;
    return failed ? 1 : EX_OK;
}

}  // namespace

int run_call(loop::Loop& loop, const Options& options, const Settings& settings) {
    Workbench bench{loop, settings};
    bench.look();
    const std::string& name = options.words.front();
    const auto* entry = bench.keeper.catalog()->find(name);
    if (const auto* broken = bench.keeper.catalog()->find_broken(name); broken && !entry) {
        put(stderr, fmt::format("mcpd: {}: broken: {}", text::printable(name), text::printable(broken->reason)));
        return EX_DATAERR;
    }
    const auto arguments = read_arguments(options, entry ? &entry->tool : nullptr);
    if (!arguments) {
        put(stderr, "mcpd: " + arguments.error().message);
        return EX_USAGE;
    }
    std::string members;
    data::JsonWriter json{members};
    if (options.state) {
        json.member("uri", catalog::state_uri(entry ? entry->tool.name : name));
    } else {
        json.member("name", name).member("arguments", *arguments);
    }
    Answer answer;
    mcp::Server server{bench.engine, bench.keeper, settings.server, std::nullopt};
    mcp::Peer peer{server, answer, {}};
    peer.on_text(request(options.state ? "resources/read" : "tools/call", members));
    while (answer.text.empty()) loop.run_once();
    return print(answer.text);
}

}  // namespace mcpd::app
