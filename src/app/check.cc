#include "app/commands.h"
#include "app/workbench.h"
#include "util/text.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

/// `mcpd check`: what is wrong with scripts, for who writes them.
namespace mcpd::app {

namespace {

void put(const std::string& line) {
    std::fputs((line + "\n").c_str(), stdout);
}

/// The path as the catalog has it: only the directory is resolved, since a link is a tool under its own name.
std::string resolve(const std::string& file) {
    const auto slash = file.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : file.substr(0, slash + 1);
    char real[PATH_MAX];
    if (!realpath(directory.c_str(), real)) return file;
    return std::string{real} + "/" + file.substr(slash == std::string::npos ? 0 : slash + 1);
}

/// Why a file that was named is neither a tool nor broken.
std::string explain_absence(const std::string& file, const std::string& path, const std::string& root) {
    struct stat status;
    if (stat(path.c_str(), &status) < 0) return "no such file";
    if (!path.starts_with(root + "/")) {
        return fmt::format("not below the root directory {}; say --root-directory", text::printable(root));
    }
    if (!S_ISREG(status.st_mode)) return "not a regular file";
    if (!(status.st_mode & 0111)) return fmt::format("not executable: chmod +x {}", text::printable(file));
    return "not looked at, because of its name or its place";
}

/// Prints what is to be said of one tool; false when it is broken.
bool report(const catalog::Catalog& catalog, const std::string& name, bool say_ok) {
    if (const auto* broken = catalog.find_broken(name)) {
        put(fmt::format("{}: broken: {}", text::printable(name), text::printable(broken->reason)));
        return false;
    }
    const auto* entry = catalog.find(name);
    for (const auto& warning : entry->warnings)
        put(fmt::format("{}: warning: {}", text::printable(name), text::printable(warning)));
    if (say_ok && entry->warnings.empty()) put(fmt::format("{}: ok", text::printable(name)));
    return true;
}

}  // namespace

int run_check(loop::Loop& loop, const Options& options, const Settings& settings) {
    Workbench bench{loop, settings};
    bench.look();
    const auto catalog = bench.keeper.catalog();
    const std::string& root = settings.keeper.around.root_directory;
    bool good = true, missing = false;
    for (const auto& file : options.words) {
        const std::string path = resolve(file);
        const std::string name = path.starts_with(root + "/") ? path.substr(root.size() + 1) : "";
        if (catalog->find_broken(name) || (catalog->find(name) && catalog->find(name)->tool.name == name)) {
            good &= report(*catalog, name, true);
        } else {
            const std::string line = fmt::format("{}: {}", text::printable(file), explain_absence(file, path, root));
            good = false;
            if (access(path.c_str(), F_OK) == 0) {
                put(line);
            } else {
                missing = true;
                std::fputs(("mcpd: " + line + "\n").c_str(), stderr);
            }
        }
    }
    if (missing) return EX_NOINPUT;
    if (!options.words.empty()) return good ? EX_OK : EX_DATAERR;

    for (const auto& warning : bench.keeper.warnings()) put("warning: " + warning);
    for (const auto& entry : catalog->entries()) report(*catalog, entry.tool.name, false);
    for (const auto& broken : catalog->broken()) good &= report(*catalog, broken.name, false);
    put(fmt::format("{} good, {} broken", catalog->entries().size(), catalog->broken().size()));
    return good ? EX_OK : EX_DATAERR;
}

}  // namespace mcpd::app
