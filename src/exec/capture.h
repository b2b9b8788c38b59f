#pragma once

#include "exec/command.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpd::exec {

/// What was kept of an output.
struct Captured {
    std::string text;           ///< as the command wrote it; not checked to be UTF-8
    std::uint64_t omitted = 0;  ///< bytes left out ...
    std::size_t cut = 0;        ///< ... at this place in `text`

    bool is_truncated() const { return omitted > 0; }
};

/// Collects an output within its bounds.
class Capture {
public:
    explicit Capture(Keep keep) : keep_(keep) {}

    void add(std::string_view bytes);

    /// Everything collected; the Capture is empty afterwards. The cut is moved so that it splits no character.
    Captured take();

private:
    Keep keep_;
    std::string head_;
    std::string tail_;  ///< a ring, once it is full
    std::size_t tail_start_ = 0;
    std::uint64_t omitted_ = 0;
};

}  // namespace mcpd::exec
