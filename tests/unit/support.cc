#include "support.h"

#include "loop/timer.h"
#include "util/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace mcpd;

namespace {

struct Flag {
    void raise() { raised = true; }
    bool raised = false;
};

}  // namespace

World::World(exec::Queue::Size size) {
    auto loop = loop::Loop::open();
    REQUIRE(loop);
    loop_ = std::move(*loop);
    engine_ = std::make_unique<exec::Engine>(*loop_, size);
    char name[] = "/tmp/mcpd-test-XXXXXX";
    REQUIRE(mkdtemp(name));
    directory_ = name;
}

World::~World() {
    Flag finished{.raised = finished_};
    engine_->terminator.finish(Callback<void()>::to<&Flag::raise>(&finished));
    const bool ended = wait([&] { return finished.raised; });
    CHECK(ended);
    CHECK(engine_->queue.running() == 0);
    CHECK(engine_->reaper.enrolled() == 0);
    CHECK(count_children() == 0);
    engine_.reset();
    loop_.reset();
    std::filesystem::remove_all(directory_);
}

std::string World::script(const std::string& name, const std::string& text, unsigned mode) {
    const std::string file = path(name);
    std::ofstream{file} << text;
    chmod(file.c_str(), mode);
    return file;
}

bool World::wait(const std::function<bool()>& condition, std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    Flag tick;
    loop::Timer timer{*loop_, Callback<void()>::to<&Flag::raise>(&tick)};
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        // The condition may be about something the loop does not hear of.
        timer.start(std::chrono::milliseconds{2});
        loop_->run_once();
    }
    return true;
}

exec::Outcome World::run(exec::Command command, exec::Limits limits) {
    Recorder recorder{*this, std::move(command), limits};
    REQUIRE(recorder.start());
    return recorder.outcome();
}

Recorder::Recorder(World& world, exec::Command command, exec::Limits limits) : world_(world) {
    exec::Job::Listener& self = *this;
    job = std::make_unique<exec::Job>(world.engine(), std::move(command), limits, self);
}

exec::Outcome& Recorder::outcome() {
    REQUIRE(world_.wait([&] { return reports > 0; }));
    CHECK(reports == 1);
    return outcome_;
}

void Recorder::on_stderr_line(std::string_view line) {
    if (keep_lines) lines.emplace_back(line);
    if (on_line) on_line(line);
}

void Recorder::on_outcome(exec::Outcome outcome) {
    reports++;
    outcome_ = std::move(outcome);
}

exec::Command misbehave(std::vector<std::string> arguments) {
    static const std::string program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("misbehave");
    return {.program = program, .arguments = std::move(arguments)};
}

bool is_held(const std::string& lock) {
    const UniqueFd fd{open(lock.c_str(), O_RDWR | O_CLOEXEC)};
    return fd && flock(fd.get(), LOCK_EX | LOCK_NB) < 0;
}

std::size_t count_descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) count++;
    return count - 1;  // the directory itself
}

std::size_t count_children() {
    std::size_t count = 0;
    for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::istringstream list{slurp(thread.path() / "children")};
        for (std::string pid; list >> pid;) count++;
    }
    return count;
}

std::size_t resident_bytes() {
    std::istringstream fields{slurp("/proc/self/statm")};
    std::size_t total = 0, resident = 0;
    fields >> total >> resident;
    return resident * static_cast<std::size_t>(getpagesize());
}

std::string slurp(const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}
