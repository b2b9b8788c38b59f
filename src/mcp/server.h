#pragma once

#include "catalog/keeper.h"
#include "exec/engine.h"
#include "loop/timer.h"
#include "mcp/audit.h"
#include "mcp/exchange.h"
#include "mcp/news.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace mcpd::mcp {

/// The protocol, whatever carries it: knows the methods, and what they work on. It owns no request: who does depends on
/// the transport.
class Server {
public:
    struct Settings {
        std::string name = "mcpd";
        std::string title;
        tool::Surroundings around;
        std::chrono::milliseconds timeout{300'000};
        std::chrono::milliseconds help_timeout{5'000};
        std::size_t max_output = 1024 * 1024;
    };

    Server(exec::Engine& engine, catalog::Keeper& keeper, Settings settings, std::optional<Audit> audit);
    ~Server();

    /// Begins to work on a request. May answer it at once, which destroys it.
    void handle(Exchange& exchange);

    /// Does a method exist for this version?
    static bool knows(std::string_view method, const Dialect& dialect);

    exec::Engine& engine() { return engine_; }
    catalog::Keeper& keeper() { return keeper_; }
    const catalog::Catalog& catalog() const { return *keeper_.catalog(); }
    const Settings& settings() const { return settings_; }
    News& news() { return news_; }
    Audit* audit() { return audit_ ? &*audit_ : nullptr; }

    /// Who we are: the JSON object `serverInfo`.
    const std::string& identity() const { return identity_; }

    /// A number for a call that no other call of this daemon has.
    std::string next_call_id();

    /// A client is being told a list: from now on it matters when it changes.
    void note_listed() { listed_ = true; }

private:
    void on_published(const catalog::Catalog& before);
    void tell();

    exec::Engine& engine_;
    catalog::Keeper& keeper_;
    Settings settings_;
    std::optional<Audit> audit_;
    std::string identity_;
    std::string call_prefix_;
    std::uint64_t calls_ = 0;
    bool listed_ = false;
    News news_;
    Changes changes_;
    loop::Timer tell_;
};

/// The methods, each in the file that its name suggests. Each ends by answering or by giving the exchange a task.
void initialize(Server& server, Exchange& exchange);
void discover(Server& server, Exchange& exchange);
void ping(Server& server, Exchange& exchange);
void list_tools(Server& server, Exchange& exchange);
void call_tool(Server& server, Exchange& exchange);
void list_resources(Server& server, Exchange& exchange);
void list_resource_templates(Server& server, Exchange& exchange);
void read_resource(Server& server, Exchange& exchange);
void list_prompts(Server& server, Exchange& exchange);
void get_prompt(Server& server, Exchange& exchange);
void complete(Server& server, Exchange& exchange);
void set_level(Server& server, Exchange& exchange);
void listen(Server& server, Exchange& exchange);

}  // namespace mcpd::mcp
