#include "mcp/page.h"

namespace mcpd::mcp {

namespace {
constexpr std::string_view kPrefix = "after:";
}

bool read_cursor(Exchange& exchange, std::string& after) {
    const auto* cursor = exchange.params().find("cursor");
    if (!cursor || cursor->is_null()) return true;
    if (!cursor->string() || !cursor->string()->starts_with(kPrefix)) {
        exchange.fail({Fault::Kind::InvalidParams, "cursor: not one that this server gave out"});
        return false;
    }
    after = cursor->string()->substr(kPrefix.size());
    return true;
}

std::string make_cursor(std::string_view last) {
    return std::string{kPrefix}.append(last);
}

}  // namespace mcpd::mcp
