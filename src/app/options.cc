#include "app/options.h"

#include <cxxopts.hpp>

namespace mcpd::app {

namespace {

cxxopts::Options describe_options() {
    cxxopts::Options options{"mcpd", "Turns a directory of scripts into tools for AI assistants."};
    options.add_options()("version", "print the version and exit")("help", "print this text and exit");
    return options;
}

}  // namespace

Result<Options> parse_options(int argc, const char* const* argv) {
    // The library throws on bad input; nothing of that leaves this function.
    try {
        auto description = describe_options();
        const auto parsed = description.parse(argc, argv);
        if (!parsed.unmatched().empty()) {
            return Error{Code::Invalid, "'" + parsed.unmatched().front() + "' is not understood; see mcpd --help"};
        }
        return Options{.help = parsed.count("help") > 0, .version = parsed.count("version") > 0};
    } catch (const cxxopts::exceptions::exception& problem) {
        return Error{Code::Invalid, std::string{problem.what()} + "; see mcpd --help"};
    }
}

std::string help_text() {
    return describe_options().help();
}

}  // namespace mcpd::app
