#include "define/script_help.h"
#include "data/json_writer.h"

#include <catch2/catch.hpp>

using namespace mcpd;
using define::read_script_help;
using Words = std::vector<std::string>;

namespace {

std::string complaint(std::string_view out, std::string_view err = "") {
    const auto result = read_script_help("dir/tool", out, err);
    return result ? "accepted" : result.error().message;
}

std::string option_complaint(std::string_view option) {
    return complaint("{}", std::string{"{\"o\":"}.append(option).append("}"));
}

Words warnings(std::string_view out, std::string_view err = "") {
    const auto result = read_script_help("dir/tool", out, err);
    REQUIRE(result);
    return result->warnings;
}

}  // namespace

TEST_CASE("a description is all a script needs", "[define]") {
    const auto result = read_script_help("dir/tool", R"({"description": "Says hello"})", " \n");
    REQUIRE(result);
    CHECK(result->tool.name == "dir/tool");
    CHECK(result->tool.title == "tool");
    CHECK(result->tool.description == "Says hello");
    CHECK(result->tool.params.empty());
    CHECK(result->warnings.empty());
}

TEST_CASE("every field is read", "[define]") {
    const auto result =
        read_script_help("t", R"({"title":"T","description":"D","version":"1.2","state":true,"timeout":2.5,
        "effect":"read","annotations":{"openWorldHint":false},"category":"c","tags":["x","y"]})",
                         R"({
        "name":{"description":"N","required":true,"value_type":"string","size":{"min":1,"max":9},"pattern":"^x","header":"Name"},
        "op":{"value_type":{"enum":["add","sub"]},"default_value":"add"},
        "level":{"value_type":{"enum":[1,2]}},
        "list":{"value_type":"array","items":"integer","size":{"max":3}},
        "free":{}})");
    REQUIRE(result);
    const auto& tool = result->tool;
    CHECK(tool.title == "T");
    CHECK(tool.version == "1.2");
    CHECK(tool.has_state);
    CHECK(tool.concurrency == 1);  // because of the state
    CHECK(tool.timeout == std::chrono::milliseconds{2500});
    CHECK(tool.effect == tool::Effect::Read);
    CHECK(tool.tags == Words{"x", "y"});
    REQUIRE(tool.params.size() == 5);
    CHECK(tool.params[0].required);
    CHECK(tool.params[0].header == "Name");
    CHECK(*tool.params[1].fallback->string() == "add");
    CHECK(tool.params[1].type == tool::Type::String);
    CHECK(tool.params[2].type == tool::Type::Integer);
    CHECK(tool.params[3].items == tool::Type::Integer);
    CHECK(tool.params[4].type == tool::Type::Any);
    CHECK(result->warnings.empty());
    CHECK(read_script_help("t", R"({"state":true,"concurrency":4})", "")->tool.concurrency == 4);
}

TEST_CASE("what is not metadata is refused with the reason", "[define]") {
    CHECK(complaint("") == "stdout of --help: empty; it must be a JSON object, at least {\"description\": \"…\"}");
    CHECK(complaint("hello\n") == "stdout of --help: not JSON: line 1, column 1: expected a value, found 'h'");
    CHECK(complaint("[]") == "stdout of --help: must be a JSON object, not an array");
    CHECK(complaint("{}", "INFO starting\n{}") ==
          "stderr of --help: not JSON: line 1, column 1: expected a value, found 'I'");
    CHECK(complaint("{}", "[]") == "stderr of --help: must be a JSON object, not an array");
    CHECK(complaint(R"({"title":1})") == "title: must be a string, not an integer");
    CHECK(complaint(R"({"state":"yes"})") == "state: must be true or false, not a string");
    CHECK(complaint(R"({"timeout":-1})") == "timeout: must be a number of seconds, 0 for none");
    CHECK(complaint(R"({"concurrency":0})") == "concurrency: must be an integer of at least 1");
    CHECK(complaint(R"({"effect":"boom"})") == "effect: must be one of: read, write, destructive");
    CHECK(complaint(R"({"tags":["a",1]})") == "tags: must be an array of strings, not an integer");
    CHECK(complaint(R"({"a":1,"a":2})").find("occurs twice") != std::string::npos);
    for (const auto* word :
         {"kind", "output", "input_schema", "output_schema", "requires", "sandbox", "rate", "cache"}) {
        CHECK(complaint("{\"" + std::string{word} + "\":\"x\"}") ==
              std::string{word} + ": not supported by this version");
    }
}

