#include "data/json.h"
#include "data/json_writer.h"
#include "tool/arguments.h"
#include "tool/command_line.h"
#include "tool/describe.h"
#include "tool/environment.h"
#include "tool/name.h"
#include "tool/number.h"
#include "tool/pattern.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace mcpd;
using data::Node;
using tool::Param;
using tool::Tool;
using tool::Type;

namespace {

using Words = std::vector<std::string>;

Node json(std::string_view text) {
    auto node = data::parse_json(text);
    REQUIRE(node);
    return *std::move(node);
}

tool::Checked check(const std::vector<Param>& params, std::string_view arguments) {
    return tool::check_arguments({.name = "t", .params = params}, json(arguments));
}

std::string value_of(const Words& environment, const std::string& name) {
    const auto found =
        std::ranges::find_if(environment, [&](const auto& entry) { return entry.starts_with(name + "="); });
    return found == environment.end() ? "(none)" : found->substr(name.size() + 1);
}

}  // namespace

TEST_CASE("every complaint is collected, in words that a model can act on", "[tool]") {
    const std::vector<Param> params{
        {.name = "name", .type = Type::String, .required = true},
        {.name = "count", .type = Type::Integer, .min = 1, .max = 100},
        {.name = "format", .type = Type::String, .choices = {"json", "text", "csv"}},
        {.name = "flag", .type = Type::Boolean},
        {.name = "code", .type = Type::String, .max = 3, .pattern = "^[A-Z]+$"},
        {.name = "list", .type = Type::Array, .min = 1, .items = Type::Integer},
        {.name = "ratio", .type = Type::Float, .min = 0.5},
        {.name = "dry_run", .type = Type::Boolean},
    };
    const auto checked = check(params, R"({"count":200,"format":"xml","flag":"yes","code":"ab\u20ac1","list":[1,"x"],
        "ratio":0.25,"dryrun":true,"mcpd:input":{},"other":1})");
    CHECK(checked.complaints ==
          Words{"name: required", "count: 200 is more than the maximum 100", "format: must be one of: json, text, csv",
                "flag: must be a boolean, not a string", "code: has 4 characters, more than the maximum 3",
                "code: does not match the pattern ^[A-Z]+$", "list: item 1 must be an integer, not a string",
                "ratio: 0.25 is less than the minimum 0.5", "dryrun: unknown; did you mean dry_run?",
                "mcpd:input: names that begin with \"mcpd:\" are reserved"});
    CHECK(checked.ignored == Words{"other"});
    CHECK(check(params, R"({"name":"x","list":[]})").complaints == Words{"list: has 0 items, less than the minimum 1"});
    CHECK(check(params, R"({"name":5})").complaints == Words{"name: must be a string, not an integer"});
}

TEST_CASE("integers pass for floats and 5.0 for 5, and nothing else is bent", "[tool]") {
    const std::vector<Param> params{{.name = "i", .type = Type::Integer}, {.name = "f", .type = Type::Float}};
    const auto checked = check(params, R"({"i":5.0,"f":3})");
    CHECK(checked.complaints.empty());
    CHECK(data::to_json(checked.options) == R"({"i":5,"f":3})");
    CHECK(check(params, R"({"i":5.5})").complaints == Words{"i: must be an integer, not a number"});
    CHECK(check(params, R"({"i":"5"})").complaints == Words{"i: must be an integer, not a string"});
    CHECK(check(params, R"({"i":1e300})").complaints == Words{"i: must be an integer, not a number"});
    CHECK(data::to_json(check(params, R"({"i":1e3})").options) == R"({"i":1000})");
}

TEST_CASE("defaults are applied, null is not given, and the order is the tool's", "[tool]") {
    const std::vector<Param> params{{.name = "a", .type = Type::Integer, .fallback = Node{7}},
                                    {.name = "b", .type = Type::String},
                                    {.name = "c", .type = Type::Any},
                                    {.name = "d", .type = Type::Integer, .required = true}};
    const auto checked = check(params, R"({"d":1,"c":null,"b":null,"a":null})");
    CHECK(checked.complaints.empty());
    CHECK(data::to_json(checked.options) == R"({"a":7,"c":null,"d":1})");
    CHECK(check(params, R"({"d":null})").complaints == Words{"d: required"});
}

