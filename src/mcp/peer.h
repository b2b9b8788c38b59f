#pragma once

#include "mcp/batch.h"
#include "mcp/channel.h"
#include "mcp/exchange.h"
#include "mcp/news.h"
#include "mcp/session.h"
#include "util/callback.h"

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpd::mcp {

class Server;

/// A client on a connection of its own, such as stdio: reads what it sends, owns its requests until they are answered, and
/// knows them by their ids. Destroying it cancels them all.
class Peer final : Exchange::Owner, News::Reader {
public:
    /// `on_idle`: its last request has been answered. Called at the end, but not from within on_text().
    Peer(Server& server, Channel& out, Callback<void()> on_idle);
    ~Peer();

    /// One message, or a batch.
    void on_text(std::string_view text);

    /// A message that was too large to be read.
    void on_too_large(std::size_t limit);

    /// The client will send no more.
    void on_input_end();

    bool is_idle() const { return requests_.empty(); }

private:
    struct Request {
        std::unique_ptr<Exchange> exchange;
        Batch* batch;  ///< null: none
    };

    void take(Read& read, Batch* batch);
    void take_batch(Received& received);
    void begin(Message message, Batch* batch);
    void on_notification(const Message& message);
    void on_answered(Exchange& exchange) override;
    void on_changes(const Changes& changes) override;
    std::optional<Fault> find_caller(const Message& message, std::optional<Exchange::Caller>& caller);
    void refuse(const std::string& id, const Fault& fault, Channel& to);
    void forget(std::map<std::string, Request>::iterator request);

    Server& server_;
    Channel& out_;
    Callback<void()> on_idle_;
    Session session_;
    bool reading_ = false;
    std::list<Batch> batches_;
    std::map<std::string, Request> requests_;
};

}  // namespace mcpd::mcp
