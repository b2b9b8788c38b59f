#pragma once

#include "exec/queue.h"
#include "exec/terminator.h"
#include "loop/reaper.h"
#include "loop/spawner.h"

namespace mcpd::exec {

/// What it takes to run commands: one for the program. The order is that of dependence; jobs are gone before it is.
struct Engine {
    Engine(loop::Loop& loop, Queue::Size size)
        : loop(loop), reaper(loop), spawner(loop, reaper), queue(loop, size), terminator(loop, reaper) {}

    loop::Loop& loop;
    loop::Reaper reaper;
    loop::Spawner spawner;
    Queue queue;
    Terminator terminator;
};

}  // namespace mcpd::exec
