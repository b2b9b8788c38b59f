#include "catalog/keeper.h"
#include "support.h"

#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

using namespace mcpd;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

namespace {

const std::string kGood = "#!/bin/sh\n[ \"$1\" = --help ] && { echo '{\"description\":\"D\"}'; exit; }\necho ran\n";

struct Flag {
    void raise() { raised = true; }
    bool raised = false;
};

catalog::Keeper::Settings settings(World& world) {
    return {.around = {.environment = {"PATH=/usr/bin:/bin"},
                       .root_directory = world.path("root"),
                       .working_directory = {}},
            .help_timeout = 1s};
}

/// A root directory, and what is found in it.
struct Root {
    explicit Root(World& world) : world(world) { std::filesystem::create_directory(world.path("root")); }

    std::string add(const std::string& name, const std::string& text = kGood, unsigned mode = 0755) {
        std::filesystem::create_directories(std::filesystem::path{world.path("root/" + name)}.parent_path());
        return world.script("root/" + name, text, mode);
    }

    catalog::Scan scan() { return catalog::scan(world.path("root"), catalog::Permissions{false}); }

    Words names() {
        Words names;
        for (const auto& candidate : scan().candidates) names.push_back(candidate.name);
        return names;
    }

    std::string refusal(const std::string& name) {
        const auto found = scan();
        const auto candidate = std::ranges::find(found.candidates, name, &catalog::Candidate::name);
        REQUIRE(candidate != found.candidates.end());
        return candidate->refused;
    }

    World& world;
};

const catalog::Catalog& complete(World& world, catalog::Keeper& keeper) {
    Flag ready;
    const catalog::Keeper::Wait wait{keeper, "", Callback<void()>::to<&Flag::raise>(&ready)};
    REQUIRE(world.wait([&] { return ready.raised; }));
    return *keeper.catalog();
}

std::string reason(const catalog::Catalog& catalog, const std::string& name) {
    const auto found = std::ranges::find(catalog.broken(), name, &catalog::Broken::name);
    return found == catalog.broken().end() ? "(not broken)" : found->reason;
}

}  // namespace

TEST_CASE("executables are found at any depth, and nobody's leftovers", "[catalog]") {
    World world;
    Root root{world};
    for (const auto* name : {"greet", "math/add", "a/b/c/d/deep", "node_modules/x", "__pycache__/x", ".hidden",
                             ".git/x", "back~", "#auto#", "x.swp", "x.tmp", "x.bak", "x.orig", "venv/bin/python"}) {
        root.add(name);
    }
    root.add("venv/pyvenv.cfg", "", 0644);
    root.add("data.json", "{}", 0644);
    mkfifo(world.path("root/fifo").c_str(), 0777);
    CHECK(root.names() == Words{"a/b/c/d/deep", "greet", "math/add"});
}

TEST_CASE("links are followed, and loops are not", "[catalog]") {
    World world;
    Root root{world};
    root.add("d/tool");
    std::filesystem::create_symlink("tool", world.path("root/d/second"));
    std::filesystem::create_directory_symlink("..", world.path("root/d/up"));
    std::filesystem::create_symlink("self", world.path("root/self"));
    std::filesystem::create_symlink("nothing", world.path("root/dangling"));
    CHECK(root.names() == Words{"d/second", "d/tool"});
}

TEST_CASE("sixteen levels, and not one more", "[catalog]") {
    World world;
    Root root{world};
    std::string path;
    for (int i = 0; i < 16; i++) path += "d/";
    root.add(path + "tool");
    root.add(path + "d/tool");
    const auto found = root.scan();
    REQUIRE(found.candidates.size() == 1);
    CHECK(found.candidates[0].name == path + "tool");
    REQUIRE(found.warnings.size() == 1);
    CHECK(found.warnings[0].ends_with("not entered, because it is more than 16 levels deep"));
}

TEST_CASE("a name that is not UTF-8 is skipped with a warning", "[catalog]") {
    World world;
    Root root{world};
    root.add("bad\xff");
    root.add("good");
    const auto found = root.scan();
    CHECK(found.candidates.size() == 1);
    REQUIRE(found.warnings.size() == 1);
    CHECK(found.warnings[0].ends_with("bad\\xff: skipped, because its name is not UTF-8"));
}

TEST_CASE("a script that does not look at its arguments is not asked", "[catalog]") {
    World world;
    Root root{world};
    root.add("deploy", "#!/bin/sh\nrm -rf /srv/old\n");
    root.add("text", "just words, made executable by accident\n");
    root.add("marked", "#!/bin/sh\n# mcpd\ncat\n");
    root.add("program", std::string("\x7f"
                                    "ELF\0\0\0",
                                    7));
    CHECK(root.refusal("deploy").starts_with("does not look at its arguments"));
    CHECK(root.refusal("text").starts_with("does not look at its arguments"));
    CHECK(root.refusal("marked").empty());
    CHECK(root.refusal("program").empty());
}

