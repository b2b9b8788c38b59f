#include "data/json_writer.h"
#include "support.h"

#include <sys/resource.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>

using namespace mcpd;
using exec::Command;
using exec::Limits;
using exec::Outcome;
using namespace std::chrono_literals;

namespace {

Command shell(std::string text) {
    return {.program = "/bin/sh", .arguments = {"-c", std::move(text)}, .environment = {"PATH=/usr/bin:/bin"}};
}

}  // namespace

TEST_CASE("a command runs to its outcome", "[exec]") {
    World world;
    const auto outcome = world.run(shell("cat; echo to stderr >&2; exit 4"));
    CHECK(outcome.end == Outcome::End::Exited);
    CHECK(outcome.code == 4);
    CHECK_FALSE(outcome.is_success());
    CHECK(outcome.out.text.empty());
    CHECK(outcome.err.text == "to stderr\n");
    CHECK(exec::describe(outcome) == "exit code 4");
}

TEST_CASE("every exit code is told, and death by signal apart from it", "[exec]") {
    World world;
    for (const int code : {0, 1, 9, 127, 255}) {
        const auto outcome = world.run(misbehave({"exit", std::to_string(code)}));
        CHECK(outcome.end == Outcome::End::Exited);
        CHECK(outcome.code == code);
    }
    const auto killed = world.run(misbehave({"die", std::to_string(SIGSEGV)}));
    CHECK(killed.end == Outcome::End::Signalled);
    CHECK(killed.code == SIGSEGV);
    CHECK(exec::describe(killed) == "killed by SIGSEGV");
}

