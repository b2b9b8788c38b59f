#pragma once

#include "loop/timer.h"
#include "mcp/exchange.h"

#include <optional>
#include <string>
#include <string_view>

namespace mcpd::mcp {

/// `PROGRESS 3/10 text` or `PROGRESS 30% text`, as scripts write it.
struct ProgressLine {
    double done;
    double total;
    std::string_view text;
};

/// Nothing for any other line, and for one that cannot be read.
std::optional<ProgressLine> read_progress_line(std::string_view line);

/// Tells a client that asked for it how far its call is; a call that says nothing of itself shows that it is alive.
class Progress {
public:
    Progress(loop::Loop& loop, Exchange& exchange);

    /// Values that do not rise are kept back: the protocol wants them to.
    void report(const ProgressLine& line);

private:
    void on_beat();
    void send(double done, std::optional<double> total, std::string_view text);

    Exchange& exchange_;
    std::string token_;  ///< as the client wrote it; empty: it did not ask
    std::optional<double> last_;
    loop::Timer beat_;
};

}  // namespace mcpd::mcp
