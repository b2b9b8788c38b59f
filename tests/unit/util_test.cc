#include "util/alive.h"
#include "util/file.h"
#include "util/log.h"
#include "util/result.h"
#include "util/text.h"
#include "util/utf8.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

using namespace mcpd;
using namespace std::string_view_literals;

TEST_CASE("a result holds a value or an error", "[util]") {
    Result<std::unique_ptr<int>> good = std::make_unique<int>(3);
    REQUIRE(good);
    CHECK(**good == 3);
    CHECK(*std::move(*good) == 3);

    const Result<std::string> bad = Error{Code::NotFound, "x: is not there"};
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code == Code::NotFound);
    CHECK(bad.error().message == "x: is not there");

    CHECK(Result<void>{});
    CHECK_FALSE(Result<void>{Error{}});
}

TEST_CASE("a descriptor is closed by its last owner", "[util]") {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    UniqueFd reading{ends[0]};
    {
        UniqueFd writing{ends[1]};
        UniqueFd moved = std::move(writing);
        CHECK_FALSE(writing);
        CHECK(moved.get() == ends[1]);
    }
    char byte;
    CHECK(read(reading.get(), &byte, 1) == 0);
}

TEST_CASE("UTF-8 is told from what only looks like it", "[util]") {
    for (const auto good :
         {""sv, "plain"sv, "grün"sv, "\xE2\x82\xAC"sv, "\xF0\x9F\x98\x80"sv, "\xF4\x8F\xBF\xBF"sv, "a\0b"sv}) {
        CHECK(utf8::is_valid(good));
        CHECK(utf8::repair(good) == good);
    }
    struct {
        std::string_view text;
        std::size_t at;
        std::string_view repaired;
    } const bad[] = {
        {"\x80", 0, "\uFFFD"},
        {"abc\xFFxyz", 3, "abc\uFFFDxyz"},
        {"\xC0\xAF", 0, "\uFFFD\uFFFD"},                      // overlong
        {"\xE0\x80\xAF", 0, "\uFFFD\uFFFD\uFFFD"},            // overlong
        {"\xED\xA0\x80", 0, "\uFFFD\uFFFD\uFFFD"},            // a surrogate
        {"\xF4\x90\x80\x80", 0, "\uFFFD\uFFFD\uFFFD\uFFFD"},  // past U+10FFFF
        {"12345678\xE2\x82", 8, "12345678\uFFFD"},            // broken off
        {"\xE2\x82(", 0, "\uFFFD("},
        {"\xF0\x9F\x98\xE2\x82\xAC", 0, "\uFFFD\u20AC"},
    };
    for (const auto& [text, at, repaired] : bad) {
        CHECK(utf8::find_invalid(text) == at);
        CHECK(utf8::repair(text) == repaired);
    }
    CHECK(utf8::code_point("a") == U'a');
    CHECK(utf8::code_point("\xC3\xBC") == 0xFC);
    CHECK(utf8::code_point("\xE2\x82\xAC") == 0x20AC);
    CHECK(utf8::code_point("\xF0\x9F\x98\x80") == 0x1F600);
    CHECK(utf8::count_code_points("grün \u20AC \U0001F600") == 8);
}

TEST_CASE("a cut through a character takes the whole character", "[util]") {
    CHECK(utf8::trim_end("abc\xE2\x82") == "abc");
    CHECK(utf8::trim_end("abc\xF0\x9F\x98") == "abc");
    CHECK(utf8::trim_end("abc\u20AC") == "abc\u20AC");
    CHECK(utf8::trim_end("abc\xFF") == "abc\xFF");
    CHECK(utf8::trim_end("\xC3") == "");
    CHECK(utf8::trim_start("\x82\xAC"
                           "abc") == "abc");
    CHECK(utf8::trim_start("abc") == "abc");
    CHECK(utf8::trim_start("\x80\x80\x80\x80") == "\x80\x80\x80\x80");
    CHECK(utf8::trim_start("") == "");
}

