#pragma once

#include <uv.h>

#include <utility>

namespace mcpd::loop {

/// Owns a libuv handle. libuv keeps using a handle's memory until its close callback has run, some turns after
/// uv_close; so the body lives on the heap, and outlives this object by just that long.
template <typename T>
class Handle {
public:
    Handle() = default;
    Handle(Handle&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(body_, other.body_);
        return *this;
    }
    ~Handle() { close(); }

    /// Makes the body by `init`, which calls the uv_…_init function that fits and returns what it returned. `owner` is
    /// what the handle's callbacks find in `data`.
    template <typename Init>
    int open(void* owner, Init init) {
        close();
        T* body = new T{};
        const int error = init(body);
        if (error < 0) {
            delete body;
            return error;
        }
        body->data = owner;
        body_ = body;
        return 0;
    }

    /// No callback comes any more.
    void close() {
        if (!body_) return;
        body_->data = nullptr;
        uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(body_, nullptr)),
                 [](uv_handle_t* handle) { delete reinterpret_cast<T*>(handle); });
    }

    T* get() const { return body_; }
    explicit operator bool() const { return body_ != nullptr; }
    bool is_active() const { return body_ && uv_is_active(reinterpret_cast<const uv_handle_t*>(body_)); }

    /// A handle that is not counted does not keep Loop::run() from returning.
    void set_counted(bool counted) {
        auto* handle = reinterpret_cast<uv_handle_t*>(body_);
        counted ? uv_ref(handle) : uv_unref(handle);
    }

private:
    T* body_ = nullptr;
};

}  // namespace mcpd::loop
