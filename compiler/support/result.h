// Errors as values: what every library of Rondo returns at its edge.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace rondo {

// What kind of thing went wrong. The command line turns it into an exit code (docs/command-line.md).
enum class ErrorKind {
  Input,        // the user's file, shape, type or option is wrong
  Unsupported,  // valid, but this version, GPU or driver cannot do it
  Missing,      // a library, device or file that is needed is not there
  Database,     // the tuning database cannot be read or written
  Device,       // the GPU or its driver reported a failure
  Compile,      // NVRTC rejected generated code
  Wrong,        // a computed result differs from the reference
  Cancelled,    // stopped by the user or by a time limit
  Internal,     // a defect of Rondo itself
  Memory,       // the host's memory is short
};

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;    // what was wrong and where, with the value and the limit
  std::string hint = {};  // what to do about it; may be left out
};

// Thrown only by Result::value() on an error: a caller that did not look.
class BadResult : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// A value or an Error. Test it, then read value() or error().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }

  T& value() & {
    check();
    return std::get<0>(state_);
  }
  const T& value() const& {
    check();
    return std::get<0>(state_);
  }
  T&& value() && {
    check();
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  void check() const {
    if (!ok()) throw BadResult(std::get<1>(state_).message);
  }
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;
inline Status success() { return Unit{}; }

}  // namespace rondo
