#include "tools/librondo/database.h"

#include "compiler/support/text_file.h"
#include "engine/machine/device_profile.h"
#include "runtime/capi/launch/call.h"

namespace rondo::capi {

namespace {

constexpr std::size_t kFirstDatabaseOptions = RONDO_SIZE_TO(rondo_database_options, reserved);
constexpr std::size_t kFirstReport = RONDO_SIZE_TO(rondo_merge_report, best);

Result<db::Database> open(const rondo_database_options& options) {
  if (Status status = zero_or_one(options.read_only, "read_only"); !status) return status.error();
  const db::OpenOptions how{options.read_only != 0 ? db::Access::ReadOnly : db::Access::ReadWrite};
  return options.path == nullptr ? db::Database::open_default(how) : db::Database::open(options.path, how);
}

Status list(db::Database& database, rondo_record_function each, void* user) {
  const Result<std::vector<db::ProblemSummary>> problems = database.list();
  if (!problems) return problems.error();
  for (const db::ProblemSummary& summary : *problems) {
    const db::Problem& problem = summary.problem;
    rondo_record record{};
    record.struct_size = sizeof record;
    record.cell = summary.cell_name.c_str();
    record.cell_hash = problem.cell.c_str();
    record.device = problem.device.c_str();
    record.arch = problem.arch.c_str();
    record.type = problem.dtype.c_str();
    record.math = problem.math.c_str();
    record.pass = problem.pass.c_str();
    record.strategy = summary.best ? summary.best->strategy.c_str() : "";
    record.parameters = summary.best ? summary.best->parameters.c_str() : "";
    record.batch = problem.shape.B;
    record.time = problem.shape.T;
    record.heads = problem.shape.H;
    record.dim = problem.shape.D;
    record.trials = summary.trials;
    record.best_ms = summary.best ? summary.best->median_ms.value_or(0) : 0;
    if (each(user, &record) != 0) break;
  }
  return success();
}

Status report(const Result<db::MergeReport>& merged, rondo_merge_report* into) {
  if (!merged) return merged.error();
  if (into == nullptr) return success();
  rondo_merge_report result{};
  result.devices = merged->devices;
  result.cells = merged->cells;
  result.problems = merged->problems;
  result.trials = merged->trials;
  result.kernels = merged->cubins;
  result.known_trials = merged->known_trials;
  result.best = merged->best;
  return write_struct(result, into, kFirstReport, "rondo_merge_report");
}

db::Database::Check profiles_from(const std::string& origin) {
  return [origin](const db::Contents& contents) { return engine::check_profiles(contents.devices, origin); };
}

Result<db::MergeReport> import_file(db::Database& database, const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  return database.import_json(*text, path, profiles_from(path));
}

// What import and merge have in common: nothing is changed where the report could not be written.
template <class Body>
rondo_status bring_in(rondo_database* database, const char* path, rondo_merge_report* into, Body body) {
  return with<DatabaseObject>(database, [&](const auto& object) -> Status {
    if (Status status = not_null(path, "path"); !status) return status;
    if (into != nullptr)
      if (Status status = check_size(into->struct_size, kFirstReport, "rondo_merge_report"); !status)
        return status;
    return report(body(*object.database, std::string(path)), into);
  });
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_database_open(const rondo_database_options* options, rondo_database** database) {
  using Made = Result<std::unique_ptr<capi::DatabaseObject>>;
  return capi::create<capi::DatabaseObject>(database, "database", [&]() -> Made {
    const auto given = capi::read_struct(options, capi::kFirstDatabaseOptions, "rondo_database_options");
    if (!given) return given.error();
    Result<db::Database> opened = capi::open(*given);
    if (!opened) return opened.error();
    auto object = std::make_unique<capi::DatabaseObject>();
    object->database = std::make_shared<db::Database>(std::move(opened).value());
    return object;
  });
}

rondo_status rondo_database_destroy(rondo_database* database) {
  return capi::destroy<capi::DatabaseObject>(database);
}

rondo_status rondo_database_list(rondo_database* database, rondo_record_function each, void* user) {
  return capi::with<capi::DatabaseObject>(database, [&](const auto& object) -> Status {
    if (each == nullptr) return Error{ErrorKind::Input, "the function to call for each record is NULL"};
    return capi::list(*object.database, each, user);
  });
}

rondo_status rondo_database_import(rondo_database* database, const char* path, rondo_merge_report* report) {
  return capi::bring_in(database, path, report, capi::import_file);
}

rondo_status rondo_database_merge(rondo_database* database, const char* path, rondo_merge_report* report) {
  return capi::bring_in(database, path, report, [](db::Database& into, const std::string& from) {
    return into.merge_database(from, capi::profiles_from(from));
  });
}

}  // extern "C"