TEST_CASE("options that cannot be meant so are refused", "[define]") {
    CHECK(option_complaint("1") == "option o: must be an object, not an integer");
    CHECK(option_complaint(R"({"value_type":"number"})")
              .starts_with("option o: value_type: must be one of: string, integer"));
    CHECK(option_complaint(R"({"value_type":{"enum":[]}})") ==
          "option o: value_type: enum must be a list of at least one value");
    CHECK(option_complaint(R"({"value_type":{"enum":["a","a"]}})") == "option o: value_type: enum names a value twice");
    CHECK(option_complaint(R"({"required":"true"})") == "option o: required: must be true or false, not a string");
    CHECK(option_complaint(R"({"value_type":"string","size":{"min":5,"max":1}})") ==
          "option o: size: min is greater than max");
    CHECK(option_complaint(R"({"value_type":"string","size":{"min":1.5}})") ==
          "option o: size: min must be a whole number");
    CHECK(option_complaint(R"({"value_type":"float","size":{"min":1.5}})") == "accepted");
    CHECK(option_complaint(R"({"value_type":"integer","default_value":"x"})") ==
          "option o: default_value: must be an integer, not a string");
    CHECK(option_complaint(R"({"value_type":"integer","default_value":9,"size":{"max":5}})") ==
          "option o: default_value: 9 is more than the maximum 5");
    CHECK(option_complaint(R"({"value_type":{"enum":["a"]},"default_value":"b"})") ==
          "option o: default_value: must be one of: a");
    CHECK(option_complaint(R"({"value_type":"string","pattern":"[z-a]"})")
              .starts_with("option o: pattern: no regular expression"));
    CHECK(option_complaint(R"({"value_type":"float","header":"X"})") ==
          "option o: header: only strings, integers and booleans can be sent as one");
    CHECK(option_complaint(R"({"value_type":"string","header":"a b"})") ==
          "option o: header: must be the name of an HTTP header");
    CHECK(complaint("{}", R"({"a":{"value_type":"string","header":"X"},"b":{"value_type":"string","header":"x"}})") ==
          "option b: header: another option has the same one");
    CHECK(complaint("{}", R"({"mcpd:input":{}})") == "option mcpd:input: names that begin with \"mcpd:\" are reserved");
    CHECK(complaint("{}", R"({"":{}})") == "an option has an empty name");
}

TEST_CASE("what is odd but harmless is a warning", "[define]") {
    CHECK(warnings(R"({"descripton":"x"})") == Words{"descripton: unknown field, ignored; did you mean description?"});
    CHECK(warnings("{}", R"({"o":{"require":true}})") ==
          Words{"option o: require: unknown field, ignored; did you mean required?"});
    CHECK(warnings("{}", R"({"o":{"required":true,"default_value":1}})") ==
          Words{"option o: default_value: ignored, because the option is required"});
    CHECK(warnings("{}", R"({"o":{"value_type":"boolean","size":{"min":1}}})") ==
          Words{"option o: size: means nothing for a value of this type"});
    CHECK(warnings("{\"description\":\"" + std::string(5000, 'x') + "\"}") ==
          Words{"description: cut after 4096 bytes"});
}

TEST_CASE("texts cannot hide words from the people who read them", "[define]") {
    const auto result = read_script_help("t", R"({"description":"a\u202eb\u200bc\u0007d\ne"})", "");
    REQUIRE(result);
    CHECK(result->tool.description == "abcd\ne");
}
