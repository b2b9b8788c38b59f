#pragma once

#include "app/options.h"
#include "catalog/keeper.h"
#include "exec/queue.h"
#include "mcp/server.h"

#include <optional>

namespace mcpd::app {

/// What the parts of the program are told, made from the options once they have been checked against the world.
struct Settings {
    catalog::Keeper::Settings keeper;
    mcp::Server::Settings server;
    exec::Queue::Size queue;
    std::size_t max_request;
};

/// A failure, and what the program exits with.
struct Refusal {
    int status;
    std::string message;
};

/// Fails when a directory or file that was named is not there, may not be used, or would be a mistake to serve.
std::optional<Refusal> make_settings(const Options& options, const char* const* environment, Settings& into);

}  // namespace mcpd::app