TEST_CASE("a slip is told from another word", "[tool]") {
    CHECK(tool::is_near("dryrun", "dry_run"));
    CHECK(tool::is_near("Dry-Run", "dry_run"));
    CHECK(tool::is_near("pth", "path") == false);  // too short to tell
    CHECK(tool::is_near("recrusive", "recursive"));
    CHECK_FALSE(tool::is_near("verbose", "version"));
    CHECK_FALSE(tool::is_near("a", "b"));
    const std::string_view names[] = {"math/add", "math/multiply", "greet", "counter"};
    CHECK(tool::nearest("greeet", names, 3) == std::vector<std::string_view>{"greet"});
    CHECK(tool::nearest("add", names, 3) == std::vector<std::string_view>{"math/add"});
    CHECK(tool::nearest("math_add", names, 3) == std::vector<std::string_view>{"math/add"});
    CHECK(tool::nearest("zebra", names, 3).empty());
    CHECK(tool::portable_name("math/add.v2 ü") == "math_add_v2___");
    CHECK(tool::portable_name(std::string(100, 'x')).size() == 64);
}

TEST_CASE("numbers are written in plain decimal", "[tool]") {
    CHECK(tool::plain_decimal(0.1) == "0.1");
    CHECK(tool::plain_decimal(5.0) == "5");
    CHECK(tool::plain_decimal(1e21) == "1000000000000000000000");
    CHECK(tool::plain_decimal(1e-7) == "0.0000001");
    CHECK(tool::plain_decimal(json("18446744073709551615")) == "18446744073709551615");
    CHECK(tool::plain_decimal(std::numeric_limits<double>::denorm_min()).size() > 300);
}

TEST_CASE("a pattern that would search without end gives up", "[tool]") {
    CHECK(tool::match_pattern("^a+$", "aaa") == tool::Match::Yes);
    CHECK(tool::match_pattern("^a+$", "aab") == tool::Match::No);
    CHECK(tool::match_pattern("^.$", "\u20AC") == tool::Match::Yes);
    CHECK(tool::match_pattern("^(a+)+$", std::string(40, 'a').append("!")) != tool::Match::Yes);
    CHECK(tool::check_pattern("[a-z]"));
    CHECK_FALSE(tool::check_pattern("[z-a]"));
}

TEST_CASE("the schema of the specification", "[tool]") {
    const Tool counted{.name = "t",
                       .params = {{.name = "count", .type = Type::Integer, .required = true, .min = 1, .max = 100}}};
    CHECK(
        tool::input_schema(counted) ==
        R"({"type":"object","properties":{"count":{"type":"integer","minimum":1,"maximum":100}},"required":["count"]})");
    CHECK(tool::input_schema({}) == R"({"type":"object","properties":{}})");

    const Tool all{.name = "t",
                   .params = {{.name = "s",
                               .type = Type::String,
                               .description = "d",
                               .fallback = Node{"x"},
                               .min = 0,
                               .max = 9,
                               .pattern = "x"},
                              {.name = "f", .type = Type::Float, .max = 1.5, .header = "Ratio"},
                              {.name = "a", .type = Type::Any},
                              {.name = "e", .type = Type::String, .choices = {"p", "q"}},
                              {.name = "l", .type = Type::Array, .max = 3, .items = Type::String}}};
    CHECK(
        tool::input_schema(all) ==
        R"({"type":"object","properties":{"s":{"type":"string","description":"d","minLength":0,"maxLength":9,"pattern":"x","default":"x"},)"
        R"("f":{"type":"number","maximum":1.5,"x-mcp-header":"Ratio"},"a":{},"e":{"type":"string","enum":["p","q"]},)"
        R"("l":{"type":"array","items":{"type":"string"},"maxItems":3}}})");
}

TEST_CASE("a list entry always has a description", "[tool]") {
    Tool tool{.name = "math/add", .title = "add"};
    CHECK(tool::list_entry(tool, "math/add") ==
          R"({"name":"math/add","title":"add","description":"add","inputSchema":{"type":"object","properties":{}}})");
    tool.description = "Adds";
    tool.version = "1.0";
    tool.effect = tool::Effect::Destructive;
    tool.annotations = json(R"({"idempotentHint":true})");
    CHECK(
        tool::list_entry(tool, "math_add") ==
        R"({"name":"math_add","title":"add","description":"Adds","inputSchema":{"type":"object","properties":{}},)"
        R"("annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true},"_meta":{"mcpd/version":"1.0"}})");
}

