#pragma once

#include "app/settings.h"
#include "catalog/keeper.h"
#include "exec/engine.h"
#include "loop/deferred.h"
#include "loop/loop.h"
#include "loop/signals.h"
#include "loop/stream.h"
#include "mcp/server.h"
#include "transport/line_peer.h"

#include <memory>
#include <optional>

namespace mcpd::app {

/// The program while it serves: owns everything, in this order.
class Daemon final : transport::LinePeer::Listener {
public:
    /// `guessed`: nobody said --stdio.
    Daemon(loop::Loop& loop, Settings settings, std::optional<mcp::Audit> audit, bool guessed);
    ~Daemon();

    /// Until the client has gone, or a signal says so. What the program exits with.
    int run();

private:
    void on_gone() override;
    void on_signal(int number);
    void stop();
    void stop_now();
    void on_finished();

    loop::Loop& loop_;
    Settings settings_;
    bool guessed_;
    bool stopping_ = false;
    int status_ = 0;
    loop::StandardFlags flags_;
    exec::Engine engine_;
    std::unique_ptr<catalog::Keeper> keeper_;
    std::unique_ptr<mcp::Server> server_;
    std::unique_ptr<transport::LinePeer> stdio_;
    loop::Deferred stop_now_;
    loop::Signals signals_;
};

}  // namespace mcpd::app
