// launch.h for C++17 and later: handles that destroy themselves, and results that hold a value or an error,
// over the C interface and nothing else. Each class stands for the handle of the same name; rules and
// meanings are those of launch.h. package.hpp and rondo.hpp add the rest.
#ifndef RONDO_LAUNCH_HPP
#define RONDO_LAUNCH_HPP

#include <rondo/launch.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rondo::api {

// One error in the text of a cell, as rondo_diagnostic has it.
struct Diagnostic {
  std::int32_t line = 0, column = 0, length = 0;  // from 1; columns count characters
  std::string message, help, rendered;            // `rendered`: all of it for people, with line and caret
};

// What a call that failed said.
struct Error {
  rondo_status status = RONDO_OK;
  std::string message, hint;
  std::vector<Diagnostic> diagnostics{};  // of a cell's text, all of them; of other errors none
  static Error last(rondo_status status) { return {status, rondo_message(), rondo_hint()}; }
};

// Thrown by value() of a result that holds an error, and by nothing else here.
class BadResult : public std::runtime_error {
 public:
  explicit BadResult(Error error)
      : std::runtime_error(error.message + (error.hint.empty() ? "" : " (" + error.hint + ")")),
        error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

// A value or an Error, as std::expected of C++23 has it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return check(), std::get<0>(state_); }
  const T& value() const& { return check(), std::get<0>(state_); }
  T&& value() && { return check(), std::get<0>(std::move(state_)); }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  void check() const {
    if (!has_value()) throw BadResult(error());
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  static Result of(rondo_status status) {
    return status == RONDO_OK ? Result() : Result(Error::last(status));
  }

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void value() const {
    if (error_) throw BadResult(*error_);
  }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};
using Status = Result<void>;

namespace detail {

template <class Handle, rondo_status (*Destroy)(Handle*)>
struct Destroyer {
  void operator()(Handle* handle) const noexcept { (void)Destroy(handle); }
};
template <class Handle, rondo_status (*Destroy)(Handle*)>
using Owned = std::unique_ptr<Handle, Destroyer<Handle, Destroy>>;

// A struct of this version of the header.
template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof value;
  return value;
}
// What a query sets; `value` is what it holds before.
template <class Value, class Query>
Result<Value> found(Query query, Value value = {}) {
  const rondo_status status = query(&value);
  if (status != RONDO_OK) return Error::last(status);
  return value;
}
// What a query fills.
template <class Struct, class Query>
Result<Struct> asked(Query query) {
  return found<Struct>(query, sized<Struct>());
}
template <class Class, class Handle, class Make>
Result<Class> made(Make make) {
  Handle* handle = nullptr;
  const rondo_status status = make(&handle);
  if (status != RONDO_OK) return Error::last(status);
  return Class(handle);
}

}  // namespace detail

class Context {
 public:
  using Log = std::function<void(const std::string&)>;

  // `threads`: that a launch takes at most; 0: as many as there are.
  static Result<Context> cpu(Log log = {}, int threads = 0) {
    return make(RONDO_DEVICE_CPU, 0, std::move(log), threads);
  }
  static Result<Context> cuda(int ordinal = 0, Log log = {}) {
    return make(RONDO_DEVICE_CUDA, ordinal, std::move(log));
  }
  static Result<Context> cuda_current(Log log = {}) {
    return make(RONDO_DEVICE_CUDA_CURRENT, 0, std::move(log));
  }
  explicit Context(rondo_context* handle) : handle_(handle) {}

  rondo_context* get() const { return handle_.get(); }
  Result<rondo_context_info> info() const {
    return detail::asked<rondo_context_info>([&](auto* info) { return rondo_context_get_info(get(), info); });
  }

 private:
  static Result<Context> make(std::int32_t device, int ordinal, Log log, int threads = 0) {
    auto options = detail::sized<rondo_context_options>();
    options.device = device;
    options.ordinal = ordinal;
    options.threads = threads;
    // It lives as long as this object; plans that outlive it do not log.
    auto kept = log ? std::make_unique<Log>(std::move(log)) : nullptr;
    if (kept != nullptr) {
      options.log = [](void* user, std::int32_t, const char* message) {
        (*static_cast<Log*>(user))(message);
      };
      options.log_user = kept.get();
    }
    auto made = detail::made<Context, rondo_context>(
        [&](rondo_context** handle) { return rondo_context_create(&options, handle); });
    if (made) made->log_ = std::move(kept);
    return made;
  }
  std::unique_ptr<Log> log_;
  detail::Owned<rondo_context, rondo_context_destroy> handle_;
};

// The tensors, sizes and stream of a launch.
class Arguments {
 public:
  Arguments(std::int64_t batch, std::int64_t time) : args_(detail::sized<rondo_launch_args>()) {
    args_.tensor_size = sizeof(rondo_tensor);
    args_.batch = batch;
    args_.time = time;
  }

