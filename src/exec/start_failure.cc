#include "exec/start_failure.h"

#include "util/file.h"
#include "util/text.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mcpd::exec {

namespace {

using Step = loop::LaunchFailure::Step;

constexpr std::string_view kWindowsLineEnd =
    "its first line ends in CR LF, as on Windows, and the CR is taken for a part of the interpreter's name: "
    "remove the CRs (sed -i 's/\\r$//' on the file)";

std::string start_of(const std::string& program) {
    auto start = file::read_start(program, 256);
    return start ? *start : std::string{};
}

/// The first line, without `#!`; nothing for other files.
std::optional<std::string> shebang(const std::string& program) {
    const std::string start = start_of(program);
    if (!start.starts_with("#!")) return std::nullopt;
    return std::string{text::first_line(start).substr(2)};
}

std::string explain_not_found(const std::string& program) {
    struct stat status;
    if (lstat(program.c_str(), &status) < 0) return "the file does not exist (any more)";
    if (S_ISLNK(status.st_mode) && stat(program.c_str(), &status) < 0) return "it is a symbolic link to nothing";
    if (const auto line = shebang(program)) {
        if (line->ends_with('\r')) return std::string{kWindowsLineEnd};
        std::string_view rest = *line;
        return fmt::format("its interpreter {} does not exist: see its first line",
                           text::printable(text::take_word(rest)));
    }
    return "the loader that it was linked for does not exist: it was built for another system";
}

std::string explain_no_access(const std::string& program) {
    struct stat status;
    if (stat(program.c_str(), &status) < 0) return "a directory on the way to it cannot be entered";
    if (S_ISDIR(status.st_mode)) return "it is a directory";
    if (!S_ISREG(status.st_mode)) return "it is no regular file";
    if (access(program.c_str(), X_OK) < 0) {
        return (status.st_mode & 0111)
                   ? "its mode does not let this user execute it, or its file system is mounted noexec"
                   : "it is not executable: chmod +x it";
    }
    if (const auto line = shebang(program)) {
        std::string_view rest = *line;
        return fmt::format("its interpreter {} cannot be executed: see its first line",
                           text::printable(text::take_word(rest)));
    }
    return "the system does not let this user execute it";
}

std::string explain_too_big(const Command& command) {
    // The kernel's limit for one string (MAX_ARG_STRLEN), its NUL included.
    constexpr std::size_t kLongest = 128 * 1024;
    for (const auto* words : {&command.arguments, &command.environment}) {
        const auto longest = std::ranges::max_element(*words, {}, &std::string::size);
        if (longest == words->end() || longest->size() < kLongest) continue;
        if (words == &command.arguments) {
            return fmt::format("argument {} is longer than the system takes (128 KiB)", longest - words->begin() + 1);
        }
        return fmt::format("the environment variable {} is longer than the system takes (128 KiB)",
                           text::printable(longest->substr(0, longest->find('='))));
    }
    return "its arguments and environment together are larger than the system takes";
}

std::string explain_execute(const Command& command, int error) {
    switch (error) {
        case ENOENT: return explain_not_found(command.program);
        case EACCES: return explain_no_access(command.program);
        case E2BIG: return explain_too_big(command);
        case ENOEXEC: return "it is neither a program for this machine nor a text with a #! line";
        case ETXTBSY: return "another program has it open for writing: close it there";
        case ELOOP: return "too many symbolic links, or interpreters, lead from one to the next";
        case ENOTDIR: return "a part of its path is not a directory";
        default: return text::describe_errno(error);
    }
}

}  // namespace

std::string explain_start_failure(const Command& command, loop::LaunchFailure failure) {
    const int error = failure.error;
    std::string why;
    if (error == EMFILE || error == ENFILE) {
        why = "too many files are open (ulimit -n)";
    } else if (failure.step == Step::Clone && error == EAGAIN) {
        why = "too many processes run (ulimit -u)";
    } else if (failure.step == Step::Prepare && error == ENOSPC) {
        why = "too many files are watched (sysctl fs.epoll.max_user_watches)";
    } else if (error == ENOMEM) {
        why = "memory is short";
    } else if (failure.step == Step::Directory) {
        why = fmt::format("its working directory {} cannot be entered: {}", text::printable(command.working_directory),
                          text::describe_errno(error));
    } else if (failure.step == Step::Execute) {
        why = explain_execute(command, error);
    } else {
        why = text::describe_errno(error);
    }
    return fmt::format("{}: could not be started: {}", text::printable(command.program), why);
}

std::optional<std::string> find_flaw(const Command& command) {
    const auto has_nul = [](const std::string& word) { return word.find('\0') != std::string::npos; };
    const auto flaw = [&](std::string what) {
        return fmt::format("{}: could not be started: {} contains a NUL byte", text::printable(command.program), what);
    };
    if (has_nul(command.program)) return flaw("its path");
    if (has_nul(command.working_directory)) return flaw("its working directory");
    const auto argument = std::ranges::find_if(command.arguments, has_nul);
    if (argument != command.arguments.end()) {
        return flaw(fmt::format("argument {}", argument - command.arguments.begin() + 1));
    }
    const auto variable = std::ranges::find_if(command.environment, has_nul);
    if (variable != command.environment.end()) {
        return flaw("the environment variable " + text::printable(variable->substr(0, variable->find('='))));
    }
    return std::nullopt;
}

std::optional<std::string> find_windows_line_end(const std::string& program) {
    const auto line = shebang(program);
    if (!line || !line->ends_with('\r')) return std::nullopt;
    return fmt::format("{}: {}", text::printable(program), kWindowsLineEnd);
}

}  // namespace mcpd::exec
