#include "mcp/tool_call.h"

#include "data/json_writer.h"
#include "mcp/exit_code.h"
#include "mcp/script_log.h"
#include "mcp/server.h"
#include "mcp/tool_result.h"
#include "tool/command_line.h"
#include "util/log.h"
#include "util/text.h"

#include <fmt/core.h>

namespace mcpd::mcp {

namespace {

/// So that a result that was cut still says how it ended.
exec::Keep keep(std::size_t most) {
    return {.head = most - most / 2, .tail = most / 2};
}

std::string unknown_tool(const catalog::Catalog& catalog, const std::string& name) {
    std::string message = "unknown tool " + text::printable(name.substr(0, 200));
    std::string near;
    for (const auto& candidate : catalog.nearest(name)) near.append(near.empty() ? "" : ", ").append(candidate);
    if (!near.empty()) message += "; did you mean " + near + "?";
    return message;
}

}  // namespace

ToolCall::ToolCall(Server& server, Exchange& exchange)
    : server_(server), exchange_(exchange), name_(*exchange.params().find("name")->string()) {}

ToolCall::~ToolCall() {
    if (job_ && !is_recorded_) record("cancelled", std::nullopt, {}, 0);
}

void ToolCall::start() {
    if (!server_.keeper().has_been_complete() && !server_.catalog().find(name_)) {
        // It may be one of those that have not been asked yet.
        wait_ = std::make_unique<catalog::Keeper::Wait>(server_.keeper(), "",
                                                        Callback<void()>::to<&ToolCall::look_up>(this));
        return;
    }
    look_up();
}

void ToolCall::look_up() {
    wait_.reset();
    catalog_ = server_.keeper().catalog();
    entry_ = catalog_->find(name_);
    if (!entry_ && known_as_.empty() && catalog_->find_broken(name_)) known_as_ = name_;
    if (entry_) {
        known_as_ = entry_->tool.name;
        was_listed_ = true;
    }
    if (!known_as_.empty() && !server_.keeper().is_current(known_as_)) {
        wait_ = std::make_unique<catalog::Keeper::Wait>(server_.keeper(), known_as_,
                                                        Callback<void()>::to<&ToolCall::look_up>(this));
        return;
    }
    // That look may have found that it has gone, or made another catalog.
    if (catalog_ != server_.keeper().catalog()) return look_up();
    if (!entry_) {
        if (!was_listed_) return exchange_.fail({Fault::Kind::InvalidParams, unknown_tool(*catalog_, name_)});
        const auto* broken = catalog_->find_broken(known_as_);
        return refuse(
            broken ? fmt::format("{}: cannot be run: {}", known_as_, broken->reason) : known_as_ + ": no longer exists",
            broken ? "internal error" : "not found");
    }
    run();
}

void ToolCall::run() {
    const tool::Tool& tool = entry_->tool;
    const data::Node none{data::Node::Object{}};
    const auto* given = exchange_.params().find("arguments");
    checked_ = tool::check_arguments(tool, given && given->object() ? *given : none);
    if (!checked_.complaints.empty()) {
        std::string text;
        for (const auto& complaint : checked_.complaints) text += (text.empty() ? "" : "\n") + complaint;
        return refuse(text, "bad request");
    }

    call_id_ = server_.next_call_id();
    const tool::Run run{.call_id = call_id_, .client_capabilities = data::to_json(exchange_.caller().capabilities)};
    const exec::Limits limits{.timeout = tool.timeout.value_or(server_.settings().timeout),
                              .out = keep(server_.settings().max_output)};
    exec::Job::Listener& self = *this;
    job_ = std::make_unique<exec::Job>(
        server_.engine(), tool::call_command(tool, checked_.options, server_.settings().around, run), limits, self);
    progress_.emplace(server_.engine().loop, exchange_);
    log::debug("{} {}: called with {}", tool.name, call_id_, data::to_json(checked_.options));
    if (const auto started = job_->start({.name = tool.name, .limit = tool.concurrency}); !started) {
        refuse(started.error().message, "service unavailable");
    }
}

void ToolCall::refuse(const std::string& text, std::string_view error) {
    record(error, std::nullopt, {}, 0);
    exchange_.reply(refusal(text, error));
}

void ToolCall::on_stderr_line(std::string_view line) {
    if (const auto progress = read_progress_line(line)) return progress_->report(*progress);
    log_script_line(exchange_, entry_->tool.name, call_id_, line);
}

void ToolCall::on_outcome(exec::Outcome outcome) {
    const std::string_view how = outcome.is_success() ? "ok" : error_name(outcome);
    const auto exit = outcome.end == exec::Outcome::End::Exited ? std::optional{outcome.code} : std::nullopt;
    record(how, exit, outcome.duration, outcome.out.text.size() + outcome.out.omitted);
    log::debug("{} {}: {} after {} ms", entry_->tool.name, call_id_, exec::describe(outcome), outcome.duration.count());
    exchange_.reply(tool_result(std::move(outcome), checked_.ignored));
}

void ToolCall::record(std::string_view outcome, std::optional<int> exit, std::chrono::milliseconds duration,
                      std::uint64_t bytes) {
    is_recorded_ = true;
    if (!server_.audit()) return;
    const auto* given = exchange_.params().find("arguments");
    const std::string arguments = given ? data::to_json(*given) : "{}";
    server_.audit()->record({.client = exchange_.caller().client,
                             .tool = known_as_.empty() ? name_ : known_as_,
                             .outcome = outcome,
                             .exit = exit,
                             .duration = duration,
                             .bytes = bytes,
                             .arguments = arguments});
}

}  // namespace mcpd::mcp
