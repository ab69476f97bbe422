// Export, import and merging. All ways in go through one merge of Contents.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <chrono>
#include <filesystem>

#include "tuning_db/database_impl.h"
#include "tuning_db/lock_file.h"

namespace rondo::db {
namespace {

void read_problems(Connection& c, const std::string& of_cell, Contents& contents) {
  Statement row = c.query(fmt::format("SELECT p.id, {} FROM problems p WHERE ?1 = '' OR p.cell IN (SELECT "
                                      "hash FROM cells WHERE hash = ?1 OR name = ?1) ORDER BY p.id",
                                      kProblemColumns),
                          of_cell);
  while (row.step()) {
    TunedProblem& tuned = contents.problems.emplace_back();
    tuned.problem = read_problem(row, 1);
    Statement trial = c.query(
        fmt::format(
            "SELECT {}, EXISTS (SELECT 1 FROM best WHERE trial = t.id) FROM trials t WHERE t.problem = ?1 "
            "ORDER BY t.id",
            kTrialColumns),
        row.integer(0));
    while (trial.step()) {
      if (trial.integer(kTrialWidth) != 0) tuned.best = tuned.trials.size();
      tuned.trials.push_back(read_trial(trial, 0, c.path()));
    }
  }
}

Contents read_contents(Connection& c, const std::string& of_cell) {
  Contents contents;
  Statement device = c.query(
      fmt::format(
          "SELECT {} FROM devices WHERE ?1 = '' OR key IN (SELECT device FROM "
          "problems WHERE cell IN (SELECT hash FROM cells WHERE hash = ?1 OR name = ?1)) ORDER BY key",
          kDeviceColumns),
      of_cell);
  while (device.step()) contents.devices.push_back(read_device(device, c.path()));
  Statement cell = c.query(
      "SELECT hash, name, source FROM cells WHERE ?1 = '' OR hash = ?1 OR name = ?1 ORDER BY rowid", of_cell);
  while (cell.step()) contents.cells.push_back({cell.text(0), cell.text(1), cell.text(2)});
  read_problems(c, of_cell, contents);
  return contents;
}

void merge_problem(Connection& c, const TunedProblem& tuned, MergeReport& report) {
  unwrap(validate(tuned.problem));
  const auto [problem, new_problem] = insert_problem(c, tuned.problem);
  report.problems += new_problem;
  for (std::size_t i = 0; i < tuned.trials.size(); ++i) {
    const Trial trial = checked(tuned.trials[i]);
    check_time(tuned.problem, trial);
    const auto [id, added] = insert_trial(c, problem, trial);
    (added ? report.trials : report.known_trials) += 1;
    if (tuned.best != i) continue;
    if (!trial.may_be_best())
      throw Failure(
          {ErrorKind::Input, "the best trial of " + describe(tuned.problem) + " is not verified and timed"});
    report.best += set_best_on_merge(c, problem, id, *trial.median_ms);
  }
}

// A folder beside a file that nobody else enters; it goes away with the object.
class PrivateFolder {
 public:
  explicit PrivateFolder(const std::string& beside) : path_(beside + ".merging-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      throw Failure(
          {ErrorKind::Database,
           fmt::format("cannot make a folder beside database '{}': {}", beside, std::strerror(errno)),
           "make its folder writable"});
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A copy of a database with an older schema, to be brought up to date in its stead: merging leaves the files
// that it reads as they are. Lies beside the file that is merged into.
class UpdatedCopy {
 public:
  UpdatedCopy(const std::string& of, const std::string& beside, std::chrono::milliseconds busy_timeout)
      : folder_(beside) {
    Connection(resolved(of), OpenMode::ReadOnly, busy_timeout).run("VACUUM INTO ?1", path());
  }
  std::string path() const { return folder_.path() + "/copy.db"; }

