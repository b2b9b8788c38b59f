#include "loop/signals.h"
#include "support.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

using namespace mcpd;
using namespace std::chrono_literals;

namespace {

constexpr auto kGrace = exec::Terminator::kGrace;

/// Starts the helper, waits until it holds its lock, and cancels it.
void cancel(World& world, std::vector<std::string> arguments) {
    const std::string lock = arguments.back();
    Recorder recorder{world, misbehave(std::move(arguments))};
    REQUIRE(recorder.start());
    REQUIRE(world.wait([&] { return is_held(lock); }));
    recorder.job.reset();
}

bool is_dead(World& world, const std::string& lock, std::chrono::milliseconds within) {
    return world.wait([&] { return !is_held(lock); }, within);
}

}  // namespace

TEST_CASE("a cancelled process gets TERM, and the time to tidy up", "[end]") {
    World world;
    cancel(world, {"goodbye", world.path("lock")});
    CHECK(is_dead(world, world.path("lock"), kGrace / 2));
}

TEST_CASE("one that ignores TERM is killed after the grace", "[end]") {
    World world;
    cancel(world, {"ignore-term", world.path("lock")});
    CHECK_FALSE(is_dead(world, world.path("lock"), kGrace / 2));
    CHECK(is_dead(world, world.path("lock"), kGrace));
}

TEST_CASE("TERM goes to the whole group", "[end]") {
    World world;
    const std::string lock = world.path("lock");
    const std::string helper = misbehave({}).program;
    const auto script = world.script("script", "#!/bin/sh\n" + helper + " goodbye " + lock + " & wait\n");
    Recorder recorder{world, {.program = script}};
    REQUIRE(recorder.start());
    REQUIRE(world.wait([&] { return is_held(lock); }));
    recorder.job.reset();
    CHECK(is_dead(world, lock, kGrace / 2));
}

TEST_CASE("a stopped process is ended too", "[end]") {
    World world;
    cancel(world, {"stop", world.path("lock")});
    CHECK(is_dead(world, world.path("lock"), kGrace / 2));

    const auto timed_out = world.run(misbehave({"stop", world.path("lock2")}), {.timeout = 200ms});
    CHECK(timed_out.end == exec::Outcome::End::TimedOut);
    CHECK(is_dead(world, world.path("lock2"), kGrace * 2));
}

TEST_CASE("a daemon that a cancelled process left behind is found and killed", "[end]") {
    World world;
    cancel(world, {"escape", world.path("lock")});
    CHECK(is_dead(world, world.path("lock"), kGrace * 2));
    CHECK(world.wait([&] { return world.engine().terminator.size() == 0; }));
}

TEST_CASE("one that also emptied its environment and changed its name is found", "[end]") {
    World world;
    const std::string lock = world.path("lock");
    cancel(world, {"escape-bare", lock});
    CHECK(is_dead(world, lock, kGrace * 2));
}

TEST_CASE("a cancel kills what its own call left behind, and nobody else's", "[end]") {
    World world;
    const std::string other = world.path("other"), mine = world.path("mine");
    CHECK(world.run(misbehave({"escape-and-exit", other})).is_success());
    Recorder running{world, misbehave({"ignore-term", world.path("running")})};
    REQUIRE(running.start());
    cancel(world, {"escape", mine});
    CHECK(is_dead(world, mine, kGrace * 2));
    CHECK(is_held(other));  // left alone, because its call ended well
    CHECK(is_held(world.path("running")));
    CHECK(running.reports == 0);
}

TEST_CASE("orphans that end by themselves are reaped", "[end]") {
    World world;
    const auto script = world.script("script", "#!/bin/sh\n(sleep 0.1 &) >/dev/null 2>&1\n");
    for (int i = 0; i < 5; i++)
        CHECK(world.run({.program = script, .environment = {"PATH=/usr/bin:/bin"}}).is_success());
    CHECK(world.wait([&] { return count_children() == 0; }, 5s));
}

TEST_CASE("finishing ends everything that descends from us", "[end]") {
    const std::string lock = "/tmp/mcpd-test-lock-" + std::to_string(getpid());
    {
        World world;
        CHECK(world.run(misbehave({"escape-and-exit", lock})).is_success());
        CHECK(is_held(lock));
    }
    CHECK_FALSE(is_held(lock));
    unlink(lock.c_str());
}

TEST_CASE("finishing is reported once, however often it is asked for", "[end]") {
    World world;
    struct Count {
        void add() { count++; }
        int count = 0;
    } finished;
    CHECK(world.run(misbehave({"escape-and-exit", world.path("lock")})).is_success());
    for (int i = 0; i < 3; i++) world.engine().terminator.finish(Callback<void()>::to<&Count::add>(&finished));
    CHECK(world.wait([&] { return finished.count > 0; }, kGrace * 2));
    CHECK_FALSE(is_held(world.path("lock")));
    CHECK_FALSE(world.wait([&] { return finished.count > 1; }, 100ms));
    world.expect_finished();
}

