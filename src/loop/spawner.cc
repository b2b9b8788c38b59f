#include "loop/spawner.h"

#include "loop/loop.h"
#include "loop/reaper.h"
#include "util/log.h"

#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace mcpd::loop {

void Spawner::Order::prepare() {
    static const char kShell[] = "/bin/sh";
    // exec takes pointers to writable strings for the sake of old C; it writes to none of them.
    const auto pointer = [](const std::string& text) { return const_cast<char*>(text.c_str()); };

    shell_argv_ = {const_cast<char*>(kShell), pointer(program)};
    for (const auto& word : argv) argv_pointers_.push_back(pointer(word));
    for (std::size_t i = 1; i < argv.size(); i++) shell_argv_.push_back(pointer(argv[i]));
    environment_pointers_.reserve(environment.size() + 1);
    for (const auto& entry : environment) environment_pointers_.push_back(pointer(entry));
    for (auto* list : {&argv_pointers_, &shell_argv_, &environment_pointers_}) list->push_back(nullptr);

    launch_ = {.program = program.c_str(),
               .argv = argv_pointers_.data(),
               .shell_argv = shell_argv_.data(),
               .environment = environment_pointers_.data(),
               .directory = directory.empty() ? nullptr : directory.c_str(),
               .input = input.get(),
               .output = output.get(),
               .errors = errors.get(),
               .mark = launch_.mark};
}

Spawner::Spawner(Loop& loop, Reaper& reaper)
    : loop_(loop), reaper_(reaper), deliver_(loop, Callback<void()>::to<&Spawner::deliver>(this)) {
    arrived_.open(this, [&](uv_async_t* async) {
        return uv_async_init(loop_.get(), async, [](uv_async_t* body) {
            if (body->data) static_cast<Spawner*>(body->data)->collect();
        });
    });
    arrived_.set_counted(false);
}

Spawner::~Spawner() {
    if (thread_.joinable()) {
        {
            const std::lock_guard lock{mutex_};
            stop_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }
    // Nobody is left to hear of these.
    for (auto& order : done_) order->listener_ = nullptr;
    for (auto& order : delivered_) order->listener_ = nullptr;
    collect();
    deliver();
}

Spawner::Ticket Spawner::submit(std::unique_ptr<Order> order, Listener& listener) {
    order->listener_ = &listener;
    order->launch_.mark = reaper_.mark(order->number);
    order->prepare();
    Ticket ticket{order.get()};

    const bool idle = in_flight_ == 0 && reaper_.enrolled() == 0;
    if (idle || !has_thread()) {
        order->result_ = launch(order->launch_, stack_);
        if (order->result_.process.pid > 0) reaper_.enroll(order->result_.process.pid);
        in_flight_++;
        delivered_.push_back(std::move(order));
        deliver_.schedule();
        return ticket;
    }

    in_flight_++;
    reaper_.set_launching(true);
    arrived_.set_counted(true);
    {
        const std::lock_guard lock{mutex_};
        waiting_.push_back(std::move(order));
    }
    wake_.notify_one();
    return ticket;
}

/// Makes it, the first time. False when the user may have no more threads: processes are started right here then.
bool Spawner::has_thread() {
    if (thread_.joinable()) return true;
    // Born with every signal blocked: handlers belong to the loop's thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread{[this] { run_thread(); }};
    } catch (const std::system_error& error) {
        if (!std::exchange(complained_, true)) log::warning("cannot start the spawner's thread: {}", error.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_.joinable();
}

void Spawner::run_thread() {
    thread_id_ = gettid();
    const LaunchStack stack;
    std::unique_lock lock{mutex_};
    while (true) {
        wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
        if (stop_) return;
        Orders orders = std::move(waiting_);
        waiting_.clear();
        for (auto& order : orders) {
            lock.unlock();
            order->result_ = launch(order->launch_, stack);
            lock.lock();
            done_.push_back(std::move(order));
            uv_async_send(arrived_.get());
            if (stop_) return;
        }
    }
}

void Spawner::collect() {
    Orders arrived;
    {
        const std::lock_guard lock{mutex_};
        arrived.swap(done_);
    }
    for (auto& order : arrived) {
        if (order->result_.process.pid > 0) reaper_.enroll(order->result_.process.pid);
        delivered_.push_back(std::move(order));
    }
    deliver();
}

void Spawner::deliver() {
    Orders orders = std::move(delivered_);
    delivered_.clear();
    in_flight_ -= orders.size();
    if (in_flight_ == 0) {
        arrived_.set_counted(false);
        if (thread_.joinable()) reaper_.set_second_parent(thread_id_);
        reaper_.set_launching(false);
    }
    for (auto& order : orders) {
        Listener* listener = order->listener_;
        Launched result = std::move(order->result_);
        // The child has its own copies; while ours are open, its end would not be seen.
        order.reset();
        if (result.process.pid == 0) {
            if (listener) listener->on_spawn_failed(result.failure);
        } else if (listener) {
            listener->on_spawned(std::move(result.process));
        } else {
            reaper_.bury(std::move(result.process));
        }
    }
}

}  // namespace mcpd::loop
