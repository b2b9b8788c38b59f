#pragma once

#include "mcp/channel.h"
#include "mcp/dialect.h"
#include "mcp/message.h"
#include "mcp/session.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpd::mcp {

/// Work that a request set going and that has not ended. Destroying it stops it, silently.
class Task {
public:
    virtual ~Task() = default;

    /// The client will send no more. What has no end of its own ends now; the rest goes on.
    virtual void on_input_end() {}
};

/// One request, from its arrival to its answer. Destroying it is how a call is cancelled: nothing is sent any more, and
/// all that was done for it stops.
class Exchange {
public:
    class Owner {
    public:
        /// It has been answered. Destroys the Exchange.
        virtual void on_answered(Exchange& exchange) = 0;

    protected:
        ~Owner() = default;
    };

    /// Who asks, in which words.
    struct Caller {
        Dialect dialect;
        Session& session;
        data::Node capabilities;         ///< an object
        std::string client;              ///< for the log
        std::optional<Level> log_level;  ///< none: no log lines
    };

    Exchange(Message message, Caller caller, Channel& channel, Owner& owner)
        : message_(std::move(message)), caller_(std::move(caller)), channel_(channel), owner_(owner) {}
    Exchange(const Exchange&) = delete;

    const Message& message() const { return message_; }
    const data::Node& params() const { return message_.params; }
    const Dialect& dialect() const { return caller_.dialect; }
    const Caller& caller() const { return caller_; }
    Session& session() { return caller_.session; }

    /// The last call, either of them: destroys the Exchange and its task.
    void reply(const Reply& reply);
    void fail(const Fault& fault);

    /// `params` is a JSON object.
    void notify(std::string_view method, std::string_view params, Channel::Weight weight);

    /// A line of a script, for a client that wants its level.
    void log(Level level, const std::string& logger, std::string_view text);

    /// What answers later.
    void set_task(std::unique_ptr<Task> task) { task_ = std::move(task); }
    Task* task() { return task_.get(); }

private:
    Message message_;
    Caller caller_;
    Channel& channel_;
    Owner& owner_;
    std::unique_ptr<Task> task_;
};

}  // namespace mcpd::mcp
