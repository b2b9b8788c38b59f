#include "loop/loop.h"
#include "loop/deferred.h"
#include "loop/inotify.h"
#include "loop/listener.h"
#include "loop/signals.h"
#include "loop/stream.h"
#include "loop/timer.h"
#include "support.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace mcpd;
using namespace std::chrono_literals;

namespace {

struct Counter {
    void add() { count++; }
    void add_signal(int number) {
        count++;
        last = number;
    }
    int count = 0;
    int last = 0;
};

/// All that a stream said.
struct StreamRecorder final : loop::Stream::Listener {
    void on_data(std::string_view bytes) override { data += bytes; }
    void on_end() override { ended = true; }
    void on_broken(int error) override { broken = error; }
    void on_drained() override { drained++; }

    std::string data;
    bool ended = false;
    int broken = 0;
    int drained = 0;
};

struct Pipe {
    Pipe() {
        int ends[2];
        REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
        reading.reset(ends[0]);
        writing.reset(ends[1]);
    }
    UniqueFd reading, writing;
};

struct Connections {
    void add(UniqueFd fd) { all.push_back(std::move(fd)); }
    std::vector<UniqueFd> all;
};

UniqueFd connect_to(int port) {
    UniqueFd fd{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{.sin_family = AF_INET,
                        .sin_port = htons(static_cast<std::uint16_t>(port)),
                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    REQUIRE(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return fd;
}

}  // namespace

TEST_CASE("timers fire once, in order, and not when stopped or destroyed", "[loop]") {
    World world;
    Counter first, second, never;
    loop::Timer late{world.loop(), Callback<void()>::to<&Counter::add>(&second)};
    loop::Timer early{world.loop(), Callback<void()>::to<&Counter::add>(&first)};
    loop::Timer stopped{world.loop(), Callback<void()>::to<&Counter::add>(&never)};
    late.start(30ms);
    early.start(5ms);
    stopped.start(1ms);
    stopped.stop();
    {
        loop::Timer gone{world.loop(), Callback<void()>::to<&Counter::add>(&never)};
        gone.start(1ms);
    }
    REQUIRE(world.wait([&] { return first.count == 1; }));
    CHECK(second.count == 0);
    REQUIRE(world.wait([&] { return second.count == 1; }));
    CHECK_FALSE(late.is_active());
    CHECK(never.count == 0);
}

TEST_CASE("deferred calls come once, before the loop sleeps, and not after cancel", "[loop]") {
    World world;
    Counter counter, never;
    loop::Deferred deferred{world.loop(), Callback<void()>::to<&Counter::add>(&counter)};
    loop::Deferred cancelled{world.loop(), Callback<void()>::to<&Counter::add>(&never)};
    deferred.schedule();
    deferred.schedule();
    cancelled.schedule();
    cancelled.cancel();
    {
        loop::Deferred gone{world.loop(), Callback<void()>::to<&Counter::add>(&never)};
        gone.schedule();
    }
    CHECK(counter.count == 0);
    world.loop().run();  // returns because nothing is left to wait for
    CHECK(counter.count == 1);
    CHECK(never.count == 0);
}

TEST_CASE("a deferred call that asks again lets others have their turn", "[loop]") {
    World world;
    struct Again {
        explicit Again(loop::Loop& loop) : deferred(loop, Callback<void()>::to<&Again::call>(this)) {
            deferred.schedule();
        }
        void call() {
            count++;
            deferred.schedule();
        }
        loop::Deferred deferred;
        int count = 0;
    } again{world.loop()};
    Counter timer_fired;
    loop::Timer timer{world.loop(), Callback<void()>::to<&Counter::add>(&timer_fired)};
    timer.start(5ms);
    REQUIRE(world.wait([&] { return timer_fired.count == 1; }));
    CHECK(again.count > 1);
}

TEST_CASE("a deferred call may destroy another one", "[loop]") {
    World world;
    struct Destroyer {
        void call() { victim.reset(); }
        std::unique_ptr<loop::Deferred> victim;
    } destroyer;
    Counter never;
    loop::Deferred first{world.loop(), Callback<void()>::to<&Destroyer::call>(&destroyer)};
    destroyer.victim = std::make_unique<loop::Deferred>(world.loop(), Callback<void()>::to<&Counter::add>(&never));
    first.schedule();
    destroyer.victim->schedule();
    world.loop().run();
    CHECK(never.count == 0);
}

TEST_CASE("signals become calls", "[loop]") {
    World world;
    Counter counter;
    const loop::Signals signals{
        world.loop(), {SIGUSR1, SIGUSR2}, Callback<void(int)>::to<&Counter::add_signal>(&counter)};
    raise(SIGUSR2);
    REQUIRE(world.wait([&] { return counter.count == 1; }));
    CHECK(counter.last == SIGUSR2);
}

TEST_CASE("a stream reads a pipe to its end", "[loop]") {
    World world;
    Pipe pipe;
    StreamRecorder recorder;
    loop::Stream stream{world.loop(), std::move(pipe.reading), recorder};
    stream.start_reading();
    REQUIRE(write(pipe.writing.get(), "hello", 5) == 5);
    REQUIRE(world.wait([&] { return recorder.data == "hello"; }));
    stream.stop_reading();
    REQUIRE(write(pipe.writing.get(), "more", 4) == 4);
    pipe.writing.reset();
    Counter pause;
    loop::Timer timer{world.loop(), Callback<void()>::to<&Counter::add>(&pause)};
    timer.start(10ms);
    REQUIRE(world.wait([&] { return pause.count == 1; }));
    CHECK(recorder.data == "hello");
    stream.start_reading();
    REQUIRE(world.wait([&] { return recorder.ended; }));
    CHECK(recorder.data == "hellomore");
}

TEST_CASE("what a stream cannot write yet waits, and arrives whole and in order", "[loop]") {
    World world;
    Pipe pipe;
    StreamRecorder recorder;
    loop::Stream stream{world.loop(), std::move(pipe.writing), recorder};
    std::string expected;
    for (int i = 0; i < 20'000; i++) {
        const std::string line = std::to_string(i) + " and some more text\n";
        expected += line;
        stream.write(line);
    }
    std::string block(300'000, 'b');
    expected += block;
    stream.write_block(std::move(block));
    CHECK(stream.pending() == expected.size());
    CHECK(recorder.drained == 0);

    std::string got;
    fcntl(pipe.reading.get(), F_SETFL, O_NONBLOCK);
    REQUIRE(world.wait([&] {
        char buffer[10'000];
        const ssize_t size = read(pipe.reading.get(), buffer, sizeof buffer);
        if (size > 0) got.append(buffer, static_cast<std::size_t>(size));
        return recorder.drained == 1 && size <= 0;
    }));
    CHECK(got == expected);
    CHECK(stream.pending() == 0);
}

TEST_CASE("writes of one turn go out together", "[loop]") {
    World world;
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd other{ends[1]};
    StreamRecorder recorder;
    loop::Stream stream{world.loop(), UniqueFd{ends[0]}, recorder};
    for (const char* piece : {"a", "b", "c"}) stream.write(piece);
    REQUIRE(world.wait([&] { return recorder.drained == 1; }));
    char buffer[16];
    CHECK(recv(other.get(), buffer, sizeof buffer, MSG_DONTWAIT) == 3);  // one packet
}

TEST_CASE("a stream whose reader has gone says so once", "[loop]") {
    World world;
    Pipe pipe;
    StreamRecorder recorder;
    loop::Stream stream{world.loop(), std::move(pipe.writing), recorder};
    pipe.reading.reset();
    stream.write("into the void");
    REQUIRE(world.wait([&] { return recorder.broken != 0; }));
    CHECK(recorder.broken == EPIPE);
    stream.write("more");
    CHECK(stream.pending() == 0);
}

TEST_CASE("a stream reads and writes regular files and /dev/null", "[loop]") {
    World world;
    const std::string text(700'000, 'z');
    std::ofstream{world.path("in")} << text;
    StreamRecorder reader, writer, nothing;
    loop::Stream in{world.loop(), UniqueFd{open(world.path("in").c_str(), O_RDONLY | O_CLOEXEC)}, reader};
    in.start_reading();
    REQUIRE(world.wait([&] { return reader.ended; }));
    CHECK(reader.data == text);

    loop::Stream out{world.loop(), UniqueFd{open(world.path("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)},
                     writer};
    out.write(text);
    out.write("end");
    REQUIRE(world.wait([&] { return writer.drained == 1; }));
    CHECK(slurp(world.path("out")) == text + "end");

    loop::Stream null{world.loop(), UniqueFd{open("/dev/null", O_RDWR | O_CLOEXEC)}, nothing};
    null.start_reading();
    REQUIRE(world.wait([&] { return nothing.ended; }));
}

TEST_CASE("a stream on a terminal leaves the terminal's flags alone", "[loop]") {
    World world;
    const UniqueFd master{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    REQUIRE(grantpt(master.get()) == 0);
    REQUIRE(unlockpt(master.get()) == 0);
    const UniqueFd terminal{open(ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC)};
    StreamRecorder recorder;
    loop::Stream stream{world.loop(), loop::Stream::open_standard(terminal.get()), recorder};
    stream.start_reading();
    CHECK((fcntl(terminal.get(), F_GETFL) & O_NONBLOCK) == 0);
    REQUIRE(write(master.get(), "typed\n", 6) == 6);
    REQUIRE(world.wait([&] { return recorder.data == "typed\n"; }));
}

TEST_CASE("standard descriptors get their flags back", "[loop]") {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd other{ends[1]}, saved{dup(0)};
    dup2(ends[0], 0);
    close(ends[0]);
    {
        const loop::StandardFlags flags;
        World world;
        StreamRecorder recorder;
        loop::Stream stream{world.loop(), loop::Stream::open_standard(0), recorder};
        stream.start_reading();
        REQUIRE(write(other.get(), "x", 1) == 1);
        REQUIRE(world.wait([&] { return recorder.data == "x"; }));
    }
    CHECK((fcntl(0, F_GETFL) & O_NONBLOCK) == 0);
    dup2(saved.get(), 0);
}

TEST_CASE("a loop that was stopped before it ran closes all the same", "[loop]") {
    auto loop = loop::Loop::open();
    REQUIRE(loop);
    Counter counter;
    {
        loop::Timer timer{**loop, Callback<void()>::to<&Counter::add>(&counter)};
        timer.start(1ms);
        (*loop)->stop();
    }
    loop->reset();
}

TEST_CASE("a listener accepts on TCP and says its port", "[loop]") {
    World world;
    auto socket = loop::Listener::open_tcp("127.0.0.1", 0);
    REQUIRE(socket);
    Connections connections;
    const loop::Listener listener{world.loop(), std::move(*socket),
                                  Callback<void(UniqueFd)>::to<&Connections::add>(&connections)};
    REQUIRE(listener.port() > 0);
    const auto a = connect_to(listener.port()), b = connect_to(listener.port());
    REQUIRE(world.wait([&] { return connections.all.size() == 2; }));
    CHECK((fcntl(connections.all[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK((fcntl(connections.all[0].get(), F_GETFL) & O_NONBLOCK) != 0);

    const auto taken = loop::Listener::open_tcp("127.0.0.1", listener.port());
    REQUIRE_FALSE(taken);
    CHECK(taken.error().code == Code::Busy);
    CHECK(loop::Listener::open_tcp("localhost", 0).error().code == Code::Invalid);
    CHECK(loop::Listener::open_tcp("::1", 0));
}

TEST_CASE("a unix socket is private, and a dead one is replaced", "[loop]") {
    World world;
    const std::string path = world.path("socket");
    {
        auto first = loop::Listener::open_unix(path);
        REQUIRE(first);
        struct stat status;
        REQUIRE(stat(path.c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
        CHECK(loop::Listener::open_unix(path).error().code == Code::Busy);
    }
    CHECK(loop::Listener::open_unix(path));

    // One of another kind is somebody's too.
    const std::string datagrams = world.path("datagrams");
    const UniqueFd bound{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strcpy(address.sun_path, datagrams.c_str());
    REQUIRE(bind(bound.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK(loop::Listener::open_unix(datagrams).error().code == Code::Busy);

    std::ofstream{world.path("file")} << "precious";
    CHECK_FALSE(loop::Listener::open_unix(world.path("file")));
    CHECK(slurp(world.path("file")) == "precious");
    CHECK(loop::Listener::open_unix(std::string(200, 'x')).error().code == Code::Invalid);
}

TEST_CASE("a listener without descriptors turns clients away, and recovers", "[loop]") {
    World world;
    auto socket = loop::Listener::open_tcp("127.0.0.1", 0);
    REQUIRE(socket);
    Connections connections;
    const loop::Listener listener{world.loop(), std::move(*socket),
                                  Callback<void(UniqueFd)>::to<&Connections::add>(&connections)};
    rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const auto client = connect_to(listener.port());
    const rlim_t highest = static_cast<rlim_t>(client.get()) + 1;
    const rlimit few{highest, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    std::vector<UniqueFd> fillers;
    for (UniqueFd fd{open("/dev/null", O_RDONLY | O_CLOEXEC)}; fd; fd.reset(open("/dev/null", O_RDONLY | O_CLOEXEC))) {
        fillers.push_back(std::move(fd));
    }
    char byte;
    REQUIRE(world.wait([&] { return recv(client.get(), &byte, 1, MSG_DONTWAIT) == 0; }));  // closed, not left hanging
    CHECK(connections.all.empty());
    setrlimit(RLIMIT_NOFILE, &before);
    const auto next = connect_to(listener.port());
    REQUIRE(world.wait([&] { return connections.all.size() == 1; }));
}

TEST_CASE("a paused listener accepts nobody", "[loop]") {
    World world;
    auto socket = loop::Listener::open_tcp("127.0.0.1", 0);
    REQUIRE(socket);
    Connections connections;
    loop::Listener listener{world.loop(), std::move(*socket),
                            Callback<void(UniqueFd)>::to<&Connections::add>(&connections)};
    listener.pause();
    const auto client = connect_to(listener.port());
    CHECK_FALSE(world.wait([&] { return !connections.all.empty(); }, 50ms));
    listener.resume();
    CHECK(world.wait([&] { return connections.all.size() == 1; }));
}

TEST_CASE("inotify tells what happens in a directory, and when it missed something", "[loop]") {
    World world;
    struct Recorder final : loop::Inotify::Listener {
        void on_events(std::span<const loop::Inotify::Event> events) override {
            all.insert(all.end(), events.begin(), events.end());
        }
        bool saw(std::string_view name, std::uint32_t mask) const {
            return std::ranges::any_of(all, [&](const auto& event) { return event.name == name && event.mask & mask; });
        }
        std::vector<loop::Inotify::Event> all;
    } recorder;
    auto inotify = loop::Inotify::open(world.loop(), recorder);
    REQUIRE(inotify);
    std::filesystem::create_directory(world.path("d"));
    const auto watch = (*inotify)->add(world.path("d"), IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_CREATE);
    REQUIRE(watch);
    std::ofstream{world.path("d/file")} << "x";
    REQUIRE(world.wait([&] { return recorder.saw("file", IN_CLOSE_WRITE); }));
    CHECK(recorder.all.front().watch == *watch);
    std::filesystem::rename(world.path("d/file"), world.path("d/other"));
    REQUIRE(world.wait([&] { return recorder.saw("other", IN_MOVED_TO); }));
    CHECK((*inotify)->add(world.path("none"), IN_CREATE).error().code == Code::NotFound);

    const std::string name = world.path("d/flood");
    for (int i = 0; i < 20'000; i++) {
        close(open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        unlink(name.c_str());
    }
    REQUIRE(world.wait([&] {
        return std::ranges::any_of(recorder.all, [](const auto& event) { return event.mask & IN_Q_OVERFLOW; });
    }));
    (*inotify)->remove(*watch);
}
