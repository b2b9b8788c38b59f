#pragma once

#include "util/result.h"

#include <string>

namespace mcpd::app {

/// What the command line asks for.
struct Options {
    bool help = false;
    bool version = false;
};

/// The error's message is the one line that the user sees.
Result<Options> parse_options(int argc, const char* const* argv);

/// The text of `--help`.
std::string help_text();

}  // namespace mcpd::app
