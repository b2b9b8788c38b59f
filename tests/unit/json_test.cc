#include "data/json.h"
#include "data/json_writer.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

using namespace mcpd;
using data::Node;
using data::parse_json;
using data::to_json;
using namespace std::string_view_literals;

namespace {

std::string complaint(std::string_view text, const data::JsonOptions& options = {}) {
    const auto result = parse_json(text, options);
    return result ? "accepted" : result.error().message;
}

std::string nested(int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

}  // namespace

TEST_CASE("JSON becomes a tree, in its own order", "[data]") {
    const auto root = parse_json(R"( {"z":1,"a":[true,false,null,-2.5,"x\u00e9\n"],"m":{"k":{}}} )");
    REQUIRE(root);
    REQUIRE(root->object());
    CHECK(root->object()->at(0).key == "z");
    CHECK(root->object()->at(2).key == "m");
    CHECK(root->find("z")->integer() == 1);
    const auto& items = *root->find("a")->array();
    REQUIRE(items.size() == 5);
    CHECK(*items[0].boolean());
    CHECK_FALSE(*items[1].boolean());
    CHECK(items[2].is_null());
    CHECK(items[3].number() == -2.5);
    CHECK(*items[4].string() == "x\xC3\xA9\n");
    CHECK(root->find("m")->find("k")->object()->empty());

    CHECK_FALSE(root->find("none"));
    CHECK_FALSE(root->find("z")->find("none"));
    CHECK_FALSE(root->find("z")->string());
    CHECK(root->find("m")->kind_name() == "an object");
}

TEST_CASE("integers keep all 64 bits", "[data]") {
    for (const auto text : {"0"sv, "-1"sv, "9223372036854775807"sv, "-9223372036854775808"sv, "9223372036854775808"sv,
                            "18446744073709551615"sv, "9007199254740993"sv}) {
        const auto node = parse_json(text);
        REQUIRE(node);
        CHECK(to_json(*node) == text);
    }
    CHECK(parse_json("18446744073709551615")->unsigned_integer() == std::numeric_limits<std::uint64_t>::max());
    CHECK_FALSE(parse_json("18446744073709551615")->integer());
    CHECK_FALSE(parse_json("-1")->unsigned_integer());
    CHECK_FALSE(parse_json("5.0")->integer());
    CHECK(parse_json("5.0")->is_float());
    CHECK_FALSE(*parse_json("5.0") == *parse_json("5"));
}

TEST_CASE("what is written reads back as it was", "[data]") {
    const auto text =
        R"({"plain":"abc","quote\"":"\\ \" \b\f\n\r\t\u0001","unicode":"grün € 😀","slash":"a/b","empty":"","n":[1,-1,1.5,1e+100,100.0,-0.0,0.1,true,false,null,[],{}]})";
    const auto node = parse_json(text);
    REQUIRE(node);
    CHECK(to_json(*node) == text);
    std::string all_bytes;
    for (int i = 0; i < 128; i++) all_bytes += static_cast<char>(i);
    for (std::size_t shift = 0; shift < 20; shift++) {  // every place within a vector register
        const std::string original = std::string(shift, '-') + all_bytes + "\u20AC";
        std::string json;
        data::append_json_string(json, original);
        CHECK(*parse_json(json)->string() == original);
    }
}

TEST_CASE("numbers are as short as they can be and stay what they are", "[data]") {
    const auto written = [](double value) {
        std::string out;
        data::append_json_number(out, value);
        return out;
    };
    CHECK(written(0.1) == "0.1");
    CHECK(written(5) == "5.0");
    CHECK(written(-0.0) == "-0.0");
    CHECK(written(1e22) == "1e+22");
    CHECK(written(5e-324) == "5e-324");
    CHECK(written(std::numeric_limits<double>::infinity()) == "null");
    CHECK(written(std::nan("")) == "null");
    for (const double value : {1.0 / 3, 1.7976931348623157e308, 2.2250738585072014e-308, 123456789.123}) {
        CHECK(parse_json(written(value))->number() == value);
    }
}

