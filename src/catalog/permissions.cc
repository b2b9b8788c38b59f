#include "catalog/permissions.h"

#include "util/text.h"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <string_view>

namespace mcpd::catalog {

namespace {

std::string user_name(uid_t user) {
    const passwd* entry = getpwuid(user);
    return entry ? entry->pw_name : std::to_string(user);
}

/// The user's own group, named like the user and with nobody else in it, as Debian makes them.
std::optional<gid_t> find_private_group(uid_t user) {
    const passwd* account = getpwuid(user);
    if (!account) return std::nullopt;
    const std::string name = account->pw_name;
    const gid_t id = account->pw_gid;
    const group* entry = getgrgid(id);
    if (!entry || name != entry->gr_name) return std::nullopt;
    for (char** member = entry->gr_mem; *member; member++) {
        if (name != *member) return std::nullopt;
    }
    return id;
}

}  // namespace

Permissions::Permissions(bool unsafe) : unsafe_(unsafe), user_(geteuid()), private_group_(find_private_group(user_)) {}

std::optional<std::string> Permissions::find_fault(const std::string& path, const struct stat& status) const {
    if (unsafe_) return std::nullopt;
    const std::string where = text::printable(path);
    if (status.st_uid != 0 && status.st_uid != user_) {
        return fmt::format("{} belongs to {}, who is neither root nor {}: chown it", where, user_name(status.st_uid),
                           user_name(user_));
    }
    const auto writable = [&](std::string_view by, std::string_view remedy) {
        return fmt::format("{} can be written by {} (owner {}, mode {:04o}): chmod {} {}", where, by,
                           user_name(status.st_uid), status.st_mode & 07777, remedy, where);
    };
    if (status.st_mode & S_IWOTH) return writable("everyone", "o-w");
    const bool is_private = private_group_ && status.st_gid == *private_group_;
    if (status.st_mode & S_IWGRP && !is_private) return writable("its group", "g-w");
    return std::nullopt;
}

}  // namespace mcpd::catalog
