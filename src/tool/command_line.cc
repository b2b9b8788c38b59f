#include "tool/command_line.h"

#include "data/json_writer.h"
#include "tool/environment.h"

namespace mcpd::tool {

namespace {

exec::Command command(const std::string& path, const std::string& name, const Surroundings& around) {
    exec::Command command{
        .program = path, .environment = around.environment, .working_directory = around.working_directory};
    command.environment.push_back("MCPD_ROOT_DIRECTORY=" + around.root_directory);
    command.environment.push_back("MCPD_TOOL=" + name);
    return command;
}

}  // namespace

exec::Command call_command(const Tool& tool, const data::Node& options, const Surroundings& around, const Run& run) {
    auto result = command(tool.source.path, tool.name, around);
    result.environment.push_back("MCPD_CALL_ID=" + run.call_id);
    result.environment.push_back("MCPD_CLIENT_CAPABILITIES=" + run.client_capabilities);
    std::vector<std::string_view> names;
    for (const auto& param : tool.params) names.push_back(param.name);
    add_options(result.environment, options, names);
    result.input = data::to_json(options) + "\n";
    return result;
}

exec::Command question(const std::string& path, const std::string& name, const std::string& flag,
                       const Surroundings& around) {
    auto result = command(path, name, around);
    result.arguments = {flag};
    return result;
}

}  // namespace mcpd::tool
