#include "data/json.h"
#include "support.h"

#include <catch2/catch.hpp>

using namespace mcpd;

TEST_CASE("the greeting says what it is, and greets", "[examples]") {
    World world;
    const std::string greet = std::string{MCPD_EXAMPLES} + "/greet";

    const auto help = world.run({.program = greet, .arguments = {"--help"}});
    REQUIRE(help.is_success());
    const auto metadata = data::parse_json(help.out.text), options = data::parse_json(help.err.text);
    REQUIRE(metadata);
    REQUIRE(options);
    CHECK(*metadata->find("description")->string() == "Greet someone by name");
    CHECK(*options->find("name")->find("required")->boolean());

    const auto call =
        world.run({.program = greet, .environment = {"MCPD_OPT_name=World"}, .input = R"({"name":"World"})"});
    CHECK(call.is_success());
    CHECK(call.out.text == "Hello, World!\n");
}
