#pragma once

#include "data/node.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The common model: whatever format describes a tool, it ends in this, and all that follows, the list that clients see,
/// the checking of arguments, the command that is run, asks nothing about where a tool came from.
namespace mcpd::tool {

enum class Type { Any, String, Integer, Float, Boolean, Array, Object };

/// `integer`, `string` …, as definitions and JSON Schema's readers call it.
std::string_view type_name(Type type);

/// One argument of a tool.
struct Param {
    std::string name;
    Type type = Type::Any;
    std::string description;
    bool required = false;

    /// What it is when it is not given; without one it is simply absent.
    std::optional<data::Node> fallback;

    /// The values it may have; empty: any.
    std::vector<data::Node> choices;

    /// Least and greatest: of a number, of a string's length in code points, of an array's count.
    std::optional<double> min, max;

    /// A regular expression (PCRE2) that a string must match somewhere.
    std::string pattern;

    /// Of an array: what its items are.
    Type items = Type::Any;

    /// The HTTP header that repeats it, without its prefix.
    std::string header;
};

/// What a tool does to the world, for clients that ask before they call.
enum class Effect { Unknown, Read, Write, Destructive };

/// Which file it came from, and which state of that file.
struct Source {
    std::string path;  ///< absolute

    /// Equal identities: the file has not changed.
    struct Identity {
        std::uint64_t device = 0, inode = 0, size = 0;
        std::int64_t modified_ns = 0, changed_ns = 0;
        std::uint32_t mode = 0, owner = 0;
        bool operator==(const Identity&) const = default;
    } identity;
};

struct Tool {
    std::string name;  ///< the path below the root: `math/add`
    std::string title;
    std::string description;
    std::string version;
    std::vector<Param> params;

    /// `--state` prints what it remembers.
    bool has_state = false;

    /// Of a call; 0: none. Not set: the operator's default.
    std::optional<std::chrono::milliseconds> timeout;

    /// How many calls at once; 0: any number.
    std::size_t concurrency = 0;

    Effect effect = Effect::Unknown;
    std::optional<data::Node> annotations;
    std::string category;
    std::vector<std::string> tags;
    Source source;

    const Param* find(std::string_view param) const;
};

}  // namespace mcpd::tool
