#include "mcp/progress.h"

#include "data/json_writer.h"
#include "util/text.h"

#include <charconv>
#include <chrono>
#include <cmath>

namespace mcpd::mcp {

namespace {

constexpr std::chrono::seconds kBeat{5};
constexpr double kBeatStep = 0.001;

/// Takes a number that is not negative from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// 3 rather than 3.0, for people who read the wire.
void write_number(data::JsonWriter& json, double value) {
    if (std::trunc(value) == value && value < 1e15) {
        json.value(static_cast<std::int64_t>(value));
    } else {
        json.value(value);
    }
}

}  // namespace

std::optional<ProgressLine> read_progress_line(std::string_view line) {
    constexpr std::string_view kWord = "PROGRESS";
    if (!line.starts_with(kWord)) return std::nullopt;
    auto rest = line.substr(kWord.size());
    if (rest.empty() || (rest.front() != ' ' && rest.front() != ':' && rest.front() != '\t')) return std::nullopt;
    rest.remove_prefix(1);
    rest = text::trim(rest);
    const auto done = take_number(rest);
    if (!done || rest.empty()) return std::nullopt;
    const char sign = rest.front();
    rest.remove_prefix(1);
    const auto total = sign == '/' ? take_number(rest) : sign == '%' ? std::optional{100.0} : std::nullopt;
    if (!total || *total <= 0) return std::nullopt;
    if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return std::nullopt;
    return ProgressLine{*done, *total, text::trim(rest)};
}

Progress::Progress(loop::Loop& loop, Exchange& exchange)
    : exchange_(exchange), beat_(loop, Callback<void()>::to<&Progress::on_beat>(this)) {
    const auto* token = exchange.message().meta("progressToken");
    if (!token || !(token->string() || token->number())) return;
    token_ = token->raw();
    beat_.start(kBeat);
}

void Progress::report(const ProgressLine& line) {
    if (token_.empty()) return;
    beat_.stop();
    if (last_ && line.done <= *last_) return;
    send(line.done, line.total, line.text);
}

void Progress::on_beat() {
    send(last_.value_or(0) + kBeatStep, std::nullopt, "");
    beat_.start(kBeat);
}

void Progress::send(double done, std::optional<double> total, std::string_view text) {
    last_ = done;
    std::string params;
    data::JsonWriter json{params};
    json.begin_object().key("progressToken").raw(token_).key("progress");
    write_number(json, done);
    if (total) {
        json.key("total");
        write_number(json, *total);
    }
    if (!text.empty() && exchange_.dialect().version() >= Version::V2025_03_26) json.member("message", text);
    json.end_object();
    exchange_.notify("notifications/progress", params, Channel::Weight::Needed);
}

}  // namespace mcpd::mcp
