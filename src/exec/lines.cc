#include "exec/lines.h"

#include "util/utf8.h"

namespace mcpd::exec {

void Lines::keep(std::string_view bytes) {
    if (given_) {
        kept_.clear();
        omitted_ = 0;
        given_ = false;
    }
    const auto fits = bytes.substr(0, limit_ - kept_.size());
    kept_ += fits;
    omitted_ += bytes.size() - fits.size();
}

bool Lines::next(std::string_view& bytes, std::string_view& line) {
    const auto end = bytes.find('\n');
    keep(bytes.substr(0, end));
    if (end == std::string_view::npos) {
        bytes = {};
        return false;
    }
    bytes.remove_prefix(end + 1);
    return last(line) || (line = {}, true);
}

bool Lines::last(std::string_view& line) {
    if (given_ || (kept_.empty() && omitted_ == 0)) return false;
    given_ = true;
    if (omitted_ > 0) {
        const auto whole = utf8::trim_end(kept_).size();
        omitted_ += kept_.size() - whole;
        kept_.resize(whole);
        kept_ += " … (" + std::to_string(omitted_) + " bytes more)";
    } else if (kept_.ends_with('\r')) {
        kept_.pop_back();
    }
    line = kept_;
    return true;
}

}  // namespace mcpd::exec