TEST_CASE("one that made itself our child by CLONE_PARENT is found", "[end]") {
    World world;
    Recorder busy{world, misbehave({"sleep", "1"})};  // so that the thread does the starting
    REQUIRE(busy.start());
    cancel(world, {"clone-parent", world.path("lock")});
    CHECK(is_dead(world, world.path("lock"), kGrace * 2));
    CHECK(world.wait([&] { return world.engine().terminator.size() == 0; }, kGrace * 2));
}

TEST_CASE("an orphan that could not be looked at is looked at again", "[end]") {
    World world;
    const std::string lock = world.path("lock");
    Recorder recorder{world, misbehave({"escape", lock})};
    REQUIRE(recorder.start());
    REQUIRE(world.wait([&] { return is_held(lock); }));
    rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{3, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const auto blind = world.engine().reaper.orphans();
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK_FALSE(blind.settled);
    REQUIRE(world.engine().reaper.orphans().settled);
    recorder.job.reset();
    CHECK(is_dead(world, lock, kGrace * 2));
}

TEST_CASE("an owner that goes before its process is there leaves nothing", "[end]") {
    World world;
    Recorder busy{world, misbehave({"sleep", "1"})};  // so that the thread does the starting
    REQUIRE(busy.start());
    for (int i = 0; i < 50; i++) {
        Recorder recorder{world, misbehave({"sleep", "30"})};
        REQUIRE(recorder.start());
        world.loop().run_once();
    }
    busy.outcome();
    CHECK(world.wait([&] { return world.engine().reaper.enrolled() == 0 && count_children() == 0; }, kGrace * 2));
}

TEST_CASE("a child destroyed without anyone to take it is killed and reaped", "[end]") {
    World world;
    struct Nobody final : loop::Child::Listener {
        void on_started() override {}
        void on_start_failed(loop::LaunchFailure) override {}
        void on_output(loop::Child::Output, std::string_view) override {}
        void on_output_end() override {}
        void on_exit(loop::ExitStatus) override {}
    } nobody;
    const auto command = misbehave({"ignore-term", world.path("lock")});
    const std::vector<std::string> argv{command.program, command.arguments[0], command.arguments[1]}, none;
    const std::string here;
    const loop::Child::Spec spec{
        .program = command.program, .argv = argv, .environment = none, .directory = here, .input = {}};
    for (const bool running : {true, false}) {
        auto child = std::make_unique<loop::Child>(world.loop(), world.engine().spawner, nobody);
        child->start(spec);
        if (running) REQUIRE(world.wait([&] { return is_held(world.path("lock")); }));
        child.reset();
        CHECK(world.wait([&] { return world.engine().reaper.enrolled() == 0; }, 5s));
        CHECK_FALSE(is_held(world.path("lock")));
    }
}

namespace {
std::atomic<int> terms_received{0};
}

TEST_CASE("TERM to a group in the instant after its birth never reaches us", "[birth]") {
    World world;
    struct sigaction ours {
    }, before{};
    ours.sa_handler = [](int) { terms_received++; };
    sigaction(SIGTERM, &ours, &before);

    // Another thread that kills whatever becomes our child, as fast as it can see it.
    std::atomic<bool> stop{false};
    std::atomic<int> hits{0};
    std::jthread hunter{[&] {
        const std::string own = "/proc/self/task/" + std::to_string(getpid()) + "/children";
        const UniqueFd list{open(own.c_str(), O_RDONLY | O_CLOEXEC)};
        char text[256];
        while (!stop) {
            const ssize_t size = pread(list.get(), text, sizeof text - 1, 0);
            if (size <= 0) continue;
            text[size] = '\0';
            const pid_t pid = static_cast<pid_t>(atoi(text));
            if (pid > 0 && kill(-pid, SIGTERM) == 0) hits++;
        }
    }};
    int killed = 0, survived = 0;
    for (int i = 0; i < 10'000; i++) {
        const auto outcome = world.run(misbehave({"exit", "0"}));
        if (outcome.end == exec::Outcome::End::Signalled && outcome.code == SIGTERM) {
            killed++;
        } else {
            CHECK(outcome.is_success());
            survived++;
        }
    }
    stop = true;
    hunter.join();
    sigaction(SIGTERM, &before, nullptr);
    CHECK(terms_received == 0);
    CHECK(hits >= killed);
    // The test is about nothing unless it hit often.
    CHECK(killed > 1000);
    INFO(killed << " killed, " << survived << " survived");
}