TEST_CASE("options reach the environment under names that shells can read", "[tool]") {
    Words environment;
    constexpr std::string_view kKnown[] = {"a.b", "a_b", "c-d", "c_d"};
    tool::add_options(
        environment,
        json(R"({"c-d":4,"name":"a b\nc","dry-run":true,"n":1e21,"list":[1,"x"],"none":null,"a.b":1,"a_b":2,"x=y":3})"),
        kKnown);
    CHECK(value_of(environment, "MCPD_OPT_name") == "a b\nc");
    CHECK(value_of(environment, "MCPD_OPT_dry-run") == "true");
    CHECK(value_of(environment, "MCPD_OPT_dry_run") == "true");
    CHECK(value_of(environment, "MCPD_OPT_n") == "1000000000000000000000");
    CHECK(value_of(environment, "MCPD_OPT_list") == R"([1,"x"])");
    CHECK(value_of(environment, "MCPD_OPT_none") == "");
    CHECK(value_of(environment, "MCPD_OPT_a.b") == "1");
    CHECK(value_of(environment, "MCPD_OPT_a_b") == "2");       // the other one's
    CHECK(value_of(environment, "MCPD_OPT_c_d") == "(none)");  // the other one's, which was not given
    CHECK(value_of(environment, "MCPD_OPT_x_y") == "3");
    CHECK(value_of(environment, "MCPD_OMITTED") == "(none)");
}

TEST_CASE("what the environment cannot carry is left out there, and named", "[tool]") {
    Node options{Node::Object{}};
    options.set("nul", std::string("a\0b", 3));
    options.set("long", std::string(128 * 1024, 'x'));
    options.set("fits", std::string(120 * 1024, 'x'));
    options.set("small", "s");
    Words environment;
    tool::add_options(environment, options, {});
    CHECK(value_of(environment, "MCPD_OPT_nul") == "(none)");
    CHECK(value_of(environment, "MCPD_OPT_long") == "(none)");
    CHECK(value_of(environment, "MCPD_OPT_fits").size() == 120 * 1024);
    CHECK(value_of(environment, "MCPD_OPT_small") == "s");
    CHECK(value_of(environment, "MCPD_OMITTED") == "nul,long");

    Node many{Node::Object{}};
    for (int i = 0; i < 20; i++)
        many.set("v" + std::to_string(i), std::string(static_cast<std::size_t>(60'000 + i), 'x'));
    environment.clear();
    tool::add_options(environment, many, {});
    CHECK(value_of(environment, "MCPD_OMITTED") == "v17,v18,v19");  // the largest
}

TEST_CASE("tools inherit what is theirs, and no secret of ours", "[tool]") {
    const char* ours[] = {"PATH=/bin", "MCPD_TOKEN=x", "MCPD_OPT_a=1",       "LISTEN_FDS=1", "NOTIFY_SOCKET=/x",
                          "SECRET=1",  "LC_ALL=C",     "XDG_RUNTIME_DIR=/r", nullptr};
    CHECK(tool::inherited_environment(ours, false) == Words{"PATH=/bin", "SECRET=1", "LC_ALL=C", "XDG_RUNTIME_DIR=/r"});
    CHECK(tool::inherited_environment(ours, true) == Words{"PATH=/bin", "LC_ALL=C", "XDG_RUNTIME_DIR=/r"});
}

TEST_CASE("a call is one line of JSON and the options by name", "[tool]") {
    const Tool tool{.name = "math/add", .source = {.path = "/root/math/add", .identity = {}}};
    const tool::Surroundings around{
        .environment = {"PATH=/bin"}, .root_directory = "/root", .working_directory = "/work"};
    const auto command = tool::call_command(tool, json(R"({"a":1})"), around, {.call_id = "7"});
    CHECK(command.program == "/root/math/add");
    CHECK(command.arguments.empty());
    CHECK(command.working_directory == "/work");
    CHECK(command.input == "{\"a\":1}\n");
    CHECK(command.environment == Words{"PATH=/bin", "MCPD_ROOT_DIRECTORY=/root", "MCPD_TOOL=math/add", "MCPD_CALL_ID=7",
                                       "MCPD_CLIENT_CAPABILITIES={}", "MCPD_OPT_a=1"});
    const auto question = tool::question("/root/x", "x", "--help", around);
    CHECK(question.arguments == Words{"--help"});
    CHECK_FALSE(question.input);
}
