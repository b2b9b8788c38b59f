#include "exec/capture.h"
#include "exec/lines.h"

#include <catch2/catch.hpp>

using namespace mcpd;
using exec::Capture;
using exec::Keep;
using exec::Lines;

namespace {

exec::Captured capture(Keep keep, std::initializer_list<std::string_view> pieces) {
    Capture capture{keep};
    for (const auto piece : pieces) capture.add(piece);
    return capture.take();
}

std::vector<std::string> split(std::size_t limit, std::initializer_list<std::string_view> pieces) {
    Lines lines{limit};
    std::vector<std::string> result;
    std::string_view line;
    for (auto piece : pieces) {
        while (!piece.empty() && lines.next(piece, line)) result.emplace_back(line);
    }
    if (lines.last(line)) result.emplace_back(line);
    CHECK_FALSE(lines.last(line));
    return result;
}

}  // namespace

TEST_CASE("what fits is kept whole", "[exec]") {
    const auto all = capture({.head = 4, .tail = 4}, {"ab", "cdefg", "h"});
    CHECK(all.text == "abcdefgh");
    CHECK_FALSE(all.is_truncated());
    CHECK(capture({.head = 4, .tail = 4}, {}).text.empty());
}

TEST_CASE("of what does not fit the head and the tail are kept", "[exec]") {
    const auto cut = capture({.head = 4, .tail = 4}, {"abcdefghi"});
    CHECK(cut.text == "abcdfghi");
    CHECK(cut.cut == 4);
    CHECK(cut.omitted == 1);

    // However it arrives.
    std::string long_text;
    for (int i = 0; i < 1000; i++) long_text += std::to_string(i) + " ";
    for (const std::size_t step : {1u, 3u, 7u, 10u, 64u, 5000u}) {
        Capture piecewise{{.head = 16, .tail = 11}};
        for (std::size_t at = 0; at < long_text.size(); at += step) {
            piecewise.add(std::string_view{long_text}.substr(at, step));
        }
        const auto result = piecewise.take();
        CHECK(result.text == long_text.substr(0, 16) + long_text.substr(long_text.size() - 11));
        CHECK(result.omitted == long_text.size() - 27);
    }
}

TEST_CASE("only a head, or only a tail", "[exec]") {
    CHECK(capture({.head = 3, .tail = 0}, {"abcdef"}).text == "abc");
    CHECK(capture({.head = 0, .tail = 3}, {"ab", "cdef"}).text == "def");
    CHECK(capture({.head = 0, .tail = 0}, {"ab"}).omitted == 2);
}

TEST_CASE("the cut splits no character", "[exec]") {
    const auto cut = capture({.head = 4, .tail = 4}, {"ab\u20AC--------\u20ACyz"});
    CHECK(cut.text == "abyz");
    CHECK(cut.omitted == 3 + 8 + 3);
    CHECK(cut.cut == 2);
}

TEST_CASE("bytes become lines, however they arrive", "[exec]") {
    CHECK(split(100, {"one\ntwo\r\nthree"}) == std::vector<std::string>{"one", "two", "three"});
    CHECK(split(100, {"o", "n", "e\n", "\n", "two\n"}) == std::vector<std::string>{"one", "", "two"});
    CHECK(split(100, {""}).empty());
    CHECK(split(100, {"\n"}) == std::vector<std::string>{""});
}

TEST_CASE("a line that is too long is given once, shortened", "[exec]") {
    CHECK(split(4, {"abcdefgh", "ij", "\nnext\n"}) == std::vector<std::string>{"abcd … (6 bytes more)", "next"});
    CHECK(split(4, {"ab\u20AC\n"}) == std::vector<std::string>{"ab … (3 bytes more)"});
    CHECK(split(4, {"abcd\n"}) == std::vector<std::string>{"abcd"});
}
