#pragma once

#include "app/options.h"
#include "app/settings.h"
#include "loop/loop.h"

namespace mcpd::app {

/// Each runs one command to its end, and returns what the program exits with.
int run_list(loop::Loop& loop, const Options& options, const Settings& settings);
int run_check(loop::Loop& loop, const Options& options, const Settings& settings);
int run_call(loop::Loop& loop, const Options& options, const Settings& settings);

}  // namespace mcpd::app
