#include "app/daemon.h"

#include "util/log.h"
#include "util/text.h"

#include <sysexits.h>
#include <unistd.h>

#include <csignal>

namespace mcpd::app {

Daemon::Daemon(loop::Loop& loop, Settings settings, std::optional<mcp::Audit> audit, bool guessed)
    : loop_(loop),
      settings_(std::move(settings)),
      guessed_(guessed),
      engine_(loop, settings_.queue),
      keeper_(std::make_unique<catalog::Keeper>(engine_, settings_.keeper)),
      server_(std::make_unique<mcp::Server>(engine_, *keeper_, settings_.server, std::move(audit))),
      stop_now_(loop, Callback<void()>::to<&Daemon::stop_now>(this)),
      signals_(loop, {SIGTERM, SIGINT, SIGHUP}, Callback<void(int)>::to<&Daemon::on_signal>(this)) {
    transport::LinePeer::Listener& self = *this;
    stdio_ =
        std::make_unique<transport::LinePeer>(loop_, *server_, loop::Stream::open_standard(STDIN_FILENO),
                                              loop::Stream::open_standard(STDOUT_FILENO), settings_.max_request, self);
    log::info("serving {} over stdio, {}", text::printable(settings_.server.around.root_directory),
              guessed_ ? "because stdin and stdout are pipes" : "as --stdio says");
}

Daemon::~Daemon() = default;

int Daemon::run() {
    keeper_->rescan();
    loop_.run();
    return status_;
}

void Daemon::on_gone() {
    if (stopping_) return;
    if (guessed_ && !stdio_->has_spoken()) {
        log::error("stdin ended before a client said anything; to serve by hand, say --stdio and what to read");
        status_ = EX_USAGE;
    }
    stop();
}

void Daemon::on_signal(int number) {
    if (number == SIGHUP) {
        log::info("looking at the directory again");
        if (server_ && server_->audit()) server_->audit()->reopen();
        if (keeper_ && !stopping_) keeper_->rescan();
        return;
    }
    if (stopping_) return loop_.stop();
    log::info("stopping");
    stop();
}

void Daemon::stop() {
    if (stopping_) return;
    stopping_ = true;
    // What can be said in parting goes out at the end of this turn, before that.
    stdio_->end_input();
    stop_now_.schedule();
}

void Daemon::stop_now() {
    // Each takes its work with it; what still runs is ended by the last of them.
    stdio_.reset();
    server_.reset();
    keeper_.reset();
    engine_.terminator.finish(Callback<void()>::to<&Daemon::on_finished>(this));
}

void Daemon::on_finished() {
    loop_.stop();
}

}  // namespace mcpd::app
