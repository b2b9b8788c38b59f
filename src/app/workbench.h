#pragma once

#include "app/settings.h"
#include "catalog/keeper.h"
#include "exec/engine.h"
#include "loop/loop.h"

namespace mcpd::app {

/// What a command needs that looks at the directory once: a catalog, complete.
class Workbench {
public:
    Workbench(loop::Loop& loop, const Settings& settings)
        : loop_(loop), engine(loop, settings.queue), keeper(engine, settings.keeper) {}

    /// Returns when every script has been asked.
    void look() {
        keeper.rescan();
        while (!keeper.is_complete()) loop_.run_once();
    }

private:
    loop::Loop& loop_;

public:
    exec::Engine engine;
    catalog::Keeper keeper;
};

}  // namespace mcpd::app
