#include "mcp/peer.h"

#include "data/json_writer.h"
#include "mcp/server.h"
#include "util/log.h"
#include "util/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

namespace mcpd::mcp {

namespace {

constexpr std::string_view kVersion = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kClient = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";

/// Any of these is a claim to speak the modern way, which is then held to it.
bool has_claim(const Message& message) {
    constexpr std::array kClaims{kVersion, kCapabilities, kClient};
    return message.method == "server/discover" ||
           std::ranges::any_of(kClaims, [&](auto key) { return message.meta(key) != nullptr; });
}

/// `name version`, for the log.
std::string client_name(const data::Node* info) {
    const auto part = [&](std::string_view key) -> std::string {
        const auto* text = info ? info->find(key) : nullptr;
        return text && text->string() ? text::printable(text->string()->substr(0, 100)) : "";
    };
    const std::string version = part("version");
    return part("name") + (version.empty() ? "" : " ") + version;
}

/// What is wrong with `_meta` in any version.
std::optional<Fault> find_flaw(const Message& message) {
    const auto* meta = message.params.find("_meta");
    if (!meta) return std::nullopt;
    if (!meta->object()) return Fault{Fault::Kind::InvalidParams, "_meta: must be an object"};
    const auto* token = meta->find("progressToken");
    if (!token || is_id(*token)) return std::nullopt;
    return Fault{Fault::Kind::InvalidParams, "_meta: progressToken: must be a string or an integer"};
}

Fault unsupported(const std::string& asked) {
    Fault fault{Fault::Kind::UnsupportedVersion, "protocol version " + text::printable(asked) + " is not supported"};
    data::JsonWriter json{fault.data};
    json.begin_object().key("supported").begin_array().value(version_name(kModern)).end_array();
    json.member("requested", asked).end_object();
    return fault;
}

}  // namespace

Peer::Peer(Server& server, Channel& out, Callback<void()> on_idle)
    : Reader(server.news()), server_(server), out_(out), on_idle_(on_idle) {}

Peer::~Peer() = default;

void Peer::on_text(std::string_view text) {
    auto received = read_messages(text);
    reading_ = true;
    received.is_batch ? take_batch(received) : take(received.messages.front(), nullptr);
    reading_ = false;
}

void Peer::take_batch(Received& received) {
    const auto refuse_all = [&](std::string why) { refuse("", {Fault::Kind::InvalidRequest, std::move(why)}, out_); };
    const auto& messages = received.messages;
    if (session_.version != Version::V2025_03_26) return refuse_all("batches exist in version 2025-03-26 only");
    if (messages.empty()) return refuse_all("the batch is empty");
    std::size_t answers = 0;
    for (const auto& read : messages) {
        const auto* message = std::get_if<Message>(&read);
        if (message && (has_claim(*message) || message->method == "initialize")) {
            return refuse_all("this message cannot be in a batch: " + text::printable(message->method));
        }
        answers += !message || message->is_request();
    }
    Batch* batch = nullptr;
    if (answers > 0) batch = &batches_.emplace_back(out_, answers);
    for (auto& read : received.messages) take(read, batch);
    std::erase_if(batches_, [](const Batch& other) { return other.is_over(); });
}

void Peer::take(Read& read, Batch* batch) {
    Channel& to = batch ? static_cast<Channel&>(*batch) : out_;
    if (auto* unreadable = std::get_if<Unreadable>(&read)) return refuse(unreadable->id, unreadable->fault, to);
    auto& message = std::get<Message>(read);
    // We ask nothing yet, so an answer is one to a question that nobody has put.
    if (message.is_response()) return log::debug("an answer to no question of ours: {}", text::printable(message.id));
    if (message.is_request()) return begin(std::move(message), batch);
    on_notification(message);
}

void Peer::refuse(const std::string& id, const Fault& fault, Channel& to) {
    to.send(Dialect{session_.version, server_.identity()}.error(id, fault), Channel::Weight::Answer);
}

/// The era is decided message by message. A claim that is not whole is an error, never a fall back.
std::optional<Fault> Peer::find_caller(const Message& message, std::optional<Exchange::Caller>& caller) {
    auto flaw = find_flaw(message);
    if (!has_claim(message)) {
        const auto* info = message.method == "initialize" ? message.params.find("clientInfo") : nullptr;
        caller.emplace(Exchange::Caller{.dialect = {session_.version, server_.identity()},
                                        .session = session_,
                                        .capabilities = session_.capabilities,
                                        .client = info ? client_name(info) : session_.client,
                                        .log_level = session_.log_level});
        return flaw;
    }
    caller.emplace(Exchange::Caller{.dialect = {kModern, server_.identity()}, .session = session_});
    if (flaw) return flaw;
    const auto missing = [](std::string_view key, std::string_view what) {
        return Fault{Fault::Kind::InvalidParams, fmt::format("_meta: {} is required, {}", key, what)};
    };
    const auto* version = message.meta(kVersion);
    if (!version || !version->string()) return missing(kVersion, "a string");
    if (find_version(*version->string()) != kModern) return unsupported(*version->string());
    const auto* capabilities = message.meta(kCapabilities);
    if (!capabilities || !capabilities->object()) return missing(kCapabilities, "an object");
    caller->capabilities = *capabilities;
    caller->client = client_name(message.meta(kClient));
    if (const auto* level = message.meta(kLogLevel)) {
        caller->log_level = level->string() ? find_level(*level->string()) : std::nullopt;
        if (!caller->log_level) return Fault{Fault::Kind::InvalidParams, "_meta: logLevel: no such level"};
    }
    return std::nullopt;
}

void Peer::begin(Message message, Batch* batch) {
    Channel& to = batch ? static_cast<Channel&>(*batch) : out_;
    std::optional<Exchange::Caller> caller;
    if (const auto fault = find_caller(message, caller)) {
        return to.send(caller->dialect.error(message.id, *fault), Channel::Weight::Answer);
    }
    if (requests_.contains(message.id)) {
        return to.send(caller->dialect.error(message.id, {Fault::Kind::InvalidRequest,
                                                          "id: another request with this id has not been answered"}),
                       Channel::Weight::Answer);
    }
    const std::string id = message.id;
    Exchange::Owner& self = *this;
    auto exchange = std::make_unique<Exchange>(std::move(message), std::move(*caller), to, self);
    Exchange& begun = *exchange;
    requests_.emplace(id, Request{std::move(exchange), batch});
    server_.handle(begun);
}

void Peer::on_notification(const Message& message) {
    if (message.method != "notifications/cancelled") return;
    const auto* id = message.params.find("requestId");
    if (!id) return;
    const auto request = requests_.find(id->raw());
    if (request == requests_.end() || request->second.exchange->message().method == "initialize") return;
    log::debug("request {} cancelled", text::printable(id->raw()));
    if (request->second.batch) request->second.batch->forget_one();
    forget(request);
}

void Peer::on_answered(Exchange& exchange) {
    forget(requests_.find(exchange.message().id));
}

void Peer::forget(std::map<std::string, Request>::iterator request) {
    // Its task goes first, while what it knows is still there.
    const auto node = requests_.extract(request);
    if (!reading_) std::erase_if(batches_, [](const Batch& batch) { return batch.is_over(); });
    if (requests_.empty() && !reading_ && on_idle_) on_idle_();
}

void Peer::on_too_large(std::size_t limit) {
    refuse("", {Fault::Kind::InvalidRequest, fmt::format("the message is larger than the limit of {} bytes", limit)},
           out_);
}

void Peer::on_input_end() {
    std::vector<std::string> ids;
    for (const auto& [id, request] : requests_) ids.push_back(id);
    reading_ = true;
    for (const auto& id : ids) {
        const auto request = requests_.find(id);
        if (request != requests_.end() && request->second.exchange->task()) {
            request->second.exchange->task()->on_input_end();
        }
    }
    reading_ = false;
}

void Peer::on_changes(const Changes& changes) {
    if (!session_.is_initialized) return;
    const auto tell = [&](std::string_view method) {
        out_.send(Dialect::notification(method, ""), Channel::Weight::Needed);
    };
    if (changes.tools) tell("notifications/tools/list_changed");
    if (changes.resources) tell("notifications/resources/list_changed");
}

}  // namespace mcpd::mcp
