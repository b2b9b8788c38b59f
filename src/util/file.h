#pragma once

#include "util/result.h"
#include "util/unique_fd.h"

#include <cstddef>
#include <string>

namespace mcpd::file {

/// Puts /dev/null on each of the descriptors 0 to 2 that the program was started without. Otherwise the next file or
/// socket opened would get the number, and be read from or logged to.
Result<void> ensure_standard_descriptors();

/// The whole file. One of more than `limit` bytes is an error, not a beginning; so is anything but a regular file, and
/// a FIFO does not block us.
Result<std::string> read(const std::string& path, std::size_t limit);

/// The first `limit` bytes of a regular file, or all of it when it is shorter.
Result<std::string> read_start(const std::string& path, std::size_t limit);

}  // namespace mcpd::file
