#pragma once

#include "loop/deferred.h"
#include "loop/poll.h"
#include "loop/spawner.h"
#include "util/alive.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mcpd::loop {

/// How a process ended.
struct ExitStatus {
    int code = 0;    ///< what it exited with
    int signal = 0;  ///< or what killed it; 0 when nothing did
};

/// A process and its three pipes, from start to end.
///
/// Destroying a Child kills its process group, if it still runs, and waits for nothing. Until then the process, even
/// when it has ended, is not waited for: so its number belongs to nobody else, and signal() reaches the right group.
class Child final : Spawner::Listener {
public:
    enum class Output { Out, Err };

    /// Any of these may destroy the Child.
    class Listener {
    public:
        /// It runs.
        virtual void on_started() = 0;

        /// It never did. Nothing else is called.
        virtual void on_start_failed(LaunchFailure failure) = 0;

        /// Bytes as they came. They are good until this returns.
        virtual void on_output(Output from, std::string_view bytes) = 0;

        /// Both outputs have ended: nothing more can come. Before or after on_exit(), or never: a process left in the
        /// background may hold a pipe.
        virtual void on_output_end() = 0;

        /// The process has ended. What it wrote before may still be in the pipes.
        virtual void on_exit(ExitStatus status) = 0;

    protected:
        ~Listener() = default;
    };

    /// What to run; only looked at during start().
    struct Spec {
        const std::string& program;                   ///< a path; nothing is searched
        const std::vector<std::string>& argv;         ///< with the name it is called by
        const std::vector<std::string>& environment;  ///< `NAME=VALUE`
        const std::string& directory;                 ///< empty: where the daemon is
        std::optional<std::string_view> input;        ///< none: /dev/null
    };

    Child(Loop& loop, Spawner& spawner, Listener& listener);
    ~Child();
    Child(const Child&) = delete;

    /// Once. The listener hears later.
    void start(const Spec& spec);

    /// Someone else wants to hear from now on.
    void set_listener(Listener& listener) { listener_ = &listener; }

    /// Signals the whole group; false when the system refuses, because all that is left of it has become another user.
    /// Nothing happens before the process is there.
    bool signal(int number);

    bool is_starting() const { return static_cast<bool>(ticket_) || failed_.is_scheduled(); }
    bool has_exited() const { return exited_; }
    bool has_output_ended() const { return !out_.fd && !err_.fd; }

    /// Something that was in the pipes when the process ended has not been read yet.
    bool has_unread() const { return out_.is_behind() || err_.is_behind(); }

    /// The process group; 0 before there is one.
    pid_t group() const { return process_.pid; }

    /// What marks it and its descendants (see Reaper).
    std::uint64_t number() const { return number_; }

private:
    struct Pipe {
        UniqueFd fd;
        Poll poll;
        std::size_t received = 0;
        std::size_t due = 0;  ///< what `received` is once all is read that was there when the process ended
        bool is_behind() const { return fd && received < due; }
    };

    int open_pipes(Spawner::Order& order, const Spec& spec);
    void feed(std::string_view input);
    void receive(Pipe& pipe, Output from);
    bool watch_all();
    void on_input_ready(int);
    void on_out_ready(int) { receive(out_, Output::Out); }
    void on_err_ready(int) { receive(err_, Output::Err); }
    void on_exit_ready(int);
    void on_spawned(Process process) override;
    void on_spawn_failed(LaunchFailure failure) override;
    void report_failure();

    Loop& loop_;
    Spawner& spawner_;
    Listener* listener_;
    Spawner::Ticket ticket_;
    std::uint64_t number_ = 0;
    Process process_;
    bool exited_ = false;
    LaunchFailure failure_;
    Deferred failed_;
    Alive alive_;
    std::string input_;  ///< what did not fit the pipe at the start
    std::size_t input_written_ = 0;
    Pipe in_, out_, err_;
    Poll exit_;
};

}  // namespace mcpd::loop
