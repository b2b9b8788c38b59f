#pragma once

namespace mcpd {

/// Tells code that calls a listener in the middle of its work whether its own object survived the call:
///
///     Alive::Watch alive{alive_};
///     listener_.on_line(line);
///     if (!alive) return;
class Alive {
public:
    Alive() = default;
    Alive(const Alive&) = delete;
    ~Alive() {
        if (watch_) watch_->owner_ = nullptr;
    }

    class Watch {
    public:
        explicit Watch(Alive& owner);
        Watch(const Watch&) = delete;
        ~Watch();
        explicit operator bool() const { return owner_ != nullptr; }

    private:
        friend class Alive;
        Alive* owner_;
        Watch* outer_;
    };

private:
    Watch* watch_ = nullptr;
};

}  // namespace mcpd
