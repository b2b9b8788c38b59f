#pragma once

#include "catalog/scan.h"
#include "define/script_help.h"
#include "exec/job.h"
#include "tool/command_line.h"

#include <chrono>

namespace mcpd::catalog {

/// Asks one script what it is. Destroying it is how one stops asking.
class Probe final : exec::Job::Listener {
public:
    class Listener {
    public:
        /// Once, later. The error is a reason without the script's name. May destroy the Probe.
        virtual void on_probed(Probe& probe, Result<define::Definition> result) = 0;

    protected:
        ~Listener() = default;
    };

    Probe(exec::Engine& engine, Candidate candidate, const tool::Surroundings& around, std::chrono::milliseconds limit,
          Listener& listener);

    void start();

    const Candidate& candidate() const { return candidate_; }

private:
    void on_stderr_line(std::string_view) override {}
    void on_outcome(exec::Outcome outcome) override;
    Result<define::Definition> read(const exec::Outcome& outcome) const;

    Candidate candidate_;
    std::chrono::milliseconds limit_;
    Listener& listener_;
    exec::Job job_;
};

}  // namespace mcpd::catalog
