#pragma once

#include "loop/poll.h"
#include "util/result.h"
#include "util/unique_fd.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mcpd::loop {

/// The kernel's news about directories. libuv's own watcher does not tell when a file that was written is closed, nor
/// that events were lost; so this is inotify itself.
class Inotify {
public:
    struct Event {
        int watch;             ///< as add() returned it; -1 when events were lost (IN_Q_OVERFLOW)
        std::uint32_t mask;    ///< IN_CREATE …
        std::uint32_t cookie;  ///< joins the two halves of a rename
        std::string name;      ///< within the directory; empty when it is about the directory itself
    };

    class Listener {
    public:
        /// All that came at once, in order. May destroy the Inotify.
        virtual void on_events(std::span<const Event> events) = 0;

    protected:
        ~Listener() = default;
    };

    /// Fails when the user has too many of them (EMFILE, fs.inotify.max_user_instances).
    static Result<std::unique_ptr<Inotify>> open(Loop& loop, Listener& listener);
    ~Inotify();
    Inotify(const Inotify&) = delete;

    /// Watches a directory. The same directory gives the same number again. Code::Busy when the user has too many
    /// (ENOSPC, fs.inotify.max_user_watches).
    Result<int> add(const std::string& path, std::uint32_t mask);
    void remove(int watch);

private:
    Inotify(Listener& listener, UniqueFd fd);
    void on_ready(int);

    Listener& listener_;
    UniqueFd fd_;
    Poll poll_;
};

}  // namespace mcpd::loop
