#pragma once

#include "util/callback.h"

namespace mcpd::loop {

class Loop;

/// Something to be done at the end of this turn of the loop, before it sleeps: how a result that is known at once is
/// still reported "later", and how what is written in one turn goes out in one piece. Costs no system call.
class Deferred {
public:
    Deferred(Loop& loop, Callback<void()> call) : loop_(loop), call_(call) {}
    Deferred(const Deferred&) = delete;
    ~Deferred() { cancel(); }

    /// The call comes once, however often it is asked for before it.
    void schedule();
    void cancel();
    bool is_scheduled() const { return scheduled_; }

private:
    friend class Loop;
    void append();

    Loop& loop_;
    Callback<void()> call_;
    Deferred* previous_ = nullptr;
    Deferred* next_ = nullptr;
    bool scheduled_ = false;
};

}  // namespace mcpd::loop
