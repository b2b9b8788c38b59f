#include "mcp/server.h"

#include "data/json_writer.h"
#include "util/text.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace mcpd::mcp {

namespace {

/// Changes that come close together are told together.
constexpr std::chrono::milliseconds kGather{20};

enum class Era { Both, Legacy, Modern };

struct Method {
    std::string_view name;
    Era era;
    void (*handle)(Server&, Exchange&);
};

constexpr std::array<Method, 13> kMethods{{
    {"tools/call", Era::Both, call_tool},
    {"tools/list", Era::Both, list_tools},
    {"resources/list", Era::Both, list_resources},
    {"resources/templates/list", Era::Both, list_resource_templates},
    {"resources/read", Era::Both, read_resource},
    {"prompts/list", Era::Both, list_prompts},
    {"prompts/get", Era::Both, get_prompt},
    {"completion/complete", Era::Both, complete},
    {"initialize", Era::Legacy, initialize},
    {"ping", Era::Legacy, ping},
    {"logging/setLevel", Era::Legacy, set_level},
    {"server/discover", Era::Modern, discover},
    {"subscriptions/listen", Era::Modern, listen},
}};

const Method* find_method(std::string_view name, const Dialect& dialect) {
    const auto found = std::ranges::find(kMethods, name, &Method::name);
    if (found == kMethods.end()) return nullptr;
    if (found->era == Era::Legacy && dialect.is_modern()) return nullptr;
    if (found->era == Era::Modern && !dialect.is_modern()) return nullptr;
    return &*found;
}

bool same_tools(const catalog::Catalog& a, const catalog::Catalog& b) {
    return std::ranges::equal(a.entries(), b.entries(), {}, &catalog::Entry::list_entry, &catalog::Entry::list_entry);
}

bool same_resources(const catalog::Catalog& a, const catalog::Catalog& b) {
    return std::ranges::equal(a.states(), b.states(), [](const catalog::Entry* x, const catalog::Entry* y) {
        return x->tool.name == y->tool.name && x->tool.title == y->tool.title &&
               x->tool.description == y->tool.description;
    });
}

}  // namespace

Server::Server(exec::Engine& engine, catalog::Keeper& keeper, Settings settings, std::optional<Audit> audit)
    : engine_(engine),
      keeper_(keeper),
      settings_(std::move(settings)),
      audit_(std::move(audit)),
      call_prefix_(fmt::format("{:x}-{:x}-", time(nullptr), getpid())),
      tell_(engine.loop, Callback<void()>::to<&Server::tell>(this)) {
    data::JsonWriter json{identity_};
    json.begin_object().member("name", settings_.name);
    if (!settings_.title.empty()) json.member("title", settings_.title);
    json.member("version", MCPD_VERSION).end_object();
    keeper_.set_listener(Callback<void(const catalog::Catalog&)>::to<&Server::on_published>(this));
}

Server::~Server() {
    keeper_.set_listener({});
}

void Server::handle(Exchange& exchange) {
    const Method* method = find_method(exchange.message().method, exchange.dialect());
    if (method) return method->handle(*this, exchange);
    exchange.fail({Fault::Kind::MethodNotFound, text::printable(exchange.message().method) + ": no such method"});
}

bool Server::knows(std::string_view method, const Dialect& dialect) {
    return find_method(method, dialect) != nullptr;
}

std::string Server::next_call_id() {
    return call_prefix_ + std::to_string(++calls_);
}

void Server::on_published(const catalog::Catalog& before) {
    if (!listed_) return;
    changes_.tools |= !same_tools(before, catalog());
    changes_.resources |= !same_resources(before, catalog());
    if (changes_.any() && !tell_.is_active()) tell_.start(kGather);
}

void Server::tell() {
    news_.tell(std::exchange(changes_, {}));
}

}  // namespace mcpd::mcp
