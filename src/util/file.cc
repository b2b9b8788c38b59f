#include "util/file.h"

#include "util/text.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace mcpd::file {

namespace {

Error failure(const std::string& path, int error) {
    Code code = Code::System;
    if (error == ENOENT || error == ENOTDIR) code = Code::NotFound;
    if (error == EACCES || error == EPERM) code = Code::Forbidden;
    return {code, text::printable(path) + ": " + text::describe_errno(error)};
}

Result<UniqueFd> open_regular(const std::string& path) {
    UniqueFd fd{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!fd) return failure(path, errno);
    struct stat status;
    if (fstat(fd.get(), &status) < 0) return failure(path, errno);
    if (!S_ISREG(status.st_mode)) return Error{Code::Invalid, text::printable(path) + ": not a regular file"};
    return fd;
}

}  // namespace

Result<void> ensure_standard_descriptors() {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        // The lowest free number is `fd` itself, because those below it are open by now.
        if (open("/dev/null", O_RDWR) != fd) return failure("/dev/null", errno);
    }
    return {};
}

Result<std::string> read_start(const std::string& path, std::size_t limit) {
    constexpr std::size_t kChunk = 64 * 1024;
    auto fd = open_regular(path);
    if (!fd) return fd.error();
    // The size that stat tells is not asked: files of /proc say 0, and others grow while they are read.
    std::string content;
    while (content.size() < limit) {
        const std::size_t size = content.size();
        content.resize(size + std::min(kChunk, limit - size));
        const ssize_t count = ::read(fd->get(), content.data() + size, content.size() - size);
        const int error = errno;
        content.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count == 0) break;
        if (count < 0 && error != EINTR) return failure(path, error);
    }
    return content;
}

Result<std::string> read(const std::string& path, std::size_t limit) {
    auto content = read_start(path, limit + 1);
    if (content && content->size() > limit) {
        return Error{Code::TooLarge,
                     text::printable(path) + ": larger than the limit of " + std::to_string(limit) + " bytes"};
    }
    return content;
}

}  // namespace mcpd::file