TEST_CASE("text is cut into words and lines", "[util]") {
    CHECK(text::trim(" \t a b \r\n") == "a b");
    CHECK(text::trim("  ") == "");
    CHECK(text::first_line("one\ntwo") == "one");
    std::string_view rest = "  /usr/bin/env  sh\n";
    CHECK(text::take_word(rest) == "/usr/bin/env");
    CHECK(text::take_word(rest) == "sh");
    CHECK(text::take_word(rest) == "");
}

TEST_CASE("a hostile name cannot forge a log line", "[util]") {
    CHECK(text::printable("grün") == "grün");
    CHECK(text::printable("a\nerror b") == "a\\x0aerror b");
    CHECK(text::printable("\x1b[2J\x7f") == "\\x1b[2J\\x7f");
    CHECK(text::printable("\xff") == "\\xff");
    CHECK(text::printable("\xC2\x9B") == "\\xc2\\x9b");  // the one-character form of ESC [
}

TEST_CASE("files are read whole or not at all", "[util]") {
    char name[] = "/tmp/mcpd-test-XXXXXX";
    const std::string directory = mkdtemp(name);
    const std::string path = directory + "/file";
    std::ofstream{path} << std::string(200'000, 'x');
    CHECK(file::read(path, 200'000)->size() == 200'000);
    CHECK(file::read_start(path, 10)->size() == 10);
    CHECK(file::read("/proc/self/status", 65536)->starts_with("Name:"));

    const auto large = file::read(path, 199'999);
    REQUIRE_FALSE(large);
    CHECK(large.error().code == Code::TooLarge);
    CHECK(file::read(directory + "/none", 10).error().code == Code::NotFound);
    CHECK(file::read(directory, 10).error().message == directory + ": not a regular file");

    const std::string fifo = directory + "/fifo";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    CHECK_FALSE(file::read(fifo, 10));  // and does not wait for a writer
    std::filesystem::remove_all(directory);
}

TEST_CASE("a log that nobody reads does not hold up the program", "[util]") {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const UniqueFd reading{ends[0]}, writing{ends[1]}, saved{dup(2)};
    dup2(writing.get(), 2);
    log::open(log::Level::Info);
    const auto start = std::chrono::steady_clock::now();
    const std::string line(1000, 'x');
    for (int i = 0; i < 1000; i++) log::info("{}", line);  // a pipe holds 64 of these
    const auto took = std::chrono::steady_clock::now() - start;
    // Once there is room again, lines come through.
    std::string buffer(1024 * 1024, ' ');
    REQUIRE(read(reading.get(), buffer.data(), buffer.size()) > 30'000);
    log::info("back");
    buffer.resize(static_cast<std::size_t>(read(reading.get(), buffer.data(), buffer.size())));
    dup2(saved.get(), 2);
    log::open(log::Level::Off);
    CHECK(took < std::chrono::seconds{5});
    CHECK(buffer.ends_with("info back\n"));
}

TEST_CASE("missing standard descriptors are filled", "[util]") {
    const pid_t child = fork();
    if (child == 0) {
        close(0);
        close(2);
        const bool filled = static_cast<bool>(file::ensure_standard_descriptors());
        struct stat in, out, null;
        _exit(filled && fstat(0, &in) == 0 && fstat(2, &out) == 0 && stat("/dev/null", &null) == 0 &&
                      in.st_rdev == null.st_rdev && out.st_rdev == null.st_rdev
                  ? 0
                  : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("an object learns that it did not survive a call", "[util]") {
    auto alive = std::make_unique<Alive>();
    const Alive::Watch outer{*alive};
    {
        const Alive::Watch inner{*alive};
        CHECK(inner);
    }
    CHECK(outer);
    {
        const Alive::Watch inner{*alive};
        alive.reset();
        CHECK_FALSE(inner);
    }
    CHECK_FALSE(outer);
}
