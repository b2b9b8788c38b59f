#include "support.h"

#include "util/unique_fd.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace mcpd;
using exec::Command;
using exec::Outcome;
using namespace std::chrono_literals;

namespace {

/// Why it could not be started, without the path that it begins with.
std::string reason(World& world, const Command& command) {
    const auto outcome = world.run(command);
    CHECK(outcome.end == Outcome::End::NotStarted);
    CHECK(exec::describe(outcome) == outcome.reason);
    const std::string prefix = command.program + ": could not be started: ";
    CHECK(outcome.reason.starts_with(prefix));
    return outcome.reason.substr(std::min(prefix.size(), outcome.reason.size()));
}

}  // namespace

TEST_CASE("a file that is not there", "[start]") {
    World world;
    CHECK(reason(world, {.program = world.path("none")}) == "the file does not exist (any more)");
    std::filesystem::create_symlink(world.path("none"), world.path("link"));
    CHECK(reason(world, {.program = world.path("link")}) == "it is a symbolic link to nothing");
    std::filesystem::create_symlink(world.path("loop"), world.path("loop"));
    CHECK(reason(world, {.program = world.path("loop")}) ==
          "too many symbolic links, or interpreters, lead from one to the next");
    world.script("file", "");
    CHECK(reason(world, {.program = world.path("file/x")}) == "a part of its path is not a directory");
}

TEST_CASE("an interpreter that is not there", "[start]") {
    World world;
    const auto script = world.script("script", "#!/usr/bin/pyton3 -u\nprint(1)\n");
    CHECK(reason(world, {.program = script}) == "its interpreter /usr/bin/pyton3 does not exist: see its first line");
    const auto through_file = world.script("bad", "#!" + world.script("plain", "x", 0644) + "\n");
    CHECK(reason(world, {.program = through_file}) ==
          "its interpreter " + world.path("plain") + " cannot be executed: see its first line");
}

TEST_CASE("a script with Windows line ends", "[start]") {
    World world;
    const auto script = world.script("script", "#!/bin/sh\r\necho x\r\n");
    CHECK(reason(world, {.program = script}).starts_with("its first line ends in CR LF, as on Windows"));

    // env finds itself, and then does not find "sh\r": it has started, and exits with 127.
    const auto by_env = world.script("by-env", "#!/usr/bin/env sh\r\necho x\r\n");
    const auto outcome = world.run({.program = by_env, .environment = {"PATH=/usr/bin:/bin"}});
    CHECK(outcome.end == Outcome::End::Exited);
    CHECK(outcome.code == 127);
    CHECK(exec::describe(outcome).starts_with("exit code 127: " + by_env + ": its first line ends in CR LF"));
}

TEST_CASE("a text without a first line for an interpreter is a shell script", "[start]") {
    World world;
    const auto script = world.script("script", "echo \"$0 $1\"\n");
    CHECK(world.run({.program = script, .arguments = {"word"}}).out.text == script + " word\n");
    CHECK(world.run({.program = world.script("empty", "")}).is_success());
}

TEST_CASE("a binary that is none of this machine's is not given to a shell", "[start]") {
    World world;
    const auto binary = world.script("binary", std::string("\x7f"
                                                           "ELF\0\0\0\0 echo x > marker\n",
                                                           24));
    CHECK(reason(world, {.program = binary}) == "it is neither a program for this machine nor a text with a #! line");
}

TEST_CASE("a file that may not be executed", "[start]") {
    World world;
    CHECK(reason(world, {.program = world.script("plain", "#!/bin/sh\n", 0644)}) ==
          "it is not executable: chmod +x it");
    CHECK(reason(world, {.program = "/tmp"}) == "it is a directory");
    REQUIRE(mkfifo(world.path("fifo").c_str(), 0777) == 0);
    CHECK(reason(world, {.program = world.path("fifo")}) == "it is no regular file");
}

TEST_CASE("a file that is still being written is tried again", "[start]") {
    World world;
    const auto script = world.script("script", "#!/bin/sh\necho written\n");
    UniqueFd writer{open(script.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)};
    CHECK(reason(world, {.program = script}) == "another program has it open for writing: close it there");

    Recorder recorder{world, {.program = script}};
    REQUIRE(recorder.start());
    REQUIRE_FALSE(world.wait([&] { return recorder.reports > 0; }, 30ms));
    writer.reset();
    CHECK(recorder.outcome().out.text == "written\n");

    UniqueFd again{open(script.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)};
    Recorder destroyed{world, {.program = script}};
    REQUIRE(destroyed.start());
    REQUIRE_FALSE(world.wait([&] { return destroyed.reports > 0; }, 10ms));
    destroyed.job.reset();  // in an attempt, or between two
    CHECK(world.wait([&] { return world.engine().queue.running() == 0; }, 1s));
}

TEST_CASE("a working directory that is not there", "[start]") {
    World world;
    CHECK(reason(world, {.program = "/bin/true", .working_directory = world.path("none")}) ==
          "its working directory " + world.path("none") + " cannot be entered: No such file or directory");
}

TEST_CASE("more than the system takes", "[start]") {
    World world;
    const std::string long_text(131072, 'x');
    CHECK(reason(world, {.program = "/bin/true", .arguments = {"a", long_text}}) ==
          "argument 2 is longer than the system takes (128 KiB)");
    CHECK(reason(world, {.program = "/bin/true", .environment = {"A=1", "LONG=" + long_text}}) ==
          "the environment variable LONG is longer than the system takes (128 KiB)");
    CHECK(world.run({.program = "/bin/true", .environment = {"L=" + std::string(131069, 'x')}}).is_success());
    CHECK(reason(world,
                 {.program = "/bin/true", .environment = std::vector<std::string>(60, std::string(131000, 'x'))}) ==
          "its arguments and environment together are larger than the system takes");
}

TEST_CASE("a NUL that the system would cut at", "[start]") {
    World world;
    const std::string nul("a\0b", 3);
    CHECK(reason(world, {.program = "/bin/true", .arguments = {"x", nul}}) == "argument 2 contains a NUL byte");
    CHECK(reason(world, {.program = "/bin/true", .environment = {"SECRET=" + nul}}) ==
          "the environment variable SECRET contains a NUL byte");  // and not its value
    CHECK(reason(world, {.program = "/bin/true", .working_directory = nul}) ==
          "its working directory contains a NUL byte");
}

TEST_CASE("no descriptors left", "[start]") {
    World world;
    world.run({.program = "/bin/true"});
    rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{3, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    const auto outcome = world.run({.program = "/bin/true"});
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK(outcome.reason == "/bin/true: could not be started: too many files are open (ulimit -n)");
    CHECK(world.run({.program = "/bin/true"}).is_success());
}

TEST_CASE("exit 127 is not the same as never started", "[start]") {
    World world;
    const auto outcome = world.run(misbehave({"exit", "127"}));
    CHECK(outcome.end == Outcome::End::Exited);
    CHECK(exec::describe(outcome) == "exit code 127");
}

TEST_CASE("starting fails the same way on the spawner's thread", "[start]") {
    World world;
    Recorder busy{world, misbehave({"sleep", "1"})};
    REQUIRE(busy.start());
    REQUIRE(world.wait([&] { return world.engine().reaper.enrolled() == 1; }));
    CHECK(reason(world, {.program = world.path("none")}) == "the file does not exist (any more)");
    CHECK(reason(world, {.program = "/bin/true", .working_directory = world.path("none")})
              .starts_with("its working directory"));
    CHECK(world.run({.program = world.script("script", "echo by sh\n")}).out.text == "by sh\n");
}