 private:
  PrivateFolder folder_;
};

// What was verified under its key ran other bytes.
void insert_from_elsewhere(Connection& c, const Cubin& cubin) {
  insert_cubin(c, cubin);
  c.run("DELETE FROM verifications WHERE code = ?1", cubin.key.hash());
}

bool holds(Connection& c, const std::string& key) {
  try {
    return select_cubin(c, key).has_value();
  } catch (const Failure& failure) {
    if (failure.busy()) throw;
    return false;  // damaged: another takes its place
  }
}

// Those that are not here yet: how many. One at a time: all images together may not fit in memory.
std::int64_t merge_cubins(Connection& c, Database& other, const std::vector<CubinSummary>& cubins,
                          const std::string& path) {
  std::int64_t added = 0;
  for (const CubinSummary& summary : cubins) {
    if (holds(c, summary.key)) continue;
    Result<std::optional<Cubin>> cubin = other.get_cubin(summary.key);
    if (!cubin.ok() || !cubin->has_value()) continue;  // damaged or pruned: rebuilt when needed
    (*cubin)->origin = fmt::format("{}'{}'", kMergedFrom, path);
    insert_from_elsewhere(c, **cubin);
    ++added;
  }
  return added;
}

MergeReport merge_contents(Connection& c, const Contents& contents) {
  MergeReport report;
  for (const Device& device : contents.devices) {
    Device canonical = device;
    canonical.profile = unwrap(canonical_object(device.profile, "profile of device '" + device.key + "'"));
    report.devices += insert_device(c, canonical, /*keep_newer=*/true);
  }
  for (const Cell& cell : contents.cells) report.cells += insert_cell(c, cell);
  for (const TunedProblem& tuned : contents.problems) merge_problem(c, tuned, report);
  return report;
}

}  // namespace

Result<Contents> Database::contents(const std::string& of_cell) {
  return impl_->read([&](Connection& c) { return read_contents(c, of_cell); });
}

Result<std::string> Database::export_json(const std::string& of_cell) {
  const Result<Contents> all = contents(of_cell);
  if (!all.ok()) return all.error();
  return to_json(*all);
}

Result<MergeReport> Database::merge(const Contents& contents) {
  return impl_->write([&](Connection& c) { return merge_contents(c, contents); });
}

Result<MergeReport> Database::import_json(const std::string& text, const std::string& origin,
                                          const Check& check) {
  const Result<Contents> read = contents_from_json(text, origin);
  if (!read.ok()) return read.error();
  if (check)
    if (const Status status = check(*read); !status.ok()) return status.error();
  return merge(*read);
}

Result<MergeReport> Database::merge_database(const std::string& other_path, const Check& check,
                                             Kernels kernels) {
  OpenOptions how{.access = Access::ReadOnly, .busy_timeout = impl_->options.busy_timeout};
  std::optional<UpdatedCopy> copy;
  if (const Result<bool> older = is_older(other_path); older.ok() && *older) {
    const Status copied = impl_->guarded([&] { copy.emplace(other_path, impl_->path, how.busy_timeout); });
    if (!copied.ok()) return copied.error();
    how.access = Access::ReadWrite;
  }
  Result<Database> other = open(copy ? copy->path() : other_path, how);
  if (!other.ok()) return other.error();
  const Result<Contents> read = other->contents();
  if (!read.ok()) return read.error();
  if (check)
    if (const Status status = check(*read); !status.ok()) return status.error();
  std::vector<CubinSummary> cubins;
  if (kernels == Kernels::Taken) {
    Result<std::vector<CubinSummary>> all = other->cubins();
    if (!all.ok()) return all.error();
    cubins = std::move(all).value();
  }
  return impl_->write([&](Connection& c) {
    MergeReport report = merge_contents(c, *read);
    report.cubins = merge_cubins(c, *other, cubins, resolved(other_path));
    return report;
  });
}

Result<std::string> Database::export_lock(const std::string& of_cell) {
  const Result<std::vector<ProblemSummary>> problems = list(of_cell);
  if (!problems.ok()) return problems.error();
  std::vector<PinnedChoice> choices;
  for (const ProblemSummary& problem : *problems) {
    if (!problem.best) continue;
    choices.push_back({.problem = problem.problem,
                       .cell_name = problem.cell_name,
                       .strategy = problem.best->strategy,
                       .parameters = problem.best->parameters,
                       .rondo_version = problem.best->rondo_version});
  }
  return to_lock_text(choices);
}

}  // namespace rondo::db
