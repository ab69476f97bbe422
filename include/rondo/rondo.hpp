// Rondo for C++17 and later: handles that destroy themselves, and results that hold a value or an error, over
// the C interface and nothing else. Each class stands for the handle of the same name; rules and meanings are
// those of rondo.h. With RONDO_LAUNCH_ONLY defined, the parts of launch.h and package.h alone: what
// librondo_rt has.
#ifndef RONDO_RONDO_HPP
#define RONDO_RONDO_HPP

#ifdef RONDO_LAUNCH_ONLY
#include <rondo/package.h>
#else
#include <rondo/rondo.h>
#endif

#include <cstddef>
#include <cstdint>
#include <exception>
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

// What a query fills.
template <class Struct>
Struct sized() {
  Struct value{};
  value.struct_size = sizeof value;
  return value;
}
template <class Struct, class Query>
Result<Struct> asked(Query query) {
  Struct value = sized<Struct>();
  const rondo_status status = query(&value);
  if (status != RONDO_OK) return Error::last(status);
  return value;
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

  static Result<Context> cpu(Log log = {}) { return make(RONDO_DEVICE_CPU, 0, std::move(log)); }
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
  static Result<Context> make(std::int32_t device, int ordinal, Log log) {
    auto options = detail::sized<rondo_context_options>();
    options.device = device;
    options.ordinal = ordinal;
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
    std::int32_t index = 0;
    return number(rondo_plan_find_tensor(get(), name.c_str(), &index), index);
  }
  Result<std::int64_t> tensor_bytes(std::int32_t index, std::int64_t batch, std::int64_t time) const {
    std::int64_t bytes = 0;
    return number(rondo_plan_tensor_bytes(get(), index, batch, time, &bytes), bytes);
  }
  Result<std::int64_t> workspace_bytes(std::int64_t batch, std::int64_t time) const {
    std::int64_t bytes = 0;
    return number(rondo_plan_workspace_bytes(get(), batch, time, &bytes), bytes);
  }
  Result<std::int64_t> step_workspace_bytes(std::int64_t batch) const {
    std::int64_t bytes = 0;
    return number(rondo_plan_step_workspace_bytes(get(), batch, &bytes), bytes);
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
  Status check() const { return Status::of(rondo_plan_check(get())); }

 private:
  template <class Number>
  static Result<Number> number(rondo_status status, const Number& value) {
    if (status != RONDO_OK) return Error::last(status);
    return value;
  }
  detail::Owned<rondo_plan, rondo_plan_destroy> handle_;
};

// Kernels compiled ahead of time, in a file or in memory.
class Package {
 public:
  static Result<Package> open(const std::string& path) {
    return detail::made<Package, rondo_package>(
        [&](rondo_package** handle) { return rondo_package_open(path.c_str(), handle); });
  }
  // The bytes are not copied: they outlive the package.
  static Result<Package> from_memory(const void* data, std::size_t bytes) {
    return detail::made<Package, rondo_package>(
        [&](rondo_package** handle) { return rondo_package_from_memory(data, bytes, handle); });
  }
  explicit Package(rondo_package* handle) : handle_(handle) {}

  rondo_package* get() const { return handle_.get(); }
  Status verify() const { return Status::of(rondo_package_verify(get())); }
  Result<rondo_package_info> info() const {
    return detail::asked<rondo_package_info>([&](auto* info) { return rondo_package_get_info(get(), info); });
  }
  Result<rondo_package_entry> entry(std::int32_t index) const {
    return detail::asked<rondo_package_entry>(
        [&](auto* entry) { return rondo_package_get_entry(get(), index, entry); });
  }
  // What it has for a context's GPU. The plan does not need the package any more.
  Result<Plan> plan(const Context& context, const rondo_package_query& query) const {
    return detail::made<Plan, rondo_plan>(
        [&](rondo_plan** handle) { return rondo_package_plan(get(), context.get(), &query, handle); });
  }
  // The entry that plan() would try first.
  Result<std::int32_t> find(const Context& context, const rondo_package_query& query) const {
    std::int32_t index = 0;
    const rondo_status status = rondo_package_find(get(), context.get(), &query, &index);
    if (status != RONDO_OK) return Error::last(status);
    return index;
  }

 private:
  detail::Owned<rondo_package, rondo_package_destroy> handle_;
};

// A query for calls of B batch rows and T steps; what is left out may be anything.
inline rondo_package_query package_query(const char* cell, const char* pass, std::int64_t batch,
                                         std::int64_t time) {
  auto query = detail::sized<rondo_package_query>();
  query.cell = cell;
  query.pass = pass;
  query.batch = batch;
  query.time = time;
  return query;
}

#ifndef RONDO_LAUNCH_ONLY

class Cell {
 public:
  // Of a text. An error holds all diagnostics of it.
  static Result<Cell> parse(const std::string& text, const std::string& path = "text") {
    auto options = detail::sized<rondo_cell_options>();
    options.text = text.c_str();
    options.path = path.c_str();
    return make(options);
  }
  // Of a file, or one that is shipped with Rondo.
  static Result<Cell> load(const std::string& path, const std::string& name = "") {
    auto options = detail::sized<rondo_cell_options>();
    options.path = path.c_str();
    options.name = name.empty() ? nullptr : name.c_str();
    return make(options);
  }
  static Result<Cell> make(const rondo_cell_options& options) {
    rondo_diagnostics* listed = nullptr;
    auto result = detail::made<Cell, rondo_cell>(
        [&](rondo_cell** handle) { return rondo_cell_create(&options, handle, &listed); });
    const detail::Owned<rondo_diagnostics, rondo_diagnostics_destroy> owned(listed);
    if (result || listed == nullptr) return result;
    Error error = result.error();
    error.diagnostics = all_of(listed);
    return error;
  }
  explicit Cell(rondo_cell* handle) : handle_(handle) {}

  rondo_cell* get() const { return handle_.get(); }
  Result<rondo_cell_info> info() const {
    return detail::asked<rondo_cell_info>([&](auto* info) { return rondo_cell_get_info(get(), info); });
  }
  Result<rondo_cell_tensor> tensor(std::int32_t index) const {
    return detail::asked<rondo_cell_tensor>(
        [&](auto* info) { return rondo_cell_get_tensor(get(), index, info); });
  }
  Result<rondo_constant> constant(std::int32_t index) const {
    rondo_constant found{};
    const rondo_status status = rondo_cell_get_constant(get(), index, &found);
    if (status != RONDO_OK) return Error::last(status);
    return found;
  }

 private:
  static std::vector<Diagnostic> all_of(const rondo_diagnostics* listed) {
    std::vector<Diagnostic> all;
    std::int32_t count = 0;
    if (rondo_diagnostics_count(listed, &count) != RONDO_OK) return all;
    for (std::int32_t i = 0; i < count; ++i) {
      auto one = detail::sized<rondo_diagnostic>();
      if (rondo_diagnostics_get(listed, i, &one) == RONDO_OK)
        all.push_back({one.line, one.column, one.length, one.message, one.help, one.rendered});
    }
    return all;
  }
  detail::Owned<rondo_cell, rondo_cell_destroy> handle_;
};

class Database {
 public:
  // "": the user's own.
  static Result<Database> open(const std::string& path = "", bool read_only = false) {
    auto options = detail::sized<rondo_database_options>();
    options.path = path.empty() ? nullptr : path.c_str();
    options.read_only = read_only ? 1 : 0;
    return detail::made<Database, rondo_database>(
        [&](rondo_database** handle) { return rondo_database_open(&options, handle); });
  }
  explicit Database(rondo_database* handle) : handle_(handle) {}

  rondo_database* get() const { return handle_.get(); }
  Result<rondo_merge_report> import_file(const std::string& path) const {
    return detail::asked<rondo_merge_report>(
        [&](auto* report) { return rondo_database_import(get(), path.c_str(), report); });
  }
  Result<rondo_merge_report> merge(const std::string& path) const {
    return detail::asked<rondo_merge_report>(
        [&](auto* report) { return rondo_database_merge(get(), path.c_str(), report); });
  }
  // Calls `each` for each problem until it gives false. The strings are valid during the call. What it throws
  // comes out of this function.
  Status list(const std::function<bool(const rondo_record&)>& each) const {
    struct Call {
      const std::function<bool(const rondo_record&)>& each;
      std::exception_ptr thrown;
    } call{each, nullptr};
    const rondo_status status = rondo_database_list(
        get(),
        [](void* user, const rondo_record* record) -> std::int32_t {
          auto& to = *static_cast<Call*>(user);
          try {
            return to.each(*record) ? 0 : 1;
          } catch (...) {
            to.thrown = std::current_exception();
            return 1;
          }
        },
        &call);
    if (call.thrown) std::rethrow_exception(call.thrown);
    return Status::of(status);
  }

 private:
  detail::Owned<rondo_database, rondo_database_destroy> handle_;
};

inline rondo_problem problem(std::int64_t batch, std::int64_t time, std::int64_t heads, std::int64_t dim,
                             std::int32_t type, std::int32_t pass = RONDO_PASS_FORWARD) {
  auto result = detail::sized<rondo_problem>();
  result.batch = batch;
  result.time = time;
  result.heads = heads;
  result.dim = dim;
  result.type = type;
  result.pass = pass;
  result.constant_size = sizeof(rondo_constant);
  return result;
}
inline rondo_plan_options plan_options() { return detail::sized<rondo_plan_options>(); }

inline Result<Plan> make_plan(const Context& context, const Cell& cell, const rondo_problem& problem,
                              const rondo_plan_options& options = plan_options()) {
  return detail::made<Plan, rondo_plan>([&](rondo_plan** handle) {
    return rondo_plan_create(context.get(), cell.get(), &problem, &options, handle);
  });
}

class Training {
 public:
  static Result<Training> make(const Context& context, const Cell& cell, const rondo_problem& problem,
                               const rondo_plan_options& options = plan_options()) {
    return detail::made<Training, rondo_training>([&](rondo_training** handle) {
      return rondo_training_create(context.get(), cell.get(), &problem, &options, handle);
    });
  }
  explicit Training(rondo_training* handle) : handle_(handle) {}

  rondo_training* get() const { return handle_.get(); }
  Result<Plan> forward() const { return plan(RONDO_PASS_FORWARD_SAVE); }
  Result<Plan> backward() const { return plan(RONDO_PASS_BACKWARD); }
  Result<rondo_training_info> info() const {
    return detail::asked<rondo_training_info>(
        [&](auto* info) { return rondo_training_get_info(get(), info); });
  }
  Result<rondo_shared_tensor> shared(std::int32_t index) const {
    return detail::asked<rondo_shared_tensor>(
        [&](auto* tensor) { return rondo_training_get_shared(get(), index, tensor); });
  }
  Result<rondo_training_sizes> sizes(std::int64_t batch, std::int64_t time) const {
    return detail::asked<rondo_training_sizes>(
        [&](auto* sizes) { return rondo_training_get_sizes(get(), batch, time, sizes); });
  }

 private:
  Result<Plan> plan(std::int32_t pass) const {
    return detail::made<Plan, rondo_plan>(
        [&](rondo_plan** handle) { return rondo_training_get_plan(get(), pass, handle); });
  }
  detail::Owned<rondo_training, rondo_training_destroy> handle_;
};

#endif  // RONDO_LAUNCH_ONLY

}  // namespace rondo::api

#endif
