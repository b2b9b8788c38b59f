#include "util/log.h"

#include "util/utf8.h"

#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <iterator>
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

/// The message as a JSON string.
class JsonMessage final : public spdlog::custom_flag_formatter {
    void format(const spdlog::details::log_msg& message, const tm&, spdlog::memory_buf_t& out) override {
        const std::string text = utf8::repair({message.payload.data(), message.payload.size()});
        out.push_back('"');
        for (const char c : text) {
            if (c == '"' || c == '\\') out.push_back('\\');
            if (static_cast<unsigned char>(c) < 0x20) {
                fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
            } else {
                out.push_back(c);
            }
        }
        out.push_back('"');
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JsonMessage>(); }
};

/// `<4>` and the like, as sd-daemon(3) has it.
class Priority final : public spdlog::custom_flag_formatter {
    void format(const spdlog::details::log_msg& message, const tm&, spdlog::memory_buf_t& out) override {
        const int priority = message.level == spdlog::level::err    ? 3
                             : message.level == spdlog::level::warn ? 4
                             : message.level == spdlog::level::info ? 6
                                                                    : 7;
        fmt::format_to(std::back_inserter(out), "<{}>", priority);
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Priority>(); }
};

}  // namespace

Format format_of_stderr() {
    const char* journal = std::getenv("JOURNAL_STREAM");
    struct stat status;
    if (!journal || fstat(STDERR_FILENO, &status) < 0) return Format::Text;
    return fmt::format("{}:{}", status.st_dev, status.st_ino) == journal ? Format::Journal : Format::Text;
}

void open(Level level, Format format) {
    auto logger = std::make_shared<spdlog::logger>("mcpd", std::make_shared<StderrSink>());
    if (format == Format::Text) {
        logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    } else {
        auto formatter = std::make_unique<spdlog::pattern_formatter>();
        if (format == Format::Json) {
            formatter->add_flag<JsonMessage>('*').set_pattern(
                R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%*})");
        } else {
            formatter->add_flag<Priority>('*').set_pattern("%*%v");
        }
        logger->set_formatter(std::move(formatter));
    }
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
