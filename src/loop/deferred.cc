#include "loop/deferred.h"

#include "loop/loop.h"

namespace mcpd::loop {

void Deferred::schedule() {
    if (scheduled_) return;
    append();
    if (!loop_.idle_.is_active()) {
        uv_idle_start(loop_.idle_.get(), [](uv_idle_t* idle) {
            if (idle->data) static_cast<Loop*>(idle->data)->run_deferred();
        });
    }
}

void Deferred::append() {
    scheduled_ = true;
    previous_ = loop_.last_deferred_;
    next_ = nullptr;
    (previous_ ? previous_->next_ : loop_.first_deferred_) = this;
    loop_.last_deferred_ = this;
}

void Deferred::cancel() {
    if (!scheduled_) return;
    scheduled_ = false;
    (previous_ ? previous_->next_ : loop_.first_deferred_) = next_;
    (next_ ? next_->previous_ : loop_.last_deferred_) = previous_;
}

}  // namespace mcpd::loop
