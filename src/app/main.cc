#include "app/commands.h"
#include "app/daemon.h"
#include "app/options.h"
#include "app/settings.h"
#include "util/file.h"
#include "util/log.h"

#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <cstdio>

using namespace mcpd;

namespace {

/// For the person at the keyboard: a line without a date.
int refuse(int status, const std::string& message) {
    std::fprintf(stderr, "mcpd: %s\n", message.c_str());
    return status;
}

bool is_pipe_or_socket(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

log::Level log_level(const std::string& name) {
    if (name == "debug") return log::Level::Debug;
    if (name == "warning") return log::Level::Warning;
    if (name == "error") return log::Level::Error;
    return name == "off" ? log::Level::Off : log::Level::Info;
}

log::Format log_format(const std::string& name) {
    if (name == "json") return log::Format::Json;
    if (name == "journal") return log::Format::Journal;
    return name == "text" ? log::Format::Text : log::format_of_stderr();
}

int serve(loop::Loop& loop, const app::Options& options, const app::Settings& settings) {
    const bool guessed = !options.stdio;
    if (guessed && !(is_pipe_or_socket(STDIN_FILENO) && is_pipe_or_socket(STDOUT_FILENO))) {
        return refuse(EX_USAGE,
                      "serve whom? stdin and stdout are not both pipes, and no transport was named: say --stdio");
    }
    std::optional<mcp::Audit> audit;
    if (!options.audit_log.empty()) {
        auto opened = mcp::Audit::open(options.audit_log, options.audit_arguments);
        if (!opened) return refuse(EX_NOPERM, opened.error().message);
        audit = std::move(*opened);
    }
    return app::Daemon{loop, settings, std::move(audit), guessed}.run();
}

int run(const app::Options& options) {
    if (options.verb == app::Verb::Help) {
        std::fputs(app::help_text().c_str(), stdout);
        return EX_OK;
    }
    if (options.verb == app::Verb::Version) {
        std::puts("mcpd " MCPD_VERSION);
        return EX_OK;
    }
    app::Settings settings;
    if (const auto refusal = app::make_settings(options, environ, settings)) {
        return refuse(refusal->status, refusal->message);
    }
    const auto loop = loop::Loop::open();
    if (!loop) return refuse(EX_OSERR, loop.error().message);
    switch (options.verb) {
        case app::Verb::List: return app::run_list(**loop, options, settings);
        case app::Verb::Check: return app::run_check(**loop, options, settings);
        case app::Verb::Call: return app::run_call(**loop, options, settings);
        default: return serve(**loop, options, settings);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto descriptors = file::ensure_standard_descriptors();
    log::open();
    if (!descriptors) return refuse(EX_OSERR, descriptors.error().message);
    const auto options = app::parse_options(argc, argv, environ);
    if (!options) return refuse(EX_USAGE, options.error().message);
    // list and check say themselves what is broken.
    const bool is_report = options->verb == app::Verb::List || options->verb == app::Verb::Check;
    log::open(is_report && options->log_level == "info" ? log::Level::Error : log_level(options->log_level),
              log_format(options->log_format));
    return run(*options);
}
