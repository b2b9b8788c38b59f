#include "mcp/state_read.h"

#include "data/json.h"
#include "data/json_writer.h"
#include "mcp/exit_code.h"
#include "mcp/script_log.h"
#include "mcp/server.h"
#include "mcp/tool_result.h"
#include "tool/command_line.h"
#include "util/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace mcpd::mcp {

namespace {

/// Half of a state is none: more than this is an error, unless the operator allows results to be larger.
constexpr std::size_t kMost = 16 * 1024 * 1024;

std::string uri_data(const std::string& uri) {
    std::string data;
    data::JsonWriter{data}.begin_object().member("uri", uri).end_object();
    return data;
}

}  // namespace

StateRead::StateRead(Server& server, Exchange& exchange)
    : server_(server), exchange_(exchange), uri_(*exchange.params().find("uri")->string()) {}

void StateRead::not_found() {
    exchange_.fail(
        {Fault::Kind::ResourceNotFound, "unknown resource " + text::printable(uri_.substr(0, 200)), uri_data(uri_)});
}

void StateRead::start() {
    wait_.reset();
    const auto catalog = server_.keeper().catalog();
    const catalog::Entry* entry = catalog->find_state(uri_);
    if (!entry) return not_found();
    tool_ = entry->tool.name;
    if (!server_.keeper().is_current(tool_)) {
        wait_ = std::make_unique<catalog::Keeper::Wait>(server_.keeper(), tool_,
                                                        Callback<void()>::to<&StateRead::start>(this));
        return;
    }
    if (catalog != server_.keeper().catalog()) return start();

    call_id_ = server_.next_call_id();
    const std::size_t most = std::max(kMost, server_.settings().max_output);
    exec::Job::Listener& self = *this;
    job_ = std::make_unique<exec::Job>(
        server_.engine(), tool::question(entry->tool.source.path, tool_, "--state", server_.settings().around),
        exec::Limits{.timeout = server_.settings().help_timeout, .out = {.head = most, .tail = 0}}, self);
    if (const auto started = job_->start(); !started) {
        exchange_.fail({.kind = Fault::Kind::Script, .message = started.error().message, .code = 503});
    }
}

void StateRead::on_stderr_line(std::string_view line) {
    log_script_line(exchange_, tool_, call_id_, line);
}

void StateRead::on_outcome(exec::Outcome outcome) {
    if (!outcome.is_success()) {
        Fault fault = script_fault(outcome, fmt::format("{}: --state: {}", tool_, describe_failure(outcome)));
        fault.data = uri_data(uri_);
        return exchange_.fail(fault);
    }
    if (outcome.out.is_truncated()) {
        return exchange_.fail({Fault::Kind::Internal,
                               fmt::format("{}: --state printed more than {} bytes", tool_, outcome.out.text.size()),
                               uri_data(uri_)});
    }
    const bool is_json = static_cast<bool>(data::parse_json(outcome.out.text, {.unique_names = false}));
    Reply reply{.cacheable = true};
    data::JsonWriter json{reply.members};
    json.key("contents").begin_array().begin_object().member("uri", uri_);
    json.member("mimeType", is_json ? "application/json" : "text/plain").member("text", outcome.out.text);
    json.end_object().end_array();
    exchange_.reply(reply);
}

}  // namespace mcpd::mcp
