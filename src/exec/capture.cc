#include "exec/capture.h"

#include "util/utf8.h"

#include <algorithm>

namespace mcpd::exec {

void Capture::add(std::string_view bytes) {
    const auto to_head = bytes.substr(0, keep_.head - head_.size());
    head_ += to_head;
    bytes.remove_prefix(to_head.size());

    const auto to_tail = bytes.substr(0, keep_.tail - tail_.size());
    tail_ += to_tail;
    bytes.remove_prefix(to_tail.size());

    // The tail is full: from here on each byte takes the place of the oldest.
    omitted_ += bytes.size();
    if (keep_.tail == 0) return;
    if (bytes.size() > keep_.tail) bytes.remove_prefix(bytes.size() - keep_.tail);
    while (!bytes.empty()) {
        const auto piece = bytes.substr(0, keep_.tail - tail_start_);
        std::ranges::copy(piece, tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_));
        tail_start_ = (tail_start_ + piece.size()) % keep_.tail;
        bytes.remove_prefix(piece.size());
    }
}

Captured Capture::take() {
    std::rotate(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_), tail_.end());
    std::string_view head = head_, tail = tail_;
    if (omitted_ > 0) {
        head = utf8::trim_end(head);
        tail = utf8::trim_start(tail);
        omitted_ += head_.size() - head.size() + tail_.size() - tail.size();
    }
    head_.resize(head.size());
    Captured result{.text = std::move(head_), .omitted = omitted_, .cut = head.size()};
    result.text += tail;
    *this = Capture{keep_};
    return result;
}

}  // namespace mcpd::exec
