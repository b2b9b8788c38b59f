#include "util/alive.h"

namespace mcpd {

Alive::Watch::Watch(Alive& owner) : owner_(&owner), outer_(owner.watch_) {
    owner.watch_ = this;
}

Alive::Watch::~Watch() {
    if (owner_) {
        owner_->watch_ = outer_;
    } else if (outer_) {
        outer_->owner_ = nullptr;
    }
}

}  // namespace mcpd
