#pragma once

#include "catalog/keeper.h"
#include "exec/job.h"
#include "mcp/exchange.h"
#include "mcp/progress.h"
#include "tool/arguments.h"

#include <memory>
#include <optional>
#include <string>

namespace mcpd::mcp {

class Server;

/// One `tools/call`: finds the tool, checks the arguments, runs the script, and makes a result of what came of it.
class ToolCall final : public Task, exec::Job::Listener {
public:
    ToolCall(Server& server, Exchange& exchange);
    ~ToolCall() override;

    /// May answer at once.
    void start();

private:
    void look_up();
    void run();
    void refuse(const std::string& text, std::string_view error);
    void on_stderr_line(std::string_view line) override;
    void on_outcome(exec::Outcome outcome) override;
    void record(std::string_view outcome, std::optional<int> exit, std::chrono::milliseconds duration,
                std::uint64_t bytes);

    Server& server_;
    Exchange& exchange_;
    std::string name_;  ///< as the client wrote it

    /// The tool as it was when it was looked up: a reload changes nothing for a call that runs.
    std::shared_ptr<const catalog::Catalog> catalog_;
    const catalog::Entry* entry_ = nullptr;
    std::string known_as_;     ///< its path, also when it has gone or is broken
    bool was_listed_ = false;  ///< clients knew it when the call came

    std::unique_ptr<catalog::Keeper::Wait> wait_;
    std::string call_id_;
    tool::Checked checked_;
    bool is_recorded_ = false;
    std::optional<Progress> progress_;
    std::unique_ptr<exec::Job> job_;
};

}  // namespace mcpd::mcp
