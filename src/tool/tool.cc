#include "tool/tool.h"

#include <algorithm>

namespace mcpd::tool {

std::string_view type_name(Type type) {
    constexpr std::string_view kNames[] = {"any", "string", "integer", "float", "boolean", "array", "object"};
    return kNames[static_cast<std::size_t>(type)];
}

const Param* Tool::find(std::string_view param) const {
    const auto found = std::ranges::find(params, param, &Param::name);
    return found == params.end() ? nullptr : &*found;
}

}  // namespace mcpd::tool
