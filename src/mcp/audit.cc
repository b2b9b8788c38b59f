#include "mcp/audit.h"

#include "data/json_writer.h"
#include "util/log.h"
#include "util/text.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <ctime>

namespace mcpd::mcp {

namespace {

std::string now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    tm parts{};
    gmtime_r(&time.tv_sec, &parts);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, time.tv_nsec / 1'000'000);
}

}  // namespace

Result<Audit> Audit::open(std::string path, bool with_arguments) {
    Audit audit{std::move(path), with_arguments};
    audit.fd_ = UniqueFd{::open(audit.path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600)};
    if (!audit.fd_) {
        return Error{errno == EACCES ? Code::Forbidden : Code::System,
                     fmt::format("--audit-log {}: {}", text::printable(audit.path_), text::describe_errno(errno))};
    }
    return audit;
}

void Audit::reopen() {
    auto again = open(path_, with_arguments_);
    if (!again) return log::error("{}; going on with the old file", again.error().message);
    fd_ = std::move(again->fd_);
}

void Audit::record(const Call& call) {
    std::string line;
    data::JsonWriter json{line};
    json.begin_object().member("time", now()).member("client", call.client).member("tool", call.tool);
    json.member("outcome", call.outcome);
    if (call.exit) json.member("exit", *call.exit);
    json.member("ms", std::int64_t{call.duration.count()}).member("bytes", call.bytes);
    if (with_arguments_) json.key("arguments").raw(call.arguments);
    json.end_object();
    line += '\n';
    // One write a line: copies of the daemon that share the file do not mix theirs.
    if (write(fd_.get(), line.data(), line.size()) < 0) {
        log::error("{}: {}", text::printable(path_), text::describe_errno(errno));
    }
}

}  // namespace mcpd::mcp