TEST_CASE("text that is not UTF-8 is repaired on its way out", "[data]") {
    std::string out;
    data::append_json_string(out, "good \xff\xfe bad \xc3( \xed\xa0\x80 end");
    CHECK(out == "\"good \uFFFD\uFFFD bad \uFFFD( \uFFFD\uFFFD\uFFFD end\"");
    CHECK(parse_json(out));
}

TEST_CASE("the writer sets commas and takes raw fragments", "[data]") {
    std::string out;
    data::JsonWriter json{out};
    json.begin_object().member("a", 1).key("b").begin_array().value("x").value(2.5).null().raw("1e2").end_array();
    json.member("c", Node{Node::Object{{"d", Node{true}}}}).member("e", std::uint64_t{18446744073709551615u});
    json.key("f").begin_object().end_object().end_object();
    CHECK(out == R"({"a":1,"b":["x",2.5,null,1e2],"c":{"d":true},"e":18446744073709551615,"f":{}})");
}

TEST_CASE("a name may occur once in an object", "[data]") {
    CHECK(complaint(R"({"a":1,"b":{"c":1,"c":2}})") == R"(the name "c" occurs twice in one object)");
    CHECK(complaint(R"({"a":1,"\u0061":2})") == R"(the name "a" occurs twice in one object)");
    CHECK(complaint("{\"a\":1,\n\"a\":2}", {.lines = true}) == R"(line 2: the name "a" occurs twice in one object)");
    std::string many = "{";
    for (int i = 0; i < 1000; i++) many += "\"k" + std::to_string(i) + "\":1,";
    CHECK(parse_json(many + "\"last\":1}"));
    CHECK(complaint(many + "\"k500\":1}") == R"(the name "k500" occurs twice in one object)");
}

TEST_CASE("JSON nests at most 128 deep", "[data]") {
    CHECK(parse_json(nested(128)));
    CHECK_FALSE(parse_json(nested(129)));
    CHECK(complaint(nested(129)) == "not JSON: line 1, column 129: nested too deep");
    CHECK_FALSE(parse_json(std::string(10'000'000, '[')));
}

TEST_CASE("an error says where and what", "[data]") {
    CHECK(complaint("") == "not JSON: line 1, column 1: the text ends where a value should be");
    CHECK(complaint("{\n  \"a\": 1\n  \"b\": 2\n}") == "not JSON: line 3, column 3: expected ',' or '}'");
    CHECK(complaint("{\"grün\": tru}") == "not JSON: line 1, column 10: expected 'true'");
    CHECK(complaint("{'a':1}") == "not JSON: line 1, column 2: expected a name in double quotes");
    CHECK(complaint("[1,]") == "not JSON: line 1, column 4: expected a value, found ']'");
    CHECK(complaint("[1] x") == "not JSON: line 1, column 5: nothing may follow the value");
    CHECK(complaint("01") == "not JSON: line 1, column 2: a number does not begin with 0");
    CHECK(complaint("[1e400]") == "not JSON: line 1, column 2: the number is out of range (integers have 64 bits)");
    CHECK(complaint("18446744073709551616") ==
          "not JSON: line 1, column 1: the number is out of range (integers have 64 bits)");
    CHECK(complaint("\"a\nb\"") == "not JSON: line 1, column 3: a line end or control character inside a string");
    CHECK(complaint("\"\xff\"") == "not JSON: line 1, column 2: not UTF-8");
    CHECK(complaint("\"\\ud800\"") == "not JSON: line 1, column 8: half of a surrogate pair");
    CHECK(complaint("\xEF\xBB\xBF{}") == "not JSON: line 1, column 1: a byte order mark is not JSON");
    CHECK(complaint("hello\n") == "not JSON: line 1, column 1: expected a value, found 'h'");
}