TEST_CASE("what others can write is not run", "[catalog]") {
    World world;
    Root root{world};
    const auto everyone = root.add("everyone", kGood, 0757);
    CHECK(root.refusal("everyone").find("can be written by everyone") != std::string::npos);
    CHECK(root.refusal("everyone").ends_with("mode 0757): chmod o-w " + everyone));
    root.add("open/tool");
    REQUIRE(chmod(world.path("root/open").c_str(), 01777) == 0);  // sticky does not help
    CHECK(root.refusal("open/tool").starts_with(world.path("root/open") + " can be written by everyone"));
    CHECK(catalog::scan(world.path("root"), catalog::Permissions{true}).candidates[0].refused.empty());
    if (geteuid() == 0) {
        const auto foreign = root.add("foreign");
        REQUIRE(chown(foreign.c_str(), 65534, 65534) == 0);
        CHECK(root.refusal("foreign").find("who is neither root nor root: chown it") != std::string::npos);
        const auto group = root.add("group", kGood, 0775);
        REQUIRE(chown(group.c_str(), 0, 65534) == 0);
        CHECK(root.refusal("group").find("can be written by its group") != std::string::npos);
    }
}

TEST_CASE("every script is asked, and a bad one spoils nothing", "[catalog]") {
    World world;
    Root root{world};
    for (int i = 0; i < 20; i++) root.add("good" + std::to_string(i));
    root.add("hangs", "#!/bin/sh\n# --help\nsleep 60\n");
    root.add("floods", "#!/bin/sh\n# --help\nyes\n");
    root.add("fails", "#!/bin/sh\n# --help\necho oops >&2\nexit 3\n");
    root.add("array", "#!/bin/sh\n# --help\necho '[]'\n");
    root.add("missing", "#!/no/such/interpreter --help\n");
    catalog::Keeper keeper{world.engine(), settings(world)};
    keeper.rescan();
    CHECK_FALSE(keeper.is_complete());
    const auto& catalog = complete(world, keeper);
    CHECK(catalog.entries().size() == 20);
    CHECK(reason(catalog, "hangs") == "--help did not end within 1 s");
    CHECK(reason(catalog, "floods") == "--help did not end within 1 s");
    CHECK(reason(catalog, "fails") == "--help exited with 3: oops");
    CHECK(reason(catalog, "array") == "stdout of --help: must be a JSON object, not an array");
    CHECK(reason(catalog, "missing").find("its interpreter /no/such/interpreter does not exist") != std::string::npos);
}

TEST_CASE("a tool is found by its path and by its portable name", "[catalog]") {
    World world;
    Root root{world};
    root.add("math/add");
    root.add("math_sub");
    root.add("math/sub");
    auto chosen = settings(world);
    chosen.names = catalog::Names::Portable;
    catalog::Keeper keeper{world.engine(), std::move(chosen)};
    keeper.rescan();
    const auto& catalog = complete(world, keeper);
    REQUIRE(catalog.find("math/add"));
    CHECK(catalog.find("math/add")->published == "math_add");
    CHECK(catalog.find("math_add") == catalog.find("math/add"));
    CHECK(catalog.find("math_sub")->tool.name == "math_sub");  // the exact name
    CHECK(catalog.find("math/sub")->published != catalog.find("math_sub")->published);
    CHECK(catalog.find(catalog.find("math/sub")->published)->tool.name == "math/sub");
    CHECK_FALSE(catalog.find("../math/add"));
    CHECK(catalog.nearest("math/ad") == std::vector<std::string_view>{"math_add"});
}

TEST_CASE("only what changed is asked again, and before it is run", "[catalog]") {
    World world;
    Root root{world};
    const std::string counted =
        "#!/bin/sh\n# --help\necho >> " + world.path("asked") + "\necho '{\"description\":\"D\"}'\n";
    root.add("one", counted);
    root.add("two", counted);
    catalog::Keeper keeper{world.engine(), settings(world)};
    keeper.rescan();
    complete(world, keeper);
    CHECK(slurp(world.path("asked")) == "\n\n");
    keeper.rescan();
    CHECK(keeper.is_complete());
    CHECK(keeper.is_current("one"));

    const auto held = keeper.catalog();
    std::filesystem::rename(root.add("new", "#!/bin/sh\n# --help\necho '{\"description\":\"changed\"}'\n"),
                            world.path("root/one"));
    CHECK_FALSE(keeper.is_current("one"));
    Flag asked;
    {
        const catalog::Keeper::Wait wait{keeper, "one", Callback<void()>::to<&Flag::raise>(&asked)};
        REQUIRE(world.wait([&] { return asked.raised; }));
    }
    CHECK(keeper.catalog()->find("one")->tool.description == "changed");
    CHECK(held->find("one")->tool.description == "D");  // who holds the old one keeps it

    std::filesystem::remove(world.path("root/two"));
    CHECK(keeper.is_current("two"));
    CHECK_FALSE(keeper.catalog()->find("two"));
    CHECK(slurp(world.path("asked")) == "\n\n");
}

TEST_CASE("a state resource has an address of its own", "[catalog]") {
    World world;
    Root root{world};
    root.add("my dir/count", "#!/bin/sh\n# --help\necho '{\"state\":true}'\n");
    catalog::Keeper keeper{world.engine(), settings(world)};
    keeper.rescan();
    const auto& catalog = complete(world, keeper);
    CHECK(catalog::state_uri("my dir/count") == "mcpd://my%20dir/count/state");
    REQUIRE(catalog.find_state("mcpd://my%20dir/count/state"));
    CHECK_FALSE(catalog.find_state("mcpd://my%20dir/../count/state"));
}
