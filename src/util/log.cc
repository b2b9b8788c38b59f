#include "util/log.h"

#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <mutex>

namespace mcpd::log {

namespace {

/// How long a line may wait for a reader of stderr that has stalled. Then it is dropped, and no other waits until there is
/// room again: the daemon matters more.
constexpr int kPatienceMs = 50;

/// stderr may be a pipe that nobody reads, where a plain write would wait for ever; or share its description with stdout
/// (`2>&1`), which the loop makes non-blocking, where stdio would stay in error for good. So: asked before each write, and
/// never more than a pipe that says it has room will take.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        const char* at = line.data();
        std::size_t left = line.size();
        while (left > 0) {
            pollfd ready{STDERR_FILENO, POLLOUT, 0};
            stalled_ = poll(&ready, 1, stalled_ ? 0 : kPatienceMs) <= 0;
            if (stalled_) return;
            const ssize_t written = ::write(STDERR_FILENO, at, std::min<std::size_t>(left, PIPE_BUF));
            if (written > 0) {
                at += written;
                left -= static_cast<std::size_t>(written);
            } else if (errno != EINTR && errno != EAGAIN) {
                return;
            }
        }
    }
    void flush_() override {}

    bool stalled_ = false;
};

spdlog::level::level_enum translate(Level level) {
    switch (level) {
        case Level::Debug: return spdlog::level::debug;
        case Level::Info: return spdlog::level::info;
        case Level::Warning: return spdlog::level::warn;
        case Level::Error: return spdlog::level::err;
        case Level::Off: break;
    }
    return spdlog::level::off;
}

}  // namespace

void open(Level level) {
    auto logger = std::make_shared<spdlog::logger>("mcpd", std::make_shared<StderrSink>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    logger->set_level(translate(level));
    spdlog::set_default_logger(std::move(logger));
}

bool is_enabled(Level level) {
    return spdlog::default_logger_raw()->should_log(translate(level));
}

void write(Level level, std::string_view message) {
    spdlog::default_logger_raw()->log(translate(level), spdlog::string_view_t{message.data(), message.size()});
}

}  // namespace mcpd::log
