#pragma once

#include "data/node.h"
#include "util/result.h"

#include <span>
#include <string_view>

namespace mcpd::data {

/// How deep arrays and objects may nest.
inline constexpr int kJsonDepth = 128;

struct JsonOptions {
    /// A name may occur once in an object. The grammar does not ask for it; but of two values one reader checks the first
    /// and another uses the last. Off: for texts that nobody decides anything by.
    bool unique_names = true;

    /// Give each node its line: for files that people write.
    bool lines = false;

    /// Names of members whose values keep their source text, wherever they occur: for what must go out again byte for
    /// byte, such as request ids (`1e2` would come back as `100.0`) and schemas.
    std::span<const std::string_view> raw = {};
};

/// Reads one JSON text, the whole of it: anything that is not JSON anywhere in it is an error that says where. Numbers
/// must fit: integers have 64 bits, others are finite doubles.
Result<Node> parse_json(std::string_view text, const JsonOptions& options = {});

}  // namespace mcpd::data
