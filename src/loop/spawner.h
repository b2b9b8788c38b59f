#pragma once

#include "loop/deferred.h"
#include "loop/handle.h"
#include "loop/launch.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace mcpd::loop {

class Loop;
class Reaper;

/// Starts processes without making the loop wait for them to reach exec, which on a busy machine takes milliseconds: a
/// thread of its own does, one process after the other. Only when no other process of ours runs is the start done right
/// here: that takes a twentieth of a millisecond on an idle machine, and saves two changes of thread.
///
/// Starting has no time limit: a program on a file system that hangs (NFS) hangs whoever starts it.
///
/// The thread and the loop share nothing but the queue of orders; an order owns all it needs. A process dies with the
/// thread that started it, so this must outlive them all.
class Spawner {
public:
    class Listener {
    public:
        /// The process runs. May destroy the listener.
        virtual void on_spawned(Process process) = 0;

        /// There is none. May destroy the listener.
        virtual void on_spawn_failed(LaunchFailure failure) = 0;

    protected:
        ~Listener() = default;
    };

    /// What to start: its own copy of everything.
    struct Order {
        std::string program;
        std::vector<std::string> argv;
        std::vector<std::string> environment;
        std::string directory;  ///< empty: where the daemon is
        UniqueFd input, output, errors;
        std::uint64_t number = 0;  ///< of Reaper::next_number()

    private:
        friend class Spawner;
        void prepare();

        std::vector<char*> argv_pointers_, shell_argv_, environment_pointers_;
        Launch launch_{};
        Launched result_;
        Listener* listener_ = nullptr;
    };

    /// The claim on an order's result. Without it the process is killed as soon as it is there.
    class Ticket {
    public:
        Ticket() = default;
        Ticket(Ticket&& other) noexcept : order_(std::exchange(other.order_, nullptr)) {}
        Ticket& operator=(Ticket&& other) noexcept {
            std::swap(order_, other.order_);
            return *this;
        }
        ~Ticket() {
            if (order_) order_->listener_ = nullptr;
        }

        explicit operator bool() const { return order_ != nullptr; }

        /// The result has come: the order is no more.
        void redeem() { order_ = nullptr; }

    private:
        friend class Spawner;
        explicit Ticket(Order* order) : order_(order) {}
        Order* order_ = nullptr;
    };

    Spawner(Loop& loop, Reaper& reaper);
    ~Spawner();
    Spawner(const Spawner&) = delete;

    /// Returns at once; the listener hears later, never from within this call.
    Ticket submit(std::unique_ptr<Order> order, Listener& listener);

    Reaper& reaper() { return reaper_; }

private:
    using Orders = std::vector<std::unique_ptr<Order>>;

    bool has_thread();
    void run_thread();
    void collect();
    void deliver();

    Loop& loop_;
    Reaper& reaper_;
    Handle<uv_async_t> arrived_;
    Deferred deliver_;
    Orders delivered_;
    std::size_t in_flight_ = 0;
    LaunchStack stack_;
    bool complained_ = false;

    // Shared with the thread, under the mutex.
    std::mutex mutex_;
    std::condition_variable wake_;
    Orders waiting_;
    Orders done_;
    bool stop_ = false;
    std::atomic<pid_t> thread_id_ = 0;
    std::thread thread_;
};

}  // namespace mcpd::loop
