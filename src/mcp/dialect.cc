#include "mcp/dialect.h"

#include "data/json_writer.h"

#include <algorithm>
#include <array>

namespace mcpd::mcp {

namespace {

constexpr std::array<std::string_view, 5> kNames{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};

/// Appends one more member, or several, to an object that is being written.
void append(std::string& members, std::string_view more) {
    if (more.empty()) return;
    if (!members.empty()) members += ',';
    members += more;
}

}  // namespace

std::string_view version_name(Version version) {
    return kNames[static_cast<std::size_t>(version)];
}

std::optional<Version> find_version(std::string_view name) {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<Version>(found - kNames.begin());
}

std::string Dialect::result(std::string_view id, const Reply& reply) const {
    std::string meta = reply.meta;
    if (is_modern()) append(meta, "\"io.modelcontextprotocol/serverInfo\":" + *server_);

    std::string out;
    out.reserve(reply.members.size() + meta.size() + id.size() + 128);
    out.append(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"result":{)");
    std::string members;
    if (is_modern()) {
        members = R"("resultType":"complete")";
        // What a directory holds can change at any time, and belongs to whoever runs it.
        if (reply.cacheable) append(members, R"("ttlMs":0,"cacheScope":"private")");
    }
    if (!meta.empty()) append(members, "\"_meta\":{" + meta + "}");
    out += members;
    if (!members.empty() && !reply.members.empty()) out += ',';
    return out.append(reply.members).append("}}");
}

std::string Dialect::error(std::string_view id, const Fault& fault) const {
    std::string out;
    data::JsonWriter json{out};
    json.begin_object().member("jsonrpc", "2.0");
    if (!id.empty()) {
        json.key("id").raw(id);
    } else if (version_ < Version::V2025_11_25) {
        // The rule of JSON-RPC; since then the protocol leaves it out.
        json.key("id").null();
    }
    json.key("error").begin_object().member("code", code(fault)).member("message", fault.message);
    if (!fault.data.empty()) json.key("data").raw(fault.data);
    json.end_object().end_object();
    return out;
}

std::string Dialect::notification(std::string_view method, std::string_view params) {
    std::string out;
    data::JsonWriter json{out};
    json.begin_object().member("jsonrpc", "2.0").member("method", method);
    if (!params.empty()) json.key("params").raw(params);
    json.end_object();
    return out;
}

int Dialect::code(const Fault& fault) const {
    switch (fault.kind) {
        case Fault::Kind::Parse: return -32700;
        case Fault::Kind::InvalidRequest: return -32600;
        case Fault::Kind::MethodNotFound: return -32601;
        case Fault::Kind::InvalidParams: return -32602;
        case Fault::Kind::Internal: return -32603;
        case Fault::Kind::ResourceNotFound: return is_modern() ? -32602 : -32002;
        case Fault::Kind::UnsupportedVersion: return -32022;
        case Fault::Kind::Script: return fault.code;
    }
    return -32603;
}

}  // namespace mcpd::mcp
