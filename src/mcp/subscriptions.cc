#include "data/json_writer.h"
#include "mcp/server.h"

namespace mcpd::mcp {

namespace {

using data::JsonWriter;

bool is_wanted(const data::Node& filter, std::string_view name) {
    const auto* wanted = filter.find(name);
    return wanted && wanted->boolean() && *wanted->boolean();
}

/// A `subscriptions/listen` that stays open until the client cancels it or goes.
class Subscription final : public Task, News::Reader {
public:
    Subscription(Server& server, Exchange& exchange, const data::Node& filter)
        : Reader(server.news()), exchange_(exchange) {
        meta_ = "\"io.modelcontextprotocol/subscriptionId\":" + exchange.message().id;
        wanted_ = {.tools = is_wanted(filter, "toolsListChanged"),
                   .resources = is_wanted(filter, "resourcesListChanged")};
        // Who listens has a list, or is about to ask for one.
        server.note_listed();
    }

    void acknowledge() {
        std::string params;
        JsonWriter json{params};
        json.begin_object().key("notifications").begin_object();
        if (wanted_.tools) json.member("toolsListChanged", true);
        if (wanted_.resources) json.member("resourcesListChanged", true);
        json.end_object().key("_meta").raw("{" + meta_ + "}").end_object();
        send("notifications/subscriptions/acknowledged", params);
    }

    void on_input_end() override { exchange_.reply({.meta = meta_}); }

private:
    void on_changes(const Changes& changes) override {
        const std::string params = "{\"_meta\":{" + meta_ + "}}";
        if (changes.tools && wanted_.tools) send("notifications/tools/list_changed", params);
        if (changes.resources && wanted_.resources) send("notifications/resources/list_changed", params);
    }

    void send(std::string_view method, std::string_view params) {
        exchange_.notify(method, params, Channel::Weight::Needed);
    }

    Exchange& exchange_;
    std::string meta_;
    Changes wanted_;
};

}  // namespace

void listen(Server& server, Exchange& exchange) {
    const auto* filter = exchange.params().find("notifications");
    if (!filter || !filter->object()) {
        return exchange.fail({Fault::Kind::InvalidParams, "notifications: must be an object"});
    }
    auto subscription = std::make_unique<Subscription>(server, exchange, *filter);
    subscription->acknowledge();
    exchange.set_task(std::move(subscription));
}

}  // namespace mcpd::mcp
