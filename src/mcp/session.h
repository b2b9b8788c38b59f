#pragma once

#include "data/node.h"
#include "mcp/dialect.h"
#include "mcp/logging.h"

#include <string>

namespace mcpd::mcp {

/// What a client of the older versions has told once and for all. Since 2026-07-28 each request says it itself.
struct Session {
    Version version = kNewestLegacy;
    bool is_initialized = false;
    data::Node capabilities{data::Node::Object{}};
    std::string client;  ///< its name and version, for the log
    Level log_level = Level::Info;
};

}  // namespace mcpd::mcp
