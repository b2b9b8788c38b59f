#pragma once

#include <string>

namespace mcpd::mcp {

/// Why a request gets an error instead of a result. The number that stands for a kind depends on the version spoken: see
/// Dialect.
struct Fault {
    enum class Kind {
        Parse,
        InvalidRequest,
        MethodNotFound,
        InvalidParams,
        Internal,
        ResourceNotFound,
        UnsupportedVersion,
        Script,  ///< `code` is what the script's exit code stands for
    };

    Kind kind = Kind::Internal;
    std::string message;
    std::string data = {};  ///< JSON; empty: none
    int code = 0;
};

}  // namespace mcpd::mcp
