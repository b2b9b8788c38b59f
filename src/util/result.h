#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace mcpd {

/// What went wrong, in the few kinds that callers treat differently. The protocol layer maps each to a protocol
/// error in one switch; everyone else only passes it on.
enum class Code {
    Invalid,      ///< the input is at fault
    NotFound,     ///< the thing named does not exist
    Forbidden,    ///< the system or a rule says no
    Busy,         ///< no room now, later perhaps
    TooLarge,     ///< past a limit; the message names it
    Unsupported,  ///< this system or version cannot do it
    System,       ///< a system call failed in a way none of the above describes
};

/// An expected failure. The message is a sentence with its subject first: `math/add: --help exited with 2`.
struct Error {
    Code code = Code::System;
    std::string message;
};

/// A value, or the reason why there is none. `std::expected` would do, where both compilers had it.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }

    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }

    const Error& error() const& { return std::get<1>(state_); }
    Error&& error() && { return std::get<1>(std::move(state_)); }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), failed_(true) {}

    explicit operator bool() const { return !failed_; }
    const Error& error() const& {
        assert(failed_);
        return error_;
    }

private:
    Error error_;
    bool failed_ = false;
};

}  // namespace mcpd