  // A dense tensor of the plan's shape. Giving an index again replaces it.
  Arguments& set(std::int32_t index, std::int32_t type, void* data, std::int64_t bytes) {
    rondo_tensor tensor{};
    tensor.index = index;
    tensor.type = type;
    tensor.data = data;
    tensor.bytes = bytes;
    return set(tensor);
  }
  // One with strides of the caller's, in elements.
  Arguments& set(std::int32_t index, const rondo_tensor_info& info, void* data, std::int64_t bytes,
                 std::int64_t stride_b, std::int64_t stride_t) {
    rondo_tensor tensor{};
    tensor.index = index;
    tensor.type = info.type;
    tensor.data = data;
    tensor.bytes = bytes;
    tensor.rank = info.rank;
    std::int64_t dense = 1;
    for (std::int32_t i = info.rank - 1; i >= 0; --i) {
      tensor.extents[i] = info.extents[i] == RONDO_EXTENT_BATCH  ? args_.batch
                          : info.extents[i] == RONDO_EXTENT_TIME ? args_.time
                                                                 : info.extents[i];
      tensor.strides[i] = dense;
      dense *= tensor.extents[i];
    }
    tensor.strides[0] = stride_b;
    tensor.strides[1] = stride_t;
    return set(tensor);
  }
  Arguments& set(const rondo_tensor& tensor) {
    for (rondo_tensor& known : tensors_)
      if (known.index == tensor.index) {
        known = tensor;
        return *this;
      }
    tensors_.push_back(tensor);
    return *this;
  }
  Arguments& workspace(void* memory, std::int64_t bytes) {
    args_.workspace = memory;
    args_.workspace_bytes = bytes;
    return *this;
  }
  Arguments& stream(void* stream) {
    args_.stream = stream;
    return *this;
  }
  // Valid until this object changes.
  rondo_launch_args get() const {
    rondo_launch_args args = args_;
    args.tensors = tensors_.data();
    args.tensor_count = tensors_.size();
    return args;
  }

 private:
  rondo_launch_args args_;
  std::vector<rondo_tensor> tensors_;
};

class Plan {
 public:
  explicit Plan(rondo_plan* handle) : handle_(handle) {}

  rondo_plan* get() const { return handle_.get(); }
  Result<rondo_plan_info> info() const {
    return detail::asked<rondo_plan_info>([&](auto* info) { return rondo_plan_get_info(get(), info); });
  }
  Result<rondo_tensor_info> tensor(std::int32_t index) const {
    return detail::asked<rondo_tensor_info>(
        [&](auto* info) { return rondo_plan_get_tensor(get(), index, info); });
  }
  Result<std::int32_t> find(const std::string& name) const {
    return detail::found<std::int32_t>(
        [&](auto* index) { return rondo_plan_find_tensor(get(), name.c_str(), index); });
  }
  Result<std::int64_t> tensor_bytes(std::int32_t index, std::int64_t batch, std::int64_t time) const {
    return detail::found<std::int64_t>(
        [&](auto* bytes) { return rondo_plan_tensor_bytes(get(), index, batch, time, bytes); });
  }
  Result<std::int64_t> workspace_bytes(std::int64_t batch, std::int64_t time) const {
    return detail::found<std::int64_t>(
        [&](auto* bytes) { return rondo_plan_workspace_bytes(get(), batch, time, bytes); });
  }
  // Of a launch with these tensors; addresses are not read.
  Result<std::int64_t> workspace_bytes(const Arguments& arguments) const {
    const rondo_launch_args args = arguments.get();
    return detail::found<std::int64_t>(
        [&](auto* bytes) { return rondo_plan_launch_workspace_bytes(get(), &args, bytes); });
  }
  Result<std::int64_t> step_workspace_bytes(std::int64_t batch) const {
    return detail::found<std::int64_t>(
        [&](auto* bytes) { return rondo_plan_step_workspace_bytes(get(), batch, bytes); });
  }
  Status launch(const Arguments& arguments) const {
    const rondo_launch_args args = arguments.get();
    return Status::of(rondo_launch(get(), &args));
  }
  Status step(const Arguments& arguments) const {
    const rondo_launch_args args = arguments.get();
    return Status::of(rondo_step(get(), &args));
  }
  Status prepare(const Arguments& arguments) const {
    const rondo_launch_args args = arguments.get();
    return Status::of(rondo_plan_prepare(get(), &args));
  }
  Result<std::int64_t> longest_time(std::int64_t batch, std::int64_t workspace_bytes) const {
    return detail::found<std::int64_t>(
        [&](auto* time) { return rondo_plan_longest_time(get(), batch, workspace_bytes, time); });
  }
  Result<std::int64_t> largest_batch(std::int64_t time) const {
    return detail::found<std::int64_t>(
        [&](auto* batch) { return rondo_plan_largest_batch(get(), time, batch); });
  }
  Status check() const { return Status::of(rondo_plan_check(get())); }
  // Whether the stream has ended, and with it what check() says. Never waits.
  Result<bool> check(void* stream) const {
    return detail::found<bool>([&](bool* ended) {
      std::int32_t found = 0;
      const rondo_status status = rondo_plan_check_stream(get(), stream, &found);
      *ended = found != 0;
      return status;
    });
  }

 private:
  detail::Owned<rondo_plan, rondo_plan_destroy> handle_;
};

}  // namespace rondo::api

#endif
