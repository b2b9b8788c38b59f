#include "exec/queue.h"
#include "support.h"

#include <catch2/catch.hpp>

using namespace mcpd;
using exec::Queue;

namespace {

/// Stands in line, writes down when its turn comes, and keeps the place until told.
struct Visitor final : Queue::Waiter {
    Visitor(std::string name, std::string& log) : name(std::move(name)), log(log) {}
    void on_place(Queue::Place given) override {
        place = std::move(given);
        log += name;
    }
    std::string name;
    std::string& log;
    Queue::Place place;
};

void settle(World& world) {
    world.loop().run();
}

}  // namespace

TEST_CASE("so many run at once, and the rest in the order they came", "[exec]") {
    World world;
    Queue queue{world.loop(), {.running = 2, .waiting = 10}};
    std::string log;
    Visitor a{"a", log}, b{"b", log}, c{"c", log}, d{"d", log};
    for (auto* visitor : {&a, &b, &c, &d}) REQUIRE(queue.enter(*visitor, {}));
    CHECK(log.empty());  // never from within enter()
    settle(world);
    CHECK(log == "ab");
    CHECK(queue.waiting() == 2);
    b.place = {};
    settle(world);
    CHECK(log == "abc");
    a.place = {};
    c.place = {};
    settle(world);
    CHECK(log == "abcd");
    d.place = {};
    CHECK(queue.running() == 0);
}

TEST_CASE("one that waits for its kind holds up nobody else", "[exec]") {
    World world;
    Queue queue{world.loop(), {.running = 10, .waiting = 10}};
    std::string log;
    Visitor a{"a", log}, b{"b", log}, c{"c", log}, d{"d", log};
    REQUIRE(queue.enter(a, {"counter", 1}));
    REQUIRE(queue.enter(b, {"counter", 1}));
    REQUIRE(queue.enter(c, {"other", 1}));
    REQUIRE(queue.enter(d, {"counter", 0}));
    settle(world);
    CHECK(log == "acd");
    a.place = {};
    settle(world);
    CHECK(log == "acdb");
}

TEST_CASE("a full line refuses", "[exec]") {
    World world;
    Queue queue{world.loop(), {.running = 1, .waiting = 1}};
    std::string log;
    Visitor a{"a", log}, b{"b", log}, c{"c", log};
    REQUIRE(queue.enter(a, {}));
    settle(world);
    REQUIRE(queue.enter(b, {}));
    const auto refused = queue.enter(c, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::Busy);
    CHECK(refused.error().message == "busy: 1 commands run and 1 wait; try again later");
    a.place = {};
    settle(world);
    CHECK(log == "ab");
    REQUIRE(queue.enter(c, {}));
}

TEST_CASE("many that wait for their kind do not make others busy", "[exec]") {
    World world;
    Queue queue{world.loop(), {.running = 4, .waiting = 2}};
    std::string log;
    Visitor a{"a", log}, b{"b", log}, c{"c", log}, d{"d", log}, e{"e", log};
    for (auto* visitor : {&a, &b, &c}) REQUIRE(queue.enter(*visitor, {"counter", 1}));
    CHECK_FALSE(queue.enter(d, {"counter", 1}));
    REQUIRE(queue.enter(e, {"other", 1}));
    settle(world);
    CHECK(log == "ae");
}

TEST_CASE("a place that was given but not heard of goes to the next one", "[exec]") {
    World world;
    Queue queue{world.loop(), {.running = 1, .waiting = 2}};
    std::string log;
    Visitor b{"b", log};
    {
        Visitor a{"a", log};
        REQUIRE(queue.enter(a, {}));
        REQUIRE(queue.enter(b, {}));
    }
    settle(world);
    CHECK(log == "b");
    CHECK(queue.running() == 1);
}

TEST_CASE("leaving the line is no more than going away", "[exec]") {
    World world;
    Queue queue{world.loop(), {.running = 1, .waiting = 10}};
    std::string log;
    Visitor a{"a", log}, c{"c", log};
    REQUIRE(queue.enter(a, {}));
    settle(world);
    {
        Visitor b{"b", log};
        REQUIRE(queue.enter(b, {}));
        REQUIRE(queue.enter(c, {}));
    }
    a.place = {};
    settle(world);
    CHECK(log == "ac");
}