TEST_CASE("an outcome is put in words", "[exec]") {
    using End = Outcome::End;
    CHECK(exec::describe({.end = End::TimedOut, .duration = 300'012ms}) == "timed out after 300 s");
    CHECK(exec::describe({.end = End::TimedOut, .duration = 2'540ms}) == "timed out after 2.5 s");
    CHECK(exec::describe({.end = End::Signalled, .code = 40}) == "killed by signal 40");
    CHECK(exec::describe({.end = End::NotStarted, .reason = "x: is not there"}) == "x: is not there");
}

TEST_CASE("it gets its arguments, environment and directory, and nothing of ours", "[exec]") {
    World world;
    auto command = misbehave({"print", "a b", "", "$(id)", "grün"});
    command.environment = {"ONE=1", "TWO=a\nb"};
    command.working_directory = "/usr";
    setenv("SECRET_OF_THE_DAEMON", "x", 1);
    CHECK(world.run(command).out.text ==
          "argument a b\nargument \nargument $(id)\nargument grün\nenvironment ONE=1\nenvironment TWO=a\nb\n"
          "directory /usr\n");
}

TEST_CASE("input arrives whole, and then ends", "[exec]") {
    World world;
    for (const std::size_t size : {0u, 1u, 4096u, 65536u, 65537u, 1'000'000u}) {
        auto command = misbehave({"count-input"});
        command.input = std::string(size, 'i');
        CHECK(world.run(command).out.text == std::to_string(size) + "\n");
    }
    CHECK(world.run(misbehave({"count-input"})).out.text == "0\n");  // /dev/null
}

TEST_CASE("a command that exits before it has read its input is fine", "[exec]") {
    World world;
    auto command = misbehave({"exit", "0"});
    command.input = std::string(10'000'000, 'i');
    CHECK(world.run(command).is_success());
}

TEST_CASE("ten megabytes of input to one that never reads wait, and end with the timeout", "[exec]") {
    World world;
    auto command = misbehave({"never-read", world.path("lock")});
    command.input = std::string(10'000'000, 'i');
    const auto outcome = world.run(command, {.timeout = 200ms});
    CHECK(outcome.end == Outcome::End::TimedOut);
    CHECK(outcome.out.text == "waiting\n");
    CHECK(world.wait([&] { return !is_held(world.path("lock")); }));
}

TEST_CASE("more than a pipe holds on both outputs at once comes through", "[exec]") {
    World world;
    const auto outcome = world.run(misbehave({"spew", "300000"}), {.err = {.head = 400'000, .tail = 0}});
    CHECK(outcome.is_success());
    CHECK(outcome.out.text.size() == 300'000);
    CHECK(outcome.err.text.size() == 300'000);
    CHECK_FALSE(outcome.out.is_truncated());
}

TEST_CASE("a flood is cut, and costs no memory", "[exec]") {
    World world;
    world.run(misbehave({"spew", "1000000"}));
    const auto before = resident_bytes();
    Recorder recorder{world, misbehave({"spew", "50000000"}), {.out = {.head = 1000, .tail = 1000}}};
    recorder.keep_lines = false;
    REQUIRE(recorder.start());
    const auto& outcome = recorder.outcome();
    CHECK(outcome.is_success());  // it is not killed for it
    CHECK(outcome.out.text.size() == 2000);
    CHECK(outcome.out.omitted == 50'000'000 - 2000);
    CHECK(outcome.err.text.size() == 4096);
    CHECK(resident_bytes() < before + 4 * 1024 * 1024);
}

TEST_CASE("a line of stderr without an end is cut, and the next one is whole", "[exec]") {
    World world;
    Recorder recorder{world, misbehave({"huge-line", "2000000"})};
    REQUIRE(recorder.start());
    CHECK(recorder.outcome().is_success());
    REQUIRE(recorder.lines.size() == 2);
    std::string expected(65536, 'y');
    expected += " … (" + std::to_string(2000000 - 65536) + " bytes more)";
    CHECK(recorder.lines[0] == expected);
    CHECK(recorder.lines[1] == "short");
}

TEST_CASE("lines of stderr come while the command runs", "[exec]") {
    World world;
    Recorder recorder{world, shell("echo first >&2; read -r wait; echo second >&2; printf last >&2")};
    REQUIRE(recorder.start());
    recorder.outcome();
    CHECK(recorder.lines == std::vector<std::string>{"first", "second", "last"});

    Recorder slow{world, shell("echo early >&2; sleep 30")};
    REQUIRE(slow.start());
    REQUIRE(world.wait([&] { return slow.lines.size() == 1; }, 5s));
    CHECK(slow.reports == 0);
}

TEST_CASE("a script can write to /dev/stdout and /dev/stderr by name", "[exec]") {
    World world;
    const auto outcome = world.run(shell("echo x > /dev/stdout && echo y > /dev/stderr"));
    CHECK(outcome.is_success());
    CHECK(outcome.out.text == "x\n");
    CHECK(outcome.err.text == "y\n");
}

TEST_CASE("output that is not UTF-8 is kept as it is, and repaired when it becomes JSON", "[exec]") {
    World world;
    const auto outcome = world.run(misbehave({"bad-utf8"}));
    CHECK(outcome.out.text == "good \xff\xfe bad \xc3( \xed\xa0\x80 end\n");
    std::string json;
    data::append_json_string(json, outcome.out.text);
    CHECK(json == "\"good \uFFFD\uFFFD bad \uFFFD( \uFFFD\uFFFD\uFFFD end\\n\"");
}

TEST_CASE("one that closes its outputs is waited for all the same", "[exec]") {
    World world;
    const auto outcome = world.run(misbehave({"close-outputs"}));
    CHECK(outcome.end == Outcome::End::Exited);
    CHECK(outcome.code == 3);
}

TEST_CASE("a background grandchild does not hold the call, and is left alone", "[exec]") {
    World world;
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = world.run(misbehave({"background", world.path("lock")}));
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    CHECK(outcome.is_success());
    CHECK(outcome.out.text == "done\n");
    CHECK(world.wait([&] { return is_held(world.path("lock")); }));
    CHECK(world.engine().queue.running() == 0);
}  // and World sees that it ends with the program

TEST_CASE("what the background prints at once after the end still counts", "[exec]") {
    World world;
    CHECK(world.run(misbehave({"late-words"})).out.text == "early\nlate\n");
}

TEST_CASE("a timeout ends with the output so far, and with all processes", "[exec]") {
    World world;
    const std::string lock = world.path("lock");
    const auto outcome = world.run(misbehave({"goodbye", lock}), {.timeout = 300ms});
    CHECK(outcome.end == Outcome::End::TimedOut);
    CHECK(outcome.out.text == "ready\n");
    CHECK(outcome.duration >= 300ms);
    CHECK(exec::describe(outcome).starts_with("timed out after 0.3"));
    // It had the time to tidy up and did: long before KILL.
    CHECK(world.wait([&] { return !is_held(lock); }, exec::Terminator::kGrace / 2));
}

TEST_CASE("the clock starts with the process, not in line", "[exec]") {
    World world{{.running = 1, .waiting = 10}};
    Recorder first{world, misbehave({"sleep", "1"})}, second{world, misbehave({"exit", "0"}), {.timeout = 500ms}};
    REQUIRE(first.start());
    REQUIRE(second.start());
    CHECK(second.outcome().is_success());
}

TEST_CASE("a cancelled job reports that, once, later, with what it has", "[exec]") {
    World world;
    Recorder recorder{world, shell("echo some; echo ready >&2; sleep 30")};
    REQUIRE(recorder.start());
    REQUIRE(world.wait([&] { return !recorder.lines.empty(); }));
    recorder.job->cancel();
    recorder.job->cancel();
    CHECK(recorder.reports == 0);
    const auto& outcome = recorder.outcome();
    CHECK(outcome.end == Outcome::End::Cancelled);
    CHECK(exec::describe(outcome) == "cancelled");
    CHECK(world.wait([&] { return world.engine().terminator.size() == 0; }, exec::Terminator::kGrace / 2));
    CHECK(recorder.reports == 1);
}

TEST_CASE("a job that was cancelled in line never starts", "[exec]") {
    World world{{.running = 1, .waiting = 10}};
    Recorder first{world, misbehave({"sleep", "1"})}, second{world, shell("echo > " + world.path("marker"))};
    REQUIRE(first.start());
    REQUIRE(second.start());
    second.job->cancel();
    CHECK(second.outcome().end == Outcome::End::Cancelled);
    first.outcome();
    CHECK_FALSE(std::filesystem::exists(world.path("marker")));
}

TEST_CASE("a job may be destroyed from its own report and from its own line", "[exec]") {
    World world;
    Recorder by_line{world, shell("while :; do echo line >&2; done")};
    by_line.on_line = [&](std::string_view) { by_line.job.reset(); };
    REQUIRE(by_line.start());
    REQUIRE(world.wait([&] { return !by_line.job; }));
    CHECK(by_line.lines.size() == 1);

    Recorder by_cancel{world, shell("while :; do echo line >&2; done")};
    by_cancel.on_line = [&](std::string_view) { by_cancel.job->cancel(); };
    REQUIRE(by_cancel.start());
    CHECK(by_cancel.outcome().end == Outcome::End::Cancelled);
    CHECK(by_cancel.reports == 1);
    CHECK(world.wait([&] { return world.engine().terminator.size() == 0; }));
}

TEST_CASE("the place of a job is free when its processes are gone, not before", "[exec]") {
    World world;
    const std::string lock = world.path("lock");
    Recorder first{world, misbehave({"ignore-term", lock})}, second{world, misbehave({"exit", "0"})};
    REQUIRE(first.start({"tool", 1}));
    REQUIRE(world.wait([&] { return is_held(lock); }));
    REQUIRE(second.start({"tool", 1}));
    first.job.reset();
    CHECK_FALSE(world.wait([&] { return second.reports > 0; }, 500ms));
    CHECK(is_held(lock));
    CHECK(second.outcome().is_success());
    CHECK_FALSE(is_held(lock));
}

TEST_CASE("a child has descriptors 0 to 2 and no others", "[start]") {
    World world;
    const UniqueFd leaky{dup(0)};  // not close-on-exec, as a library might have it
    REQUIRE(leaky);
    CHECK(world.run(misbehave({"descriptors"})).out.text == "0 1 2 \n");
    Recorder busy{world, misbehave({"sleep", "1"})};  // so that the next one is started by the thread
    REQUIRE(busy.start());
    CHECK(world.run(misbehave({"descriptors"})).out.text == "0 1 2 \n");
}

TEST_CASE("a child starts with default signal handling and an empty mask", "[start]") {
    World world;
    const auto previous = signal(SIGUSR2, [](int) {});
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const std::string clean = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n";
    CHECK(world.run(misbehave({"signals"})).out.text == clean);
    Recorder busy{world, misbehave({"sleep", "1"})};
    REQUIRE(busy.start());
    CHECK(world.run(misbehave({"signals"})).out.text == clean);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    signal(SIGUSR2, previous);
}

TEST_CASE("a child leads its session and group, dies with us, dumps no core, and is marked", "[start]") {
    World world;
    CHECK(world.run(misbehave({"process"})).out.text ==
          "leads session: 1\nleads group: 1\ndeath signal: 9\ncore limit: 0\nmarked: 1\n");
}

TEST_CASE("a script replaced while it runs goes on as it began", "[exec]") {
    World world;
    const auto script =
        world.script("script", "#!/bin/sh\necho ready >&2\nread -r go < " + world.path("gate") + "\necho old\n");
    REQUIRE(mkfifo(world.path("gate").c_str(), 0600) == 0);
    Recorder recorder{world, {.program = script}};
    REQUIRE(recorder.start());
    REQUIRE(world.wait([&] { return !recorder.lines.empty(); }));
    std::filesystem::rename(world.script("new", "#!/bin/sh\necho new\n"), script);
    Recorder opener{world, shell("echo > " + world.path("gate"))};
    REQUIRE(opener.start());
    CHECK(recorder.outcome().out.text == "old\n");
    CHECK(world.run({.program = script}).out.text == "new\n");
}

TEST_CASE("a thousand jobs at once all report", "[exec]") {
    World world{{.running = 32, .waiting = 1024}};
    std::vector<std::unique_ptr<Recorder>> recorders;
    for (int i = 0; i < 1025; i++) {
        recorders.push_back(std::make_unique<Recorder>(world, misbehave({"exit", std::to_string(i % 10)})));
        REQUIRE(recorders.back()->start());
    }
    REQUIRE(world.wait([&] { return std::ranges::all_of(recorders, [](auto& r) { return r->reports == 1; }); }));
    for (int i = 0; i < 1025; i++) CHECK(recorders[static_cast<std::size_t>(i)]->outcome().code == i % 10);
}
