#include "catalog/instructions.h"

#include "catalog/permissions.h"
#include "util/file.h"
#include "util/text.h"
#include "util/utf8.h"

namespace mcpd::catalog {

namespace {
constexpr std::size_t kMost = 8 * 1024;
}

Result<std::string> read_instructions(const std::string& root, const Permissions& permissions) {
    const std::string path = root + "/INSTRUCTIONS.md";
    struct stat status;
    if (stat(path.c_str(), &status) < 0) return std::string{};
    if (auto fault = permissions.find_fault(path, status)) return Error{Code::Forbidden, std::move(*fault)};
    auto text = file::read_start(path, kMost);
    if (!text) return text;
    if (text->size() == kMost) text->resize(utf8::trim_end(*text).size());
    return text::visible(utf8::repair(*text));
}

}  // namespace mcpd::catalog
