#pragma once

#include "data/node.h"
#include "util/result.h"

#include <span>
#include <string_view>

namespace mcpd::data {

/// How deep arrays and objects may nest.
inline constexpr int kJsonDepth = 128;

struct JsonOptions {
    /// Give each node its line: for files that people write.
    bool lines = false;

    /// Names of members whose values keep their source text, wherever they occur: for what must go out again byte for
    /// byte, such as request ids (`1e2` would come back as `100.0`) and schemas.
    std::span<const std::string_view> raw = {};
};

/// Reads one JSON text, the whole of it: anything that is not JSON anywhere in it is an error that says where.
///
/// Stricter than the grammar in two ways, because what is checked here is used elsewhere: a name may occur once in an
/// object (others would take the other value), and numbers must fit (64 bits, or a finite double).
Result<Node> parse_json(std::string_view text, const JsonOptions& options = {});

}  // namespace mcpd::data
