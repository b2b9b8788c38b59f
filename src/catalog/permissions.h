#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace mcpd::catalog {

/// Who could put words into our mouth by writing to this file or directory: anyone but root and our own user may not.
/// Tells whose fault it is and the command that mends it; nothing when all is well.
class Permissions {
public:
    /// `unsafe`: everything is well.
    explicit Permissions(bool unsafe);

    std::optional<std::string> find_fault(const std::string& path, const struct stat& status) const;

private:
    bool unsafe_;
    uid_t user_;
    std::optional<gid_t> private_group_;  ///< of which our user is the only member
};

}  // namespace mcpd::catalog
