#pragma once

#include "catalog/keeper.h"
#include "exec/job.h"
#include "mcp/exchange.h"

#include <memory>
#include <string>

namespace mcpd::mcp {

class Server;

/// One `resources/read` of a script's state: asks the script with `--state`.
class StateRead final : public Task, exec::Job::Listener {
public:
    StateRead(Server& server, Exchange& exchange);

    /// May answer at once.
    void start();

private:
    void on_stderr_line(std::string_view line) override;
    void on_outcome(exec::Outcome outcome) override;
    void not_found();

    Server& server_;
    Exchange& exchange_;
    std::string uri_;
    std::string tool_;
    std::string call_id_;
    std::unique_ptr<catalog::Keeper::Wait> wait_;
    std::unique_ptr<exec::Job> job_;
};

}  // namespace mcpd::mcp
