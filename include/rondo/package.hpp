// package.h for C++17 and later, see launch.hpp: all that librondo_rt has.
#ifndef RONDO_PACKAGE_HPP
#define RONDO_PACKAGE_HPP

#include <rondo/package.h>
#include <rondo/launch.hpp>

namespace rondo::api {

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
    return detail::found<std::int32_t>(
        [&](auto* index) { return rondo_package_find(get(), context.get(), &query, index); });
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

}  // namespace rondo::api

#endif
