#include "mcp/tool_result.h"

#include "data/json_writer.h"
#include "mcp/exit_code.h"
#include "util/text.h"
#include "util/utf8.h"

#include <fmt/core.h>

namespace mcpd::mcp {

namespace {

using data::JsonWriter;
using End = exec::Outcome::End;

void write_text(JsonWriter& json, std::string_view text) {
    json.begin_object().member("type", "text").member("text", text).end_object();
}

/// What it printed, without the line end that every program adds, and with a note where some of it is missing.
std::string output_text(exec::Captured& out) {
    if (out.is_truncated()) {
        out.text.insert(out.cut, fmt::format("\n[… {} bytes left out …]\n", out.omitted));
    }
    if (out.text.ends_with('\n')) out.text.pop_back();
    if (out.text.ends_with('\r')) out.text.pop_back();
    return std::move(out.text);
}

std::string end_in_words(const exec::Outcome& outcome) {
    if (outcome.end == End::Exited) {
        return fmt::format("exit code {}: {}", outcome.code,
                           outcome.reason.empty() ? exit_name(outcome.code) : outcome.reason);
    }
    if (outcome.end == End::TimedOut) return describe(outcome) + "; set \"timeout\" in the script's metadata";
    return describe(outcome);
}

}  // namespace

std::string describe_failure(const exec::Outcome& outcome) {
    std::string text = end_in_words(outcome);
    const auto said = text::trim(utf8::trim_start(outcome.err.text));
    if (!said.empty()) text.append("\n").append(said);
    return text;
}

Reply tool_result(exec::Outcome outcome, const std::vector<std::string>& ignored) {
    Reply reply;
    JsonWriter json{reply.members};
    json.key("content").begin_array();
    const std::string text = output_text(outcome.out);
    if (outcome.is_success() || !text.empty()) write_text(json, text);
    if (!outcome.is_success()) write_text(json, describe_failure(outcome));
    json.end_array().member("isError", !outcome.is_success());

    JsonWriter meta{reply.meta};
    if (outcome.end == End::Exited) meta.member("mcpd/exitCode", outcome.code);
    if (!outcome.is_success()) meta.member("mcpd/error", error_name(outcome));
    meta.member("mcpd/durationMs", std::int64_t{outcome.duration.count()});
    if (outcome.out.is_truncated()) meta.member("mcpd/truncated", outcome.out.omitted);
    if (!ignored.empty()) {
        meta.key("mcpd/ignored").begin_array();
        for (const auto& name : ignored) meta.value(name);
        meta.end_array();
    }
    return reply;
}

Reply refusal(std::string_view text, std::string_view error) {
    Reply reply;
    JsonWriter json{reply.members};
    json.key("content").begin_array();
    write_text(json, text);
    json.end_array().member("isError", true);
    JsonWriter{reply.meta}.member("mcpd/error", error);
    return reply;
}

}  // namespace mcpd::mcp
