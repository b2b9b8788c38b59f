#include "support.h"

#include <malloc.h>
#include <catch2/catch.hpp>

#include <random>

using namespace mcpd;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kChildren = 5'000;  // the sanitizer makes each one slower, and memory is what it looks at itself
constexpr bool kCountMemory = false;
#else
constexpr int kChildren = 100'000;
constexpr bool kCountMemory = true;
#endif

/// Starts a job again and again.
struct Worker final : exec::Job::Listener {
    Worker(World& world, int& left) : world(world), left(left) {}

    void next() {
        if (left == 0) return;
        left--;
        auto command = misbehave({"exit", "0"});
        command.input = "{\"name\":\"value\"}\n";
        job = std::make_unique<exec::Job>(world.engine(), std::move(command), exec::Limits{}, *this);
        REQUIRE(job->start());
    }
    void on_stderr_line(std::string_view) override {}
    void on_outcome(exec::Outcome outcome) override {
        failures += !outcome.is_success();
        ended++;
        next();
    }

    World& world;
    int& left;
    int ended = 0;
    int failures = 0;
    std::unique_ptr<exec::Job> job;
};

int run_many(World& world, int count) {
    int left = count;
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < 8; i++) workers.push_back(std::make_unique<Worker>(world, left));
    for (auto& worker : workers) worker->next();
    const auto sum = [&](int Worker::*member) {
        int total = 0;
        for (auto& worker : workers) total += *worker.*member;
        return total;
    };
    CHECK(world.wait([&] { return sum(&Worker::ended) == count; }, std::chrono::minutes{10}));
    return sum(&Worker::failures);
}

}  // namespace

TEST_CASE("a hundred thousand children leave nothing behind", "[soak]") {
    World world;
    CHECK(run_many(world, 1000) == 0);
    malloc_trim(0);
    const auto descriptors = count_descriptors();
    const auto memory = resident_bytes();
    CHECK(run_many(world, kChildren) == 0);
    malloc_trim(0);
    CHECK(count_descriptors() == descriptors);
    CHECK(count_children() == 0);
    if (kCountMemory) CHECK(resident_bytes() < memory + 1024 * 1024);
    WARN(kChildren << " children, memory grew by " << static_cast<long>(resident_bytes()) - static_cast<long>(memory)
                   << " bytes");
}

TEST_CASE("two thousand owners destroyed at a random moment leave nothing behind", "[soak]") {
    World world;
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random{seed};
    run_many(world, 100);
    const auto descriptors = count_descriptors();
    malloc_trim(0);
    const auto memory = resident_bytes();
    std::vector<std::unique_ptr<Recorder>> recorders;
    const std::vector<std::vector<std::string>> kinds{
        {"exit", "0"}, {"sleep", "1"}, {"spew", "200000"}, {"count-input"}, {"close-outputs"}};
    for (int i = 0; i < 2000; i++) {
        auto command = misbehave(kinds[random() % kinds.size()]);
        command.input = std::string(random() % 2 ? 100 : 200'000, 'i');
        recorders.push_back(std::make_unique<Recorder>(world, std::move(command)));
        REQUIRE(recorders.back()->start());
        for (auto turns = random() % 4; turns > 0; turns--) world.loop().run_once();
        // At most as many as may wait, each gone at some moment of its life.
        while (recorders.size() > 24 || (!recorders.empty() && random() % 3 == 0)) {
            recorders.erase(recorders.begin() + static_cast<std::ptrdiff_t>(random() % recorders.size()));
        }
    }
    recorders.clear();
    REQUIRE(world.wait([&] {
        return world.engine().terminator.size() == 0 && world.engine().reaper.enrolled() == 0 && count_children() == 0;
    }));
    CHECK(world.engine().queue.running() == 0);
    CHECK(count_descriptors() == descriptors);
    malloc_trim(0);
    if (kCountMemory) CHECK(resident_bytes() < memory + 1024 * 1024);
}
