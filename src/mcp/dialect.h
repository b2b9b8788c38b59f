#pragma once

#include "mcp/fault.h"

#include <optional>
#include <string>
#include <string_view>

namespace mcpd::mcp {

/// The versions of the protocol, oldest first.
enum class Version { V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28 };

inline constexpr Version kNewestLegacy = Version::V2025_11_25;
inline constexpr Version kModern = Version::V2026_07_28;

std::string_view version_name(Version version);
std::optional<Version> find_version(std::string_view name);

/// What a handler answers, in no version's words yet. Parts are members of an object, as JSON without its braces:
/// `"tools":[…]`.
struct Reply {
    std::string members = {};
    std::string meta = {};   ///< of `_meta`
    bool cacheable = false;  ///< clients are told how long it is good
};

/// Stamps what differs between versions on the way out, so that handlers need not know which one a client speaks.
class Dialect {
public:
    /// `server`: who we are, as a JSON object. It outlives the Dialect.
    Dialect(Version version, const std::string& server) : version_(version), server_(&server) {}

    Version version() const { return version_; }
    bool is_modern() const { return version_ >= kModern; }

    /// Each is a whole message. `id` is as the client wrote it, empty when it could not be read.
    std::string result(std::string_view id, const Reply& reply) const;
    std::string error(std::string_view id, const Fault& fault) const;
    static std::string notification(std::string_view method, std::string_view params);

private:
    int code(const Fault& fault) const;

    Version version_;
    const std::string* server_;
};

}  // namespace mcpd::mcp
