#include "mcp/batch.h"

namespace mcpd::mcp {

void Batch::send(std::string message, Weight weight) {
    if (weight != Weight::Answer) return out_.send(std::move(message), weight);
    answers_ += answers_.empty() ? '[' : ',';
    answers_ += message;
    settle();
}

void Batch::forget_one() {
    settle();
}

void Batch::settle() {
    if (--expected_ > 0 || answers_.empty()) return;
    out_.send(std::move(answers_) + "]", Weight::Answer);
}

}  // namespace mcpd::mcp