TEST_CASE("lines and source text are kept where they are asked for", "[data]") {
    const std::string_view kept[] = {"id", "schema"};
    const auto root = parse_json(
        "{\n \"id\": 1e2 ,\n \"params\": {\"id\":\"\\u0041\", \"x\": 1,\n  \"schema\" : [ 1,\n {\"b\": 2.50} ]}}",
        {.lines = true, .raw = kept});
    REQUIRE(root);
    CHECK(root->line() == 1);
    CHECK(root->raw().empty());
    CHECK(root->find("id")->raw() == "1e2");
    CHECK(root->find("id")->line() == 2);
    const Node& params = *root->find("params");
    CHECK(params.line() == 3);
    CHECK(params.find("id")->raw() == "\"\\u0041\"");
    CHECK(params.find("x")->raw().empty());
    CHECK(params.find("schema")->raw() == "[ 1,\n {\"b\": 2.50} ]");
    CHECK(params.find("schema")->line() == 4);
    CHECK(params.find("schema")->array()->at(1).find("b")->line() == 5);
    CHECK(parse_json("[1]")->line() == 0);

    const auto tiny = parse_json("{\"a\":[1e-400, 0." + std::string(400, '0') + "1],\"id\":7.0}", {.raw = kept});
    REQUIRE(tiny);
    CHECK(tiny->find("id")->raw() == "7.0");
}

TEST_CASE("members are set and replaced", "[data]") {
    Node object{Node::Object{}};
    object.set("a", 1);
    object.set("b", "x");
    object.set("a", 2);
    CHECK(to_json(object) == R"({"a":2,"b":"x"})");
}

TEST_CASE("a list of texts that are JSON, and of texts that are not", "[data]") {
    for (const auto good : {"[]"sv, "{}"sv, " 1 "sv, "\"\""sv, "null"sv, "-0"sv, "1E5"sv, "1.5e-7"sv, "[[],{}]"sv,
                            "\"\\u0000\""sv, "\"\\ud83d\\ude00\""sv, "{\"\":0}"sv, "\t[\r\n1 ]"sv, "\"\x7f\""sv,
                            "0.0000000000000000000000000000000000000000001"sv, "1e-400"sv}) {
        INFO(good);
        CHECK(complaint(good) == "accepted");
    }
    for (const auto bad : {""sv,
                           " "sv,
                           "["sv,
                           "]"sv,
                           "{"sv,
                           "[1 2]"sv,
                           "[,1]"sv,
                           "{\"a\"}"sv,
                           "{\"a\":}"sv,
                           "{a:1}"sv,
                           "{\"a\":1,}"sv,
                           "+1"sv,
                           "1."sv,
                           ".5"sv,
                           "-"sv,
                           "1e"sv,
                           "0x1"sv,
                           "NaN"sv,
                           "Infinity"sv,
                           "-Infinity"sv,
                           "True"sv,
                           "nul"sv,
                           "\"\\x\""sv,
                           "\"\\u12\""sv,
                           "\"\t\""sv,
                           "\"abc"sv,
                           "'a'"sv,
                           "[1]]"sv,
                           "1 2"sv,
                           "// c\n1"sv,
                           "[1,/**/2]"sv,
                           "\"\\udc00\""sv,
                           "\xFF"sv,
                           "[\0]"sv,
                           "{\"a\":1 \"b\":2}"sv,
                           "[\"a\",\n4\n,1,"sv}) {
        INFO(bad);
        CHECK(complaint(bad).starts_with("not JSON: line "));  // the cursor agrees that it is none, and has the place
    }
}

TEST_CASE("the JSON parsing suite", "[data]") {
    const char* root = std::getenv("MCPD_TEST_DATA");
    if (!root) {
        std::cout << "skipped: the JSON parsing suite; MCPD_TEST_DATA names no directory\n";
        return;
    }
    int accepted = 0, refused = 0;
    for (const auto& entry : std::filesystem::directory_iterator{std::filesystem::path{root} / "json-parsing"}) {
        const std::string name = entry.path().filename();
        std::ifstream file{entry.path(), std::ios::binary};
        std::ostringstream text;
        text << file.rdbuf();
        INFO(name);
        if (name.starts_with("y_")) {
            CHECK(complaint(text.str(), {.unique_names = false}) == "accepted");
            const bool twice = name.find("duplicated_key") != std::string::npos;
            CHECK(complaint(text.str()) == (twice ? "the name \"a\" occurs twice in one object" : "accepted"));
            accepted++;
        }
        if (name.starts_with("n_")) {
            CHECK(complaint(text.str()).starts_with("not JSON: line "));
            refused++;
        }
        if (name.starts_with("i_")) static_cast<void>(parse_json(text.str()));  // either way, but no crash
    }
    CHECK(accepted == 95);
    CHECK(refused == 188);
}
