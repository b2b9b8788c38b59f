#pragma once

#include "exec/engine.h"
#include "exec/job.h"
#include "loop/loop.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A private world for a test: a loop, an engine, a directory. When it ends, everything that was started is ended, and
/// nothing may be left: no process, no handle.
class World {
public:
    explicit World(mcpd::exec::Queue::Size size = {});
    ~World();

    mcpd::loop::Loop& loop() { return *loop_; }
    mcpd::exec::Engine& engine() { return *engine_; }

    /// A path below the world's own directory.
    std::string path(const std::string& name) const { return directory_ + "/" + name; }

    /// Writes an executable file and returns its path.
    std::string script(const std::string& name, const std::string& text, unsigned mode = 0755);

    /// Runs the loop until the condition holds; false when it did not in time.
    bool wait(const std::function<bool()>& condition, std::chrono::milliseconds deadline = std::chrono::seconds{20});

    /// The test has called Terminator::finish() itself.
    void expect_finished() { finished_ = true; }

    /// Runs one command to its outcome.
    mcpd::exec::Outcome run(mcpd::exec::Command command, mcpd::exec::Limits limits = {});

private:
    std::unique_ptr<mcpd::loop::Loop> loop_;
    std::unique_ptr<mcpd::exec::Engine> engine_;
    std::string directory_;
    bool finished_ = false;
};

/// A job and all that it reported.
class Recorder final : mcpd::exec::Job::Listener {
public:
    Recorder(World& world, mcpd::exec::Command command, mcpd::exec::Limits limits = {});

    mcpd::Result<void> start(mcpd::exec::Queue::Kind kind = {}) { return job->start(std::move(kind)); }

    /// Waits for the outcome.
    mcpd::exec::Outcome& outcome();

    std::unique_ptr<mcpd::exec::Job> job;
    std::vector<std::string> lines;
    bool keep_lines = true;
    int reports = 0;
    std::function<void(std::string_view)> on_line;

private:
    void on_stderr_line(std::string_view line) override;
    void on_outcome(mcpd::exec::Outcome outcome) override;

    World& world_;
    mcpd::exec::Outcome outcome_;
};

/// The program that misbehaves on request.
mcpd::exec::Command misbehave(std::vector<std::string> arguments);

/// The helper takes a lock while it lives: is it there?
bool is_held(const std::string& lock);

/// This process's open descriptors, its children (zombies among them), its resident memory.
std::size_t count_descriptors();
std::size_t count_children();
std::size_t resident_bytes();

std::string slurp(const std::string& path);
