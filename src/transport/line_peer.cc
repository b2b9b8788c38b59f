#include "transport/line_peer.h"

#include "data/json_writer.h"
#include "mcp/dialect.h"
#include "util/log.h"
#include "util/text.h"

#include <fmt/core.h>

namespace mcpd::transport {

namespace {

/// When so many bytes wait for the client, log lines are held back …
constexpr std::size_t kSlow = 256 * 1024;

/// … so many bytes of them …
constexpr std::size_t kMostHeld = 256 * 1024;

/// … and from here on nothing more is read from it.
constexpr std::size_t kStalled = 8 * 1024 * 1024;

}  // namespace

LinePeer::LinePeer(loop::Loop& loop, mcp::Server& server, UniqueFd in, UniqueFd out, std::size_t max_request,
                   Listener& listener)
    : max_request_(max_request),
      listener_(listener),
      gone_(loop, Callback<void()>::to<&Listener::on_gone>(&listener)),
      in_(loop, std::move(in), *this),
      out_(loop, std::move(out), *this),
      peer_(server, *this, Callback<void()>::to<&LinePeer::on_idle>(this)) {
    in_.start_reading();
}

void LinePeer::on_data(std::string_view bytes) {
    has_spoken_ = true;
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const auto piece = bytes.substr(0, end);
        if (!skipping_ && line_.size() + piece.size() > max_request_) {
            skipping_ = true;
            line_ = {};
            peer_.on_too_large(max_request_);
        }
        if (end == std::string_view::npos) {
            if (!skipping_) line_ += piece;
            return;
        }
        bytes.remove_prefix(end + 1);
        if (!skipping_) {
            // A line that came in one piece need not be copied.
            line_.empty() ? take_line(piece) : take_line(line_ += piece);
        }
        skipping_ = false;
        line_.clear();
        if (line_.capacity() > kSlow) line_.shrink_to_fit();
    }
    if (out_.pending() > kStalled) in_.stop_reading();
}

void LinePeer::take_line(std::string_view line) {
    line = text::trim(line);
    if (!line.empty()) peer_.on_text(line);
}

void LinePeer::on_end() {
    // The last line may lack its end.
    if (!line_.empty()) take_line(std::exchange(line_, {}));
    end_input();
}

void LinePeer::end_input() {
    input_ended_ = true;
    in_.stop_reading();
    peer_.on_input_end();
    check_gone();
}

void LinePeer::on_broken(int error) {
    if (!broken_) log::debug("the client has gone: {}", text::describe_errno(error));
    broken_ = true;
    gone_.schedule();
}

void LinePeer::on_drained() {
    flush_held();
    if (out_.pending() == 0 && !input_ended_ && !broken_) in_.start_reading();
    check_gone();
}

void LinePeer::check_gone() {
    if (input_ended_ && peer_.is_idle() && out_.pending() == 0 && held_.empty()) gone_.schedule();
}

void LinePeer::send(std::string message, Weight weight) {
    if (broken_) return;
    message += '\n';
    if (weight == Weight::Droppable && out_.pending() > kSlow) {
        held_bytes_ += message.size();
        held_.push_back(std::move(message));
        for (; held_bytes_ > kMostHeld; held_.pop_front()) {
            held_bytes_ -= held_.front().size();
            dropped_++;
        }
        return;
    }
    // An answer does not overtake what was said before it.
    flush_held();
    out_.write_block(std::move(message));
}

void LinePeer::flush_held() {
    if (dropped_ > 0) {
        std::string params;
        data::JsonWriter json{params};
        json.begin_object().member("level", "warning").member("logger", "mcpd");
        json.member("data", fmt::format("{} log lines were left out: they came faster than they were read", dropped_));
        json.end_object();
        out_.write(mcp::Dialect::notification("notifications/message", params) + "\n");
        dropped_ = 0;
    }
    for (const auto& message : held_) out_.write(message);
    held_.clear();
    held_bytes_ = 0;
}

}  // namespace mcpd::transport
