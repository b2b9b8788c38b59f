#include "loop/listener.h"

#include "loop/loop.h"
#include "util/log.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace mcpd::loop {

namespace {

constexpr int kBacklog = 128;

/// How long to look away when even turning clients away failed.
constexpr std::chrono::milliseconds kRest{100};

UniqueFd open_spare() {
    return UniqueFd{open("/dev/null", O_RDONLY | O_CLOEXEC)};
}

Error failure(const std::string& subject, int error) {
    Code code = Code::System;
    if (error == EADDRINUSE) code = Code::Busy;
    if (error == EACCES || error == EPERM) code = Code::Forbidden;
    return {code, subject + ": " + text::describe_errno(error)};
}

Result<UniqueFd> bind_and_listen(const std::string& subject, const sockaddr* address, socklen_t size) {
    UniqueFd fd{socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) return failure(subject, errno);
    const int on = 1;
    // A restart must not wait for the connections of the last run to be forgotten.
    if (address->sa_family != AF_UNIX) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // The file that bind makes has this mode from its first moment.
    if (address->sa_family == AF_UNIX && fchmod(fd.get(), 0600) < 0) return failure(subject, errno);
    if (bind(fd.get(), address, size) < 0) return failure(subject, errno);
    if (listen(fd.get(), kBacklog) < 0) return failure(subject, errno);
    return fd;
}

bool somebody_answers(const sockaddr_un& address) {
    const UniqueFd probe{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    // Only a refusal says that nobody does: a queue that is full, another kind of socket or one that we may not use
    // belong to somebody.
    return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
           errno != ECONNREFUSED;
}

}  // namespace

Result<UniqueFd> Listener::open_tcp(const std::string& address, int port) {
    const std::string subject = address + " port " + std::to_string(port);
    const auto number = htons(static_cast<std::uint16_t>(port));
    sockaddr_in v4{.sin_family = AF_INET, .sin_port = number};
    if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
        return bind_and_listen(subject, reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
    }
    sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_port = number};
    if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
        return bind_and_listen(subject, reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
    }
    return Error{Code::Invalid, text::printable(address) + ": not a numeric IP address"};
}

Result<UniqueFd> Listener::open_unix(const std::string& path) {
    sockaddr_un address{.sun_family = AF_UNIX};
    const std::string subject = text::printable(path);
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return Error{Code::Invalid,
                     subject + ": a socket's path has 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes"};
    }
    std::memcpy(address.sun_path, path.data(), path.size());

    struct stat status;
    if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) {
        if (somebody_answers(address)) return Error{Code::Busy, subject + ": another program listens there"};
        unlink(path.c_str());
    }
    return bind_and_listen(subject, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Listener::Listener(Loop& loop, UniqueFd listening, Callback<void(UniqueFd)> on_connection)
    : loop_(loop),
      fd_(std::move(listening)),
      spare_(open_spare()),
      on_connection_(on_connection),
      poll_(Callback<void(int)>::to<&Listener::on_ready>(this)),
      rest_(loop, Callback<void()>::to<&Listener::resume>(this)) {
    resume();
}

Listener::~Listener() {
    poll_.close();
}

void Listener::pause() {
    rest_.stop();
    poll_.stop();
}

void Listener::resume() {
    const int error = poll_.is_open() ? 0 : poll_.open(loop_, fd_.get());
    if (error == 0) return poll_.start(UV_READABLE);
    complain(-error);
    rest_.start(kRest);
}

int Listener::port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
    if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
    return 0;
}

void Listener::on_ready(int) {
    UniqueFd connection{accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    // One a turn: those who are connected are not to wait for those who come.
    if (connection) return on_connection_(std::move(connection));
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) turn_away(errno);
}

void Listener::complain(int error) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_complaint_ < std::chrono::seconds{1}) return;
    log::error("cannot accept connections: {}", text::describe_errno(error));
    last_complaint_ = now;
}

void Listener::turn_away(int error) {
    complain(error);
    spare_.reset();
    UniqueFd unwanted{accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    const bool helped = static_cast<bool>(unwanted);
    unwanted.reset();
    spare_ = open_spare();
    if (helped && spare_) return;
    pause();
    rest_.start(kRest);
}

}  // namespace mcpd::loop
