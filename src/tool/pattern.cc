#include "tool/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <memory>

namespace mcpd::tool {

namespace {

/// Steps of the search, not seconds: the same everywhere. A tenth of the library's own.
constexpr std::uint32_t kMatchLimit = 1'000'000;
constexpr std::uint32_t kDepthLimit = 10'000;
constexpr std::uint32_t kHeapLimitKib = 16 * 1024;

using Compiled = std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)>;
using Context = std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)>;
using Found = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

Compiled compile(const std::string& pattern, int& error, std::size_t& at) {
    return {pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error,
                          &at, nullptr),
            pcre2_code_free};
}

}  // namespace

Result<void> check_pattern(const std::string& pattern) {
    int error = 0;
    std::size_t at = 0;
    if (compile(pattern, error, at)) return {};
    char message[256];
    pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(message), sizeof message);
    return Error{Code::Invalid, "no regular expression: at " + std::to_string(at) + ": " + message};
}

Match match_pattern(const std::string& pattern, std::string_view text) {
    int error = 0;
    std::size_t at = 0;
    const Compiled code = compile(pattern, error, at);
    if (!code) return Match::GaveUp;
    const Context context{pcre2_match_context_create(nullptr), pcre2_match_context_free};
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_depth_limit(context.get(), kDepthLimit);
    pcre2_set_heap_limit(context.get(), kHeapLimitKib);
    const Found found{pcre2_match_data_create(1, nullptr), pcre2_match_data_free};
    const int result = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                   found.get(), context.get());
    if (result >= 0) return Match::Yes;
    return result == PCRE2_ERROR_NOMATCH ? Match::No : Match::GaveUp;
}

}  // namespace mcpd::tool
