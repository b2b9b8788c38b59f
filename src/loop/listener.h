#pragma once

#include "loop/poll.h"
#include "loop/timer.h"
#include "util/result.h"
#include "util/unique_fd.h"

#include <chrono>
#include <string>

namespace mcpd::loop {

/// Accepts connections on a listening socket.
///
/// When the process is out of descriptors, waiting clients are turned away rather than left to wait, and the log says so
/// at most once a second: a full daemon must not spin.
class Listener {
public:
    /// The connection is close-on-exec and non-blocking. The call may destroy the Listener.
    Listener(Loop& loop, UniqueFd listening, Callback<void(UniqueFd)> on_connection);
    ~Listener();

    /// A socket that listens on a numeric address; port 0 lets the system choose.
    static Result<UniqueFd> open_tcp(const std::string& address, int port);

    /// A socket at `path` that only this user can connect to. A socket that a dead daemon left there is replaced; one
    /// that answers is not.
    static Result<UniqueFd> open_unix(const std::string& path);

    /// The TCP port it listens on; 0 for a unix socket.
    int port() const;

    /// Clients queue in the kernel meanwhile.
    void pause();
    void resume();

private:
    void on_ready(int);
    void turn_away(int error);
    void complain(int error);

    Loop& loop_;
    UniqueFd fd_;
    UniqueFd spare_;  ///< given up for a moment to accept, and close, a client that there is no room for
    Callback<void(UniqueFd)> on_connection_;
    Poll poll_;
    Timer rest_;
    std::chrono::steady_clock::time_point last_complaint_{};
};

}  // namespace mcpd::loop
