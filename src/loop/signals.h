#pragma once

#include "loop/handle.h"
#include "util/callback.h"

#include <initializer_list>
#include <vector>

namespace mcpd::loop {

class Loop;

/// Turns signals into calls from the loop. They do not keep the loop running.
class Signals {
public:
    Signals(Loop& loop, std::initializer_list<int> signals, Callback<void(int)> call);
    Signals(const Signals&) = delete;

private:
    Callback<void(int)> call_;
    std::vector<Handle<uv_signal_t>> handles_;
};

}  // namespace mcpd::loop
