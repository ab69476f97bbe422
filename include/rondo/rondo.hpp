// rondo.h for C++17 and later, see launch.hpp: all that librondo has.
#ifndef RONDO_RONDO_HPP
#define RONDO_RONDO_HPP

#include <rondo/rondo.h>
#include <rondo/package.hpp>

#include <exception>

namespace rondo::api {

class Cell {
 public:
  // Of a text. An error holds all diagnostics of it.
  static Result<Cell> parse(const std::string& text, const std::string& path = "text") {
    auto options = detail::sized<rondo_cell_options>();
    options.text = text.c_str();
    options.text_bytes = text.size();
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
    return detail::found<rondo_constant>(
        [&](auto* constant) { return rondo_cell_get_constant(get(), index, constant); });
  }
  // It belongs to the cell: see rondo_cell_get_picture().
  Result<const char*> picture(bool backward = false) const {
    return detail::found<const char*>(
        [&](auto* svg) { return rondo_cell_get_picture(get(), backward ? 1 : 0, svg); });
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

// Of any plan: see rondo_plan_outline().
inline Result<Plan> outline(const Cell& cell, const rondo_problem& problem) {
  return detail::made<Plan, rondo_plan>([&](rondo_plan** handle) {
    return rondo_plan_outline(nullptr, cell.get(), &problem, nullptr, handle);
  });
}
inline Result<Plan> outline(const Context& context, const Cell& cell, const rondo_problem& problem,
                            const rondo_plan_options& options = plan_options()) {
  return detail::made<Plan, rondo_plan>([&](rondo_plan** handle) {
    return rondo_plan_outline(context.get(), cell.get(), &problem, &options, handle);
  });
}

class Training {
 public:
  static Result<Training> outline(const Context& context, const Cell& cell, const rondo_problem& problem,
                                  const rondo_plan_options& options = plan_options()) {
    return detail::made<Training, rondo_training>([&](rondo_training** handle) {
      return rondo_training_outline(context.get(), cell.get(), &problem, &options, handle);
    });
  }
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
  // In parts of time: see rondo_training_forward_part().
  Result<rondo_training_part> part(std::int64_t time, std::int64_t number) const {
    return detail::asked<rondo_training_part>(
        [&](auto* info) { return rondo_training_get_part(get(), time, number, info); });
  }
  Status forward_part(std::int64_t number, const Arguments& forward, void* saved, std::int64_t bytes) const {
    const rondo_launch_args args = forward.get();
    return Status::of(rondo_training_forward_part(get(), number, &args, saved, bytes));
  }
  Status backward_part(std::int64_t number, const Arguments& forward, const Arguments& backward, void* saved,
                       std::int64_t bytes) const {
    const rondo_launch_args again = forward.get(), args = backward.get();
    return Status::of(rondo_training_backward_part(get(), number, &again, &args, saved, bytes));
  }

 private:
  Result<Plan> plan(std::int32_t pass) const {
    return detail::made<Plan, rondo_plan>(
        [&](rondo_plan** handle) { return rondo_training_get_plan(get(), pass, handle); });
  }
  detail::Owned<rondo_training, rondo_training_destroy> handle_;
};

}  // namespace rondo::api

#endif
