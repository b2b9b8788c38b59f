#include "catalog/probe.h"

#include "util/text.h"

#include <fmt/core.h>

namespace mcpd::catalog {

namespace {

/// More than that is no description.
constexpr std::size_t kMost = 1024 * 1024;

constexpr exec::Keep kWhole{.head = kMost, .tail = 0};

/// The last line of what it said on stderr, where programs say what went wrong.
std::string last_words(const exec::Outcome& outcome) {
    const auto said = text::trim(outcome.err.text);
    if (said.empty()) return {};
    const auto line = said.substr(said.rfind('\n') + 1);
    return ": " + text::printable(line.substr(0, 200));
}

}  // namespace

Probe::Probe(exec::Engine& engine, Candidate candidate, const tool::Surroundings& around,
             std::chrono::milliseconds limit, Listener& listener)
    : candidate_(std::move(candidate)),
      limit_(limit),
      listener_(listener),
      job_(engine, tool::question(candidate_.source.path, candidate_.name, "--help", around),
           {.timeout = limit, .out = kWhole, .err = kWhole}, *this) {}

void Probe::start() {
    // Few are asked at once, so the line is never full of them; if others have filled it, that is an outcome too.
    if (const auto started = job_.start(); !started) {
        on_outcome({.end = exec::Outcome::End::NotStarted, .reason = started.error().message});
    }
}

void Probe::on_outcome(exec::Outcome outcome) {
    listener_.on_probed(*this, read(outcome));
}

Result<define::Definition> Probe::read(const exec::Outcome& outcome) const {
    using End = exec::Outcome::End;
    const auto fail = [](std::string reason) { return Error{Code::Invalid, std::move(reason)}; };
    if (outcome.end == End::TimedOut) {
        return fail(fmt::format("--help did not end within {} s", static_cast<double>(limit_.count()) / 1000));
    }
    if (outcome.end == End::NotStarted) return fail(outcome.reason);
    if (outcome.end == End::Exited && outcome.code != 0) {
        const std::string why = outcome.reason.empty() ? last_words(outcome) : ": " + outcome.reason;
        return fail(fmt::format("--help exited with {}{}", outcome.code, why));
    }
    if (!outcome.is_success())
        return fail(fmt::format("--help was {}{}", exec::describe(outcome), last_words(outcome)));
    if (outcome.out.is_truncated() || outcome.err.is_truncated()) return fail("--help printed more than 1 MiB");
    auto definition = define::read_script_help(candidate_.name, outcome.out.text, outcome.err.text);
    if (definition) definition->tool.source = candidate_.source;
    return definition;
}

}  // namespace mcpd::catalog
