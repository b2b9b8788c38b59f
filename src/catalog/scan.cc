#include "catalog/scan.h"

#include "catalog/permissions.h"
#include "util/file.h"
#include "util/text.h"
#include "util/utf8.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

namespace mcpd::catalog {

namespace {

constexpr std::size_t kDeepest = 16;

/// How much of a script is searched for a sign that it looks at its arguments.
constexpr std::size_t kSearched = 256 * 1024;
constexpr std::array<std::string_view, 13> kSigns{"--help", "mcpd", "$1",  "$@",   "$*",   "$#",    "${1",
                                                  "${@",    "${*",  "${#", "argv", "ARGV", "getopt"};

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

bool is_leftover(std::string_view name) {
    constexpr std::array<std::string_view, 6> kEndings{"~", ".swp", ".tmp", ".bak", ".orig", "#"};
    if (name.starts_with('.') || name == "node_modules" || name == "__pycache__") return true;
    return std::ranges::any_of(kEndings, [&](std::string_view ending) {
        return name.ends_with(ending) && (ending != "#" || name.starts_with('#'));
    });
}

tool::Source::Identity identity_of(const struct stat& status) {
    const auto nanoseconds = [](const timespec& time) {
        return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
    };
    return {.device = status.st_dev,
            .inode = status.st_ino,
            .size = static_cast<std::uint64_t>(status.st_size),
            .modified_ns = nanoseconds(status.st_mtim),
            .changed_ns = nanoseconds(status.st_ctim),
            .mode = status.st_mode,
            .owner = status.st_uid};
}

bool is_executable(const struct stat& status) {
    return S_ISREG(status.st_mode) && (status.st_mode & 0111);
}

/// A script that never looks at its arguments would do its work when it is asked what it is.
std::string find_reason_not_to_ask(const std::string& path) {
    const auto text = file::read_start(path, kSearched);
    if (!text) return text.error().message;
    // Programs are not searched: what they look at cannot be seen in them.
    if (!text->starts_with("#!") && std::string_view{*text}.substr(0, 256).find('\0') != std::string_view::npos)
        return {};
    if (std::ranges::any_of(kSigns, [&](std::string_view sign) { return text->find(sign) != std::string::npos; }))
        return {};
    return "does not look at its arguments, so it would do its work when asked for --help; let it answer --help, or "
           "say "
           "# mcpd in it if it does";
}

class Scanner {
public:
    Scanner(const Permissions& permissions, Scan& scan) : permissions_(permissions), scan_(scan) {}

    /// `fault`: of a directory on the way, which is one of everything in it.
    void enter(const std::string& path, const std::string& name, std::string fault) {
        struct stat status;
        if (stat(path.c_str(), &status) < 0) return warn(path, errno);
        const std::pair self{status.st_dev, status.st_ino};
        if (std::ranges::find(ancestors_, self) != ancestors_.end()) return;
        if (fault.empty()) fault = permissions_.find_fault(path, status).value_or("");

        const Directory directory{opendir(path.c_str())};
        if (!directory) return warn(path, errno);
        ancestors_.push_back(self);
        while (const dirent* entry = readdir(directory.get())) {
            visit(path, name, entry->d_name, fault);
        }
        ancestors_.pop_back();
    }

private:
    void visit(const std::string& directory, const std::string& prefix, const std::string& entry,
               const std::string& fault) {
        if (is_leftover(entry)) return;
        const std::string path = directory + "/" + entry;
        if (!utf8::is_valid(entry)) {
            scan_.warnings.push_back(text::printable(path) + ": skipped, because its name is not UTF-8");
            return;
        }
        const std::string name = prefix.empty() ? entry : prefix + "/" + entry;
        struct stat status;
        // A link to nothing, or to itself, is no file.
        if (stat(path.c_str(), &status) < 0) return;
        if (S_ISDIR(status.st_mode)) {
            if (ancestors_.size() > kDeepest) {
                scan_.warnings.push_back(fmt::format("{}: not entered, because it is more than {} levels deep",
                                                     text::printable(path), kDeepest));
            } else if (stat((path + "/pyvenv.cfg").c_str(), &status) < 0) {
                enter(path, name, fault);
            }
        } else if (is_executable(status)) {
            add(path, name, status, fault);
        }
    }

    void add(const std::string& path, const std::string& name, const struct stat& status, const std::string& fault) {
        Candidate candidate{.name = name, .source = {.path = path, .identity = identity_of(status)}, .refused = fault};
        if (candidate.refused.empty()) candidate.refused = permissions_.find_fault(path, status).value_or("");
        if (candidate.refused.empty()) candidate.refused = find_reason_not_to_ask(path);
        scan_.candidates.push_back(std::move(candidate));
    }

    void warn(const std::string& path, int error) {
        scan_.warnings.push_back(fmt::format("{}: skipped: {}", text::printable(path), text::describe_errno(error)));
    }

    const Permissions& permissions_;
    Scan& scan_;
    std::vector<std::pair<dev_t, ino_t>> ancestors_;
};

}  // namespace

Scan scan(const std::string& root, const Permissions& permissions) {
    Scan result;
    Scanner{permissions, result}.enter(root, "", "");
    std::ranges::sort(result.candidates, {}, &Candidate::name);
    return result;
}

std::optional<std::string> find_fault_above(const std::string& root, const std::string& path,
                                            const Permissions& permissions) {
    for (std::size_t end = root.size(); end != std::string::npos; end = path.find('/', end + 1)) {
        const std::string directory = path.substr(0, end);
        struct stat status;
        if (stat(directory.c_str(), &status) < 0) return text::printable(directory) + " is not there";
        if (auto fault = permissions.find_fault(directory, status)) return fault;
    }
    return std::nullopt;
}

std::optional<tool::Source::Identity> identify(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) < 0 || !is_executable(status)) return std::nullopt;
    return identity_of(status);
}

}  // namespace mcpd::catalog
