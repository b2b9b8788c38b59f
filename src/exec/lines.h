#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpd::exec {

/// Cuts a stream of bytes into lines, which are given without their line end (LF or CR LF). A line longer than the limit
/// is given once, shortened, and says how much was left out.
class Lines {
public:
    explicit Lines(std::size_t limit) : limit_(limit) {}

    /// Takes the next line from `bytes` and shortens them; false when they hold no line end, and all was kept for later.
    /// `line` is good until the next call.
    bool next(std::string_view& bytes, std::string_view& line);

    /// What came after the last line end; false when nothing did.
    bool last(std::string_view& line);

private:
    void keep(std::string_view bytes);

    std::size_t limit_;
    std::string kept_;
    std::uint64_t omitted_ = 0;
    bool given_ = false;  ///< kept_ has been given out, and is to be forgotten
};

}  // namespace mcpd::exec
