// Tunes one problem: searches the spaces of all legal strategies, verifies, records in the database.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "engine/service/service.h"
#include "tuner/search/search.h"

namespace rondo::tuner {

struct TuneOptions {
  double budget_s = 60;  // from the call of tune() on; the reference's part of it included
  int workers = 0;       // compiler processes; 0: as many as there are cores but one, at most 16; on CPUs all
  std::chrono::milliseconds compile_limit{20000};
  // For each trial, in a process that is killed then; 0: in this process, without a limit.
  std::chrono::milliseconds trial_limit{30000};
  int alignment = engine::kFullAlignment;     // of the tensors it is tuned for, bytes
  std::string strategy;                       // only candidates of this one; empty: of all that are legal
  bool exhaustive = false;                    // measure every candidate, however long it takes
  std::uint64_t seed = 0;                     // of test data; 0: fresh at every call
  engine::Given given;                        // what of test data and timed data is not random
  const std::atomic<bool>* cancel = nullptr;  // see SearchOptions
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> note;  // of what the search starts without; none: nobody is told
  db::Database* database = nullptr;              // none: nothing is recorded
  // Tuned elsewhere or for like problems: the search starts from it, and from what the database holds alike.
  const engine::ShippedLayer* shipped = nullptr;
  // The program that is started as a worker (engine/worker/process.h). "" takes the environment variable
  // RONDO_WORKER, else this program.
  std::string worker;
  bool again = false;  // the winner becomes best whatever the database holds
};

struct TuneResult {
  SearchResult search;    // the table; rows[*search.best] is the choice
  bool measured = false;  // false: "by model", ranked by the cost model and pruned by the compiler
  std::optional<engine::CompiledPlan> plan;  // the choice, ready to load
  double copy_bytes_per_s = 0;               // copy measured in this run; 0 without a device
  bool stored_as_best = false;               // false too when the database holds one that was faster here
  std::string note;                          // of the trials, for people; "" mostly
  std::string database_trouble;              // why recording stopped, if it did: tuning goes on without

  const Row* best() const { return search.best ? &search.rows[*search.best] : nullptr; }
  // What the database held as best before, timed again in this search.
  const Row* known_before() const {
    return search.incumbent && incumbent_was_best ? &search.rows[*search.incumbent] : nullptr;
  }
  bool incumbent_was_best = false;  // of this very problem; else of the nearest one
  std::string summary() const;      // one line
};

// With a device: candidates are timed and verified on it (whose profile the task must have), every trial is
// recorded with its reason as soon as its fate is known, and the winner replaces the stored best if it is
// verified and faster: than the best's time in this run, else than its earlier time on this machine, version
// and driver. Claims of other runs do not count. What the database holds as best is tried first: of this
// problem, and of the nearest ones, those of a pass whose kernels are nearly this one's among them; then
// those of `shipped` and of like cells. The first of these is timed again beside the leaders. Without a
// device candidates are compiled in the model's order until a few are clean; only failures are recorded,
// nothing becomes best. Errors: Unsupported (no strategy, empty space), Missing (no compiler), Cancelled
// (before any candidate was finished), Input (a strategy that is unknown or not legal), Compile (every
// candidate failed; the commonest reason), Wrong (all that ran are wrong; the diagnosis), Device (it failed
// before there was a result).
Result<TuneResult> tune(const schedule::Task& task, const engine::Machine& machine,
                        const TuneOptions& options = {});

// Tuning as the service wants it (engine::Request::tune): strategy, alignment, database, data and what is
// shipped are the request's, and remarks go to it. Errors: those of tune(); Input where parameters are given.
Result<engine::Tuned> tuned(const engine::Request& request, const engine::Machine& machine,
                            TuneOptions options);

// Why a search without a best ended so: its diagnosis (kind Wrong), or the commonest failure.
Error nothing_worked(const SearchResult& result);

// Which of the candidates the database holds as best, and where a search starts therefore. Empty where it
// holds none of them, or cannot be read.
struct KnownBest {
  std::optional<std::size_t> own;   // of exactly this problem
  std::int64_t own_trial = 0;       // its trial, also where it is no candidate; 0: there is none
  std::vector<std::size_t> nearby;  // of the nearest problems that differ in device, B, T or pass, each once
};
KnownBest known_best(db::Database& database, const schedule::Task& task,
                     const std::vector<engine::Candidate>& candidates);
// What a layer holds for the problem and for others near it, and after that for those like it, of other cells
// of the structure too, as candidates: the first few of either, each once.
std::vector<std::size_t> starts_of(const engine::ShippedLayer& known, const schedule::Task& task,
                                   const std::vector<engine::Candidate>& candidates);

// A row as the database's trial.
db::Trial to_trial(const Row& row);

// The parts of tune() around the search, for any Measurer: candidates are ranked, trials recorded, the best
// stored. Cubins are the caller's business.
class TrialRecorder {
 public:
  // Registers device, cell and problem. Trouble is kept, not returned: see trouble(). `platform`: where the
  // trials run; without one nothing is proven.
  TrialRecorder(db::Database* database, const schedule::Task& task,
                const std::optional<db::Platform>& platform = std::nullopt);
  // Records a row; without a time only if it is a failure.
  void record(const Row& row);
  // Makes a recorded row best, if it may be and Replace and the contest with the best so far say so; whether
  // it became so. Its proof is recorded with it. `beaten`: the trial of the best so far, where that was timed
  // or failed in the same run, and is not this row's better.
  bool store_best(const Row& row, db::Replace replace = db::Replace::IfFaster, std::int64_t beaten = 0);
  // Records that a known trial, which was the row of this run, is wrong on this platform.
  void refute(std::int64_t trial, const Row& row);
  const std::string& trouble() const { return trouble_; }

 private:
  bool usable() const { return database_ != nullptr && trouble_.empty(); }
  void verified(std::int64_t trial, const Row& row);
  void keep(const Status& status);

  db::Database* database_;
  std::optional<db::Platform> platform_;
  std::int64_t problem_ = 0;
  std::int64_t batch_ = 1, time_ = 1;
  std::int64_t created_at_ = db::now();  // of all trials of the run: the same row twice is one trial
  std::string trouble_;
};

}  // namespace rondo::tuner
