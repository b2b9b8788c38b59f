#include "loop/stream.h"

#include "loop/loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace mcpd::loop {

namespace {

/// Small writes are put together up to this size.
constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kPiecesAtOnce = 64;

}  // namespace

StandardFlags::StandardFlags() {
    for (int fd = 0; fd <= 2; fd++) flags_[static_cast<std::size_t>(fd)] = fcntl(fd, F_GETFL);
}

StandardFlags::~StandardFlags() {
    for (int fd = 0; fd <= 2; fd++) {
        const int flags = flags_[static_cast<std::size_t>(fd)];
        if (flags >= 0) fcntl(fd, F_SETFL, flags);
    }
}

UniqueFd Stream::open_standard(int fd) {
    const int mode = fcntl(fd, F_GETFL) & O_ACCMODE;
    struct stat status;
    if (fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || isatty(fd))) {
        const std::string path = "/proc/self/fd/" + std::to_string(fd);
        UniqueFd again{open(path.c_str(), mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
        if (again) return again;
    }
    // A socket cannot be opened again, a file must keep its position, and a pipe may belong to another user.
    return UniqueFd{fcntl(fd, F_DUPFD_CLOEXEC, 3)};
}

Stream::Stream(Loop& loop, UniqueFd fd, Listener& listener)
    : loop_(loop),
      listener_(listener),
      fd_(std::move(fd)),
      poll_(Callback<void(int)>::to<&Stream::on_ready>(this)),
      turn_end_(loop, Callback<void()>::to<&Stream::on_turn_end>(this)) {
    const int error = poll_.open(loop_, fd_.get());
    always_ready_ = error == -EPERM;
    if (error < 0 && !always_ready_) {
        unusable_ = -error;
        turn_end_.schedule();
    }
}

Stream::~Stream() {
    poll_.close();
}

void Stream::start_reading() {
    reading_ = true;
    watch();
}

void Stream::stop_reading() {
    reading_ = false;
    watch();
}

void Stream::write(std::string_view bytes) {
    if (broken_ || bytes.empty()) return;
    pending_ += bytes.size();
    if (queue_.empty() || queue_.back().size() + bytes.size() > kPiece) {
        queue_.emplace_back(bytes);
    } else {
        queue_.back() += bytes;
    }
    if (!blocked_) turn_end_.schedule();
}

void Stream::write_block(std::string bytes) {
    if (bytes.size() < kPiece) return write(bytes);
    if (broken_) return;
    pending_ += bytes.size();
    queue_.push_back(std::move(bytes));
    if (!blocked_) turn_end_.schedule();
}

/// Asks the loop for what we want to know now.
void Stream::watch() {
    if (broken_ || unusable_) return;
    if (always_ready_) {
        if (reading_) turn_end_.schedule();
        return;
    }
    const int events = (reading_ ? UV_READABLE : 0) | (blocked_ ? UV_WRITABLE : 0);
    events ? poll_.start(events) : poll_.stop();
}

void Stream::on_ready(int events) {
    if (events & UV_WRITABLE && blocked_) {
        blocked_ = false;
        turn_end_.schedule();
        watch();
    }
    if (events & UV_READABLE && reading_) read_some();
}

void Stream::on_turn_end() {
    if (unusable_) return fail(unusable_);
    if (pending_ > 0) return flush();
    if (always_ready_ && reading_) read_some();
}

void Stream::read_some() {
    const auto buffer = loop_.scratch();
    const ssize_t size = read(fd_.get(), buffer.data(), buffer.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return watch();
    if (size < 0) return fail(errno);
    if (size == 0) {
        stop_reading();
        return listener_.on_end();
    }
    watch();
    listener_.on_data({buffer.data(), static_cast<std::size_t>(size)});
}

void Stream::flush() {
    while (pending_ > 0) {
        std::array<iovec, kPiecesAtOnce> pieces;
        const std::size_t count = std::min(queue_.size(), pieces.size());
        for (std::size_t i = 0; i < count; i++) {
            const std::size_t skip = i == 0 ? front_written_ : 0;
            pieces[i] = {queue_[i].data() + skip, queue_[i].size() - skip};
        }
        const ssize_t size = writev(fd_.get(), pieces.data(), static_cast<int>(count));
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) {
            blocked_ = true;
            return watch();
        }
        if (size < 0) return fail(errno);
        pending_ -= static_cast<std::size_t>(size);
        front_written_ += static_cast<std::size_t>(size);
        while (!queue_.empty() && front_written_ >= queue_.front().size()) {
            front_written_ -= queue_.front().size();
            queue_.pop_front();
        }
    }
    watch();
    listener_.on_drained();
}

void Stream::fail(int error) {
    broken_ = true;
    poll_.close();
    turn_end_.cancel();
    queue_.clear();
    pending_ = 0;
    listener_.on_broken(error);
}

}  // namespace mcpd::loop
