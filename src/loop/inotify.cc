#include "loop/inotify.h"

#include "util/text.h"

#include <sys/inotify.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace mcpd::loop {

Result<std::unique_ptr<Inotify>> Inotify::open(Loop& loop, Listener& listener) {
    UniqueFd fd{inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (!fd) {
        const int error = errno;
        return Error{error == EMFILE ? Code::Busy : Code::System,
                     "cannot watch directories: " + text::describe_errno(error) +
                         (error == EMFILE ? " (see sysctl fs.inotify.max_user_instances)" : "")};
    }
    std::unique_ptr<Inotify> inotify{new Inotify{listener, std::move(fd)}};
    if (const int error = inotify->poll_.open(loop, inotify->fd_.get())) {
        return Error{Code::System, "cannot watch directories: " + text::describe_errno(-error)};
    }
    inotify->poll_.start(UV_READABLE);
    inotify->poll_.set_counted(false);
    return inotify;
}

Inotify::Inotify(Listener& listener, UniqueFd fd)
    : listener_(listener), fd_(std::move(fd)), poll_(Callback<void(int)>::to<&Inotify::on_ready>(this)) {}

Inotify::~Inotify() {
    poll_.close();
}

Result<int> Inotify::add(const std::string& path, std::uint32_t mask) {
    const int watch = inotify_add_watch(fd_.get(), path.c_str(), mask);
    if (watch >= 0) return watch;
    const int error = errno;
    Code code = Code::System;
    if (error == ENOENT || error == ENOTDIR) code = Code::NotFound;
    if (error == EACCES) code = Code::Forbidden;
    if (error == ENOSPC) code = Code::Busy;
    return Error{code, text::printable(path) + ": cannot be watched: " + text::describe_errno(error) +
                           (error == ENOSPC ? " (see sysctl fs.inotify.max_user_watches)" : "")};
}

void Inotify::remove(int watch) {
    inotify_rm_watch(fd_.get(), watch);
}

void Inotify::on_ready(int) {
    alignas(inotify_event) char buffer[32 * 1024];
    const ssize_t size = read(fd_.get(), buffer, sizeof buffer);
    std::vector<Event> events;
    for (ssize_t at = 0; at < size;) {
        inotify_event header;
        std::memcpy(&header, buffer + at, sizeof header);
        // The name is padded with NULs.
        const char* name = buffer + at + sizeof header;
        events.push_back({header.wd, header.mask, header.cookie, header.len ? std::string{name} : std::string{}});
        at += static_cast<ssize_t>(sizeof header + header.len);
    }
    if (!events.empty()) listener_.on_events(events);
}

}  // namespace mcpd::loop
