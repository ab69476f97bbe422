#include <rondo/package.h>

#include <fmt/format.h>

#include "runtime/capi/launch/call.h"
#include "runtime/capi/launch/plan.h"
#include "runtime/package/package.h"
#include "runtime/package/select.h"

namespace rondo::capi {

struct PackageObject {
  package::Package package;
};
template <>
struct HandleOf<PackageObject> {
  using Handle = rondo_package;
  static constexpr HandleKind kind = HandleKind::Package;
};

namespace {

constexpr std::size_t kFirstPackageInfo = RONDO_SIZE_TO(rondo_package_info, reserved);
constexpr std::size_t kFirstEntry = RONDO_SIZE_TO(rondo_package_entry, dim);
constexpr std::size_t kFirstQuery = RONDO_SIZE_TO(rondo_package_query, time);

using OpenedPackage = Result<std::unique_ptr<PackageObject>>;

OpenedPackage package_object(Result<package::Package> opened) {
  if (!opened) return opened.error();
  return std::make_unique<PackageObject>(PackageObject{std::move(opened).value()});
}

OpenedPackage open_package(const char* path) {
  if (Status status = not_null(path, "path"); !status) return status.error();
  return package_object(package::Package::open(path));
}

rondo_package_info describe(const package::Package& package) {
  rondo_package_info info{};
  info.producer = package.index().producer.c_str();
  info.hash = package.hash().c_str();
  info.bytes = static_cast<std::int64_t>(package.bytes());
  info.entries = static_cast<std::int32_t>(package.index().entries.size());
  return info;
}

rondo_package_entry describe(const package::Entry& entry) {
  rondo_package_entry info{};
  info.cell = entry.cell.c_str();
  info.cell_hash = entry.cell_hash.c_str();
  info.variant = entry.variant.c_str();
  info.pass = entry.pass.c_str();
  info.type = entry.storage.c_str();
  info.math = entry.math.c_str();
  info.arch = entry.arch.c_str();
  info.board = entry.board.c_str();
  info.multiprocessors = entry.multiprocessors;
  info.strategy = entry.strategy.c_str();
  info.parameters = entry.parameters.c_str();
  info.origin = entry.origin.c_str();
  info.note = entry.note.c_str();
  info.expected_ms = entry.expected_ms;
  info.batch = entry.batch;
  info.time = entry.time;
  info.heads = entry.heads;
  info.dim = entry.dim;
  return info;
}

std::string query_text(const char* text) { return text == nullptr ? std::string() : std::string(text); }

Result<package::Wanted> wanted_of(const rondo_package_query* query) {
  const auto given = read_struct(query, kFirstQuery, "rondo_package_query");
  if (!given) return given.error();
  for (const std::int64_t size : {given->heads, given->dim, given->batch, given->time})
    if (size < 0)
      return Error{ErrorKind::Input,
                   fmt::format("a query for H={} D={} B={} T={}: none is below 0", given->heads, given->dim,
                               given->batch, given->time),
                   "0 stands for any"};
  package::Wanted wanted;
  wanted.cell = query_text(given->cell);
  wanted.pass = query_text(given->pass);
  wanted.storage = query_text(given->type);
  wanted.math = query_text(given->math);
  wanted.heads = given->heads;
  wanted.dim = given->dim;
  wanted.batch = given->batch == 0 ? 1 : given->batch;
  wanted.time = given->time == 0 ? 1 : given->time;
  return wanted;
}

struct Found {
  const package::Package* package = nullptr;
  std::shared_ptr<const Device> device;
  std::vector<package::Selected> kernels;  // the best first
  std::int64_t batch = 1, time = 1;        // of the calls to come
};

Result<Found> find(const rondo_package* package, const rondo_context* context,
                   const rondo_package_query* query) {
  const auto object = object_of<PackageObject>(package);
  if (!object) return object.error();
  const auto on = object_of<ContextObject>(context);
  if (!on) return on.error();
  const Result<package::Wanted> wanted = wanted_of(query);
  if (!wanted) return wanted.error();
  Found found{&(*object)->package, (*on)->device, {}, wanted->batch, wanted->time};
  if (!found.device->info)
    return Error{ErrorKind::Unsupported, "packages hold code for GPUs, and the context is one of the CPU",
                 "make a context of a GPU; librondo compiles cells for the CPU"};
  const runtime::DeviceInfo& gpu = *found.device->info;
  auto selected = package::select(*found.package, *wanted,
                                  {gpu.cc(), gpu.shared_per_block_optin, gpu.name, gpu.sm_count});
  if (!selected) return selected.error();
  found.kernels = std::move(selected).value();
  return found;
}

Result<std::unique_ptr<PlanObject>> load(const Found& found, const package::Selected& selected) {
  const Result<executable::Executable> executable = found.package->executable(selected.entry, selected.code);
  if (!executable) return executable.error();
  const package::Entry& entry = found.package->index().entries[selected.entry];
  PlanFacts facts;
  facts.origin = "package";
  facts.note = fmt::format("{} for {} of {}, chosen for {}: {}",
                           executable::image_kind_name(executable->images.front().kind),
                           executable->images.front().target, found.package->origin(),
                           package::describe(entry), entry.note.empty() ? entry.origin : entry.note);
  facts.expected_ms = entry.expected_ms;
  auto plan = load_plan(found.device, *executable, std::move(facts));
  if (!plan) return plan;
  if (Status status = (*plan)->work->check_fits(found.batch, found.time); !status) return status.error();
  return plan;
}

// The first that loads and fits on the GPU; where none does, why the best does not.
Result<std::unique_ptr<PlanObject>> load_first(const Found& found) {
  Result<std::unique_ptr<PlanObject>> best = load(found, found.kernels.front());
  for (std::size_t i = 1; i < found.kernels.size(); ++i) {
    if (best || best.error().kind != ErrorKind::Unsupported) return best;
    if (auto next = load(found, found.kernels[i])) return next;
  }
  return best;
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface
using capi::PackageObject;

extern "C" {

rondo_status rondo_package_open(const char* path, rondo_package** package) {
  return capi::create<PackageObject>(package, "package", [&] { return capi::open_package(path); });
}

rondo_status rondo_package_open_expected(const char* path, const char* hash, rondo_package** package) {
  return capi::create<PackageObject>(package, "package", [&]() -> capi::OpenedPackage {
    if (Status status = capi::not_null(path, "path"); !status) return status.error();
    if (Status status = capi::not_null(hash, "hash"); !status) return status.error();
    auto opened = capi::open_package(path);
    if (!opened) return opened;
    if (Status status = (*opened)->package.expect(hash); !status) return status.error();
    return opened;
  });
}

rondo_status rondo_package_from_memory(const void* data, size_t bytes, rondo_package** package) {
  return capi::create<PackageObject>(package, "package", [&]() -> capi::OpenedPackage {
    if (Status status = capi::not_null(data, "data"); !status) return status.error();
    return capi::package_object(
        package::Package::from_memory({static_cast<const char*>(data), bytes}, "the package in memory"));
  });
}

rondo_status rondo_package_destroy(rondo_package* package) { return capi::destroy<PackageObject>(package); }

rondo_status rondo_package_verify(const rondo_package* package) {
  return capi::with<PackageObject>(package, [](const auto& object) { return object.package.verify(); });
}

rondo_status rondo_package_get_info(const rondo_package* package, rondo_package_info* info) {
  return capi::with<PackageObject>(package, [&](const auto& object) -> Status {
    return capi::write_struct(capi::describe(object.package), info, capi::kFirstPackageInfo,
                              "rondo_package_info");
  });
}

rondo_status rondo_package_get_entry(const rondo_package* package, int32_t index,
                                     rondo_package_entry* entry) {
  return capi::with<PackageObject>(package, [&](const auto& object) -> Status {
    const auto& entries = object.package.index().entries;
    if (index < 0 || static_cast<std::size_t>(index) >= entries.size())
      return Error{ErrorKind::Input,
                   fmt::format("there is no entry {}: the package has {}", index, entries.size()),
                   "they count from 0 to rondo_package_info.entries - 1"};
    return capi::write_struct(capi::describe(entries[static_cast<std::size_t>(index)]), entry,
                              capi::kFirstEntry, "rondo_package_entry");
  });
}

rondo_status rondo_package_plan(const rondo_package* package, const rondo_context* context,
                                const rondo_package_query* query, rondo_plan** plan) {
  return capi::create<capi::PlanObject>(plan, "plan", [&]() -> Result<std::unique_ptr<capi::PlanObject>> {
    const Result<capi::Found> found = capi::find(package, context, query);
    if (!found) return found.error();
    return capi::load_first(*found);
  });
}

rondo_status rondo_package_find(const rondo_package* package, const rondo_context* context,
                                const rondo_package_query* query, int32_t* index) {
  return capi::guarded([&]() -> Status {
    if (Status status = capi::not_null(index, "index"); !status) return status;
    const Result<capi::Found> found = capi::find(package, context, query);
    if (!found) return found.error();
    *index = static_cast<std::int32_t>(found->kernels.front().entry);
    return success();
  });
}

}  // extern "C"
