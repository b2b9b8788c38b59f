#include "exec/outcome.h"

#include <fmt/core.h>

#include <cstring>

namespace mcpd::exec {

std::string describe(const Outcome& outcome) {
    switch (outcome.end) {
        case Outcome::End::Exited:
            if (!outcome.reason.empty()) return fmt::format("exit code {}: {}", outcome.code, outcome.reason);
            return fmt::format("exit code {}", outcome.code);
        case Outcome::End::Signalled: {
            const char* name = sigabbrev_np(outcome.code);
            return name ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", outcome.code);
        }
        case Outcome::End::TimedOut: {
            const auto tenths = outcome.duration.count() / 100;
            const std::string fraction = tenths % 10 ? fmt::format(".{}", tenths % 10) : "";
            return fmt::format("timed out after {}{} s", tenths / 10, fraction);
        }
        case Outcome::End::Cancelled: return "cancelled";
        case Outcome::End::NotStarted: break;
    }
    return outcome.reason;
}

}  // namespace mcpd::exec
