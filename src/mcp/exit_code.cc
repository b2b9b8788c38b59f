#include "mcp/exit_code.h"

#include <array>

namespace mcpd::mcp {

namespace {

struct Meaning {
    std::string_view name;
    int code;
};

constexpr int kInternal = -32603;
constexpr int kTimeout = 9;
constexpr int kNotFound = 4;
constexpr std::array<Meaning, 10> kMeanings{{{"success", 0},
                                             {"internal error", kInternal},
                                             {"bad request", -32602},
                                             {"forbidden", 403},
                                             {"not found", 0},
                                             {"service unavailable", 503},
                                             {"not acceptable", 406},
                                             {"not implemented", 501},
                                             {"conflict", 409},
                                             {"timeout", 408}}};

const Meaning& meaning_of(int code) {
    return kMeanings[code >= 0 && code < static_cast<int>(kMeanings.size()) ? static_cast<std::size_t>(code) : 1];
}

/// The exit code that says the same as this end.
int equivalent(const exec::Outcome& outcome) {
    switch (outcome.end) {
        case exec::Outcome::End::Exited: return outcome.code;
        case exec::Outcome::End::TimedOut: return kTimeout;
        default: return 1;
    }
}

}  // namespace

std::string_view exit_name(int code) {
    return meaning_of(code).name;
}

std::string_view error_name(const exec::Outcome& outcome) {
    return meaning_of(equivalent(outcome)).name;
}

Fault script_fault(const exec::Outcome& outcome, std::string message) {
    const int code = equivalent(outcome);
    if (code == kNotFound) return {Fault::Kind::ResourceNotFound, std::move(message)};
    return {.kind = Fault::Kind::Script, .message = std::move(message), .code = meaning_of(code).code};
}

}  // namespace mcpd::mcp
