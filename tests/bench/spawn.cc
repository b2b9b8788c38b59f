// Runs N children through exec::Queue, so many at once, and tells how many a second that were.
//
//   spawn --child PATH [--n 400] [--conc 1,8] [--reps 1] [--ballast MB]
//
// One line of JSON per repetition and concurrency, for tests/bench/compare.

#include "exec/engine.h"
#include "exec/job.h"
#include "loop/loop.h"
#include "util/log.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpd;

namespace {

struct Settings {
    std::string child;
    int count = 400;
    std::vector<int> concurrency{1, 8};
    int repetitions = 1;
    int ballast_mb = 0;
};

/// Keeps `width` jobs under way until `count` have ended.
class Run {
public:
    Run(loop::Loop& loop, exec::Engine& engine, const exec::Command& command, int count, int width)
        : loop_(loop), engine_(engine), command_(command), count_(count) {
        for (int i = 0; i < width && i < count; i++) slots_.push_back(std::make_unique<Slot>(*this));
        for (auto& slot : slots_) slot->next();
    }

    double rate() {
        const auto start = std::chrono::steady_clock::now();
        while (ended_ < count_) loop_.run_once();
        return count_ / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

private:
    struct Slot final : exec::Job::Listener {
        explicit Slot(Run& run) : run(run) {}

        void next() {
            if (run.started_ == run.count_) return;
            run.started_++;
            job = std::make_unique<exec::Job>(run.engine_, run.command_, exec::Limits{}, *this);
            if (!job->start()) std::abort();
        }
        void on_stderr_line(std::string_view) override {}
        void on_outcome(exec::Outcome outcome) override {
            if (!outcome.is_success()) {
                fmt::print(stderr, "{}\n", exec::describe(outcome));
                std::exit(1);
            }
            run.ended_++;
            next();
        }

        Run& run;
        std::unique_ptr<exec::Job> job;
    };

    loop::Loop& loop_;
    exec::Engine& engine_;
    const exec::Command& command_;
    int count_;
    int started_ = 0;
    int ended_ = 0;
    std::vector<std::unique_ptr<Slot>> slots_;
};

int number(std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

Settings parse(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i], value = argv[i + 1];
        if (option == "--child") settings.child = value;
        if (option == "--n") settings.count = number(value);
        if (option == "--reps") settings.repetitions = number(value);
        if (option == "--ballast") settings.ballast_mb = number(value);
        if (option == "--conc") {
            settings.concurrency.clear();
            for (std::size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1) {
                settings.concurrency.push_back(number(value.substr(at)));
            }
        }
    }
    return settings;
}

/// Memory that a daemon would hold which has relayed large results: a spawn must not get slower by it.
void take_memory(int megabytes) {
    if (megabytes == 0) return;
    const std::size_t size = static_cast<std::size_t>(megabytes) << 20;
    auto* memory =
        static_cast<volatile char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(const_cast<char*>(memory), size, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < size; i += 4096) memory[i] = 1;
}

}  // namespace

int main(int argc, char** argv) {
    log::open();
    const Settings settings = parse(argc, argv);
    if (settings.child.empty()) {
        fmt::print(stderr, "usage: spawn --child PATH [--n 400] [--conc 1,8] [--reps 1] [--ballast MB]\n");
        return 2;
    }
    exec::Command command{.program = settings.child,
                          .input = R"({"name":"World","count":3,"flag":true,"pad":"xxxxxxxxxxxx"})"};
    for (char** entry = environ; *entry; entry++) command.environment.emplace_back(*entry);
    for (const char* entry : {"name=World", "count=3", "flag=true"}) command.environment.emplace_back(entry);
    take_memory(settings.ballast_mb);

    auto loop = loop::Loop::open();
    if (!loop) return 1;
    exec::Engine engine{**loop, {}};
    for (const int width : settings.concurrency) {
        Run{**loop, engine, command, std::max(width, settings.count / 10), width}.rate();  // warms up
        for (int i = 0; i < settings.repetitions; i++) {
            const double rate = Run{**loop, engine, command, settings.count, width}.rate();
            fmt::print("{{\"conc\":{},\"calls_per_s\":{:.1f}}}\n", width, rate);
        }
    }
    return 0;
}
