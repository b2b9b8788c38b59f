#include "mcp/exchange.h"

#include "data/json_writer.h"

namespace mcpd::mcp {

void Exchange::reply(const Reply& reply) {
    channel_.send(dialect().result(message_.id, reply), Channel::Weight::Answer);
    owner_.on_answered(*this);
}

void Exchange::fail(const Fault& fault) {
    channel_.send(dialect().error(message_.id, fault), Channel::Weight::Answer);
    owner_.on_answered(*this);
}

void Exchange::notify(std::string_view method, std::string_view params, Channel::Weight weight) {
    channel_.send(Dialect::notification(method, params), weight);
}

void Exchange::log(Level level, const std::string& logger, std::string_view text) {
    if (!caller_.log_level || level < *caller_.log_level) return;
    std::string params;
    data::JsonWriter json{params};
    json.begin_object().member("level", level_name(level)).member("logger", logger).member("data", text).end_object();
    notify("notifications/message", params, Channel::Weight::Droppable);
}

}  // namespace mcpd::mcp
