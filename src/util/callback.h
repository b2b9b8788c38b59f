#pragma once

#include <utility>

namespace mcpd {

/// A method bound to its object: two pointers, no allocation. The object must outlive the callback, which it does
/// where this is used: the caller is a member of the object it calls.
///
///     loop::Timer timeout_{loop, Callback<void()>::to<&Job::on_timeout>(this)};
template <typename Signature>
class Callback;

template <typename... Args>
class Callback<void(Args...)> {
public:
    Callback() = default;

    template <auto method, typename T>
    static Callback to(T* object) {
        Callback callback;
        callback.object_ = object;
        callback.call_ = [](void* self, Args... args) {
            (static_cast<T*>(self)->*method)(std::forward<Args>(args)...);
        };
        return callback;
    }

    explicit operator bool() const { return call_ != nullptr; }
    void operator()(Args... args) const { call_(object_, std::forward<Args>(args)...); }

private:
    void* object_ = nullptr;
    void (*call_)(void*, Args...) = nullptr;
};

}  // namespace mcpd
