// The search of docs/tuning.md, Searching: rank by model, compile, drop large spills and duplicates, race,
// verify, confirm. It knows nothing of GPUs: a Measurer does the work and a clock tells the time, so tests
// run it on recorded landscapes.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "engine/check/verdict.h"
#include "engine/choice/candidates.h"
#include "engine/measure/samples.h"
#include "tuner/search/diagnosis.h"
#include "tuning_db/records.h"

namespace rondo::tuner {

// What became of compiling one candidate.
struct Compiled {
  std::size_t candidate = 0;
  db::TrialStatus status = db::TrialStatus::Ok;  // Ok, CompileError, Timeout or Cancelled
  std::string reason;                            // one line, if not Ok
  int registers = 0;                             // a thread
  int shared_bytes = 0;                          // a block
  int spill_bytes = 0;                           // a thread
  std::string cubin_key;                         // of the database
  std::string image{};                           // CompiledCode::digest()
  std::string code;      // equal for candidates with the same code, launched in the same way
  std::string compiler;  // "nvrtc 13.0"
};

// Everything the search asks of a machine. Candidates are named by their index in the ranked list. Used by
// one thread.
class Measurer {
 public:
  virtual ~Measurer() = default;
  virtual bool can_run() const = 0;  // false: no GPU, compiling only
  virtual int compile_slots() const = 0;
  // The number under which the same candidate is compiled by another compiler: beyond all candidates. None
  // where there is but one.
  virtual std::optional<std::size_t> twin(std::size_t) const { return std::nullopt; }
  virtual void compile(std::size_t candidate) = 0;  // begins; the outcome comes from next_compiled
  // The next outcome, waiting at most so long; nothing if none came.
  virtual std::optional<Compiled> next_compiled(double timeout_s) = 0;
  virtual void stop_compiling() = 0;  // forget what is queued
  // Seconds of one run, one entry a sample, each of about `sample_s`. Errors: Device (it failed to launch or
  // run), Cancelled (it was stopped by a time limit or the cancel flag).
  virtual Result<std::vector<double>> run(std::size_t candidate, int samples, double sample_s) = 0;
  // One sample of each in turn, `rounds` times or until `stop()`; samples by candidate, in the order given.
  virtual Result<std::vector<std::vector<double>>> run_interleaved(const std::vector<std::size_t>& candidates,
                                                                   int rounds,
                                                                   const std::function<bool()>& stop) = 0;
  // Compares with the reference, on data of a seed; 0: on the data of this run. Errors: why it could not be
  // compared; Input where nothing can be said on these data: it is neither right nor wrong.
  virtual Result<engine::Verdict> verify(std::size_t candidate, std::uint64_t seed) = 0;
  // Compares with a plain kernel at the user's own sizes. Of one that passed the summary says what was
  // compared. Errors: Device where a kernel failed on the GPU; else why nothing can be compared.
  virtual Result<engine::Verdict> verify_at_shape(std::size_t candidate) = 0;
  virtual void drop(std::size_t candidate) = 0;  // it will not be asked for again
  virtual bool alive() const = 0;                // false: the device is lost, nothing more can run
};

using Clock = std::function<double()>;  // seconds from any moment, never backwards
Clock steady_clock();

// One candidate's fate.
struct Row {
  engine::Candidate candidate;
  db::TrialStatus status = db::TrialStatus::Ok;
  std::string reason;
  bool verified = false;
  engine::Verdict verdict;  // of a wrong one: where, and by how much
  std::string at_shape;     // of a winner: what was compared at the full shape, or why nothing could be
  engine::Timing timing;    // samples 0: not timed
  bool confirmed = false;   // timed in interleaved runs
  int registers = 0, shared_bytes = 0, spill_bytes = 0;
  std::string cubin_key;
  std::string image{};    // of its code: CompiledCode::digest()
  std::string compiler;   // of its code
  std::size_t index = 0;  // as the measurer names it
};

enum class Phase { Search, Confirm, Done };
const char* phase_name(Phase phase);

struct Progress {
  Phase phase = Phase::Search;
  std::size_t tried = 0;    // candidates whose fate is known
  std::size_t total = 0;    // candidates there are
  double best_ms = 0;       // 0: none yet
  std::string best;         // "stream channels=64 ..."
  double seconds_left = 0;  // of the budget
};

struct SearchOptions {
  double budget_s = 60;
  double first_s = 60;                        // beyond the budget, for the first candidate that can be used
  const std::atomic<bool>* cancel = nullptr;  // turned true (by Ctrl-C): stop soon, keep what is known
  std::function<void(const Progress&)> progress;
  std::function<void(const Row&)> settled;  // a row that will not change any more, as soon as it is known
  bool exhaustive = false;                  // try every candidate, whatever the budget
  double race_factor = 3;                   // behind the best by this after a first short measurement: out
  int leaders = 6;                          // confirmed in interleaved runs
  // The best known from before, or what is best for a like problem: tried first and confirmed beside the
  // leaders, however far behind it is.
  std::optional<std::size_t> incumbent;
  // Winners of like problems and of other passes: tried after the incumbent and before all others, so that
  // the walk to the neighbours of what is best begins with them.
  std::vector<std::size_t> starts;
  int confirm_rounds = 21;
  int patience = 250;       // stop after so many tries without 1% gained
  int by_model_wanted = 8;  // without a GPU: clean candidates to collect
  // Of the data that a diagnosis looks at when all that ran is wrong: another than the run's own.
  std::uint64_t other_seed = 2;
  double diagnosis_s = 30;  // for trying strategies that had no turn, beyond the budget
};

enum class SearchEnd {
  Exhausted,  // no candidate is left
  Converged,  // patience ran out
  Budget,
  Cancelled,
  DeviceLost,    // a kernel broke the context
  Incomparable,  // nothing can be said of what ran
};
const char* end_name(SearchEnd end);

struct SearchResult {
  std::vector<Row> rows;  // tried candidates; best first, then the timed ones by time, then the others
  std::optional<std::size_t>
      best;               // index into rows: verified and timed, or (without a GPU) the model's choice
  bool measured = false;  // best was timed and verified
  std::optional<std::size_t> incumbent;  // index into rows, if there was one and it was tried
  SearchEnd end = SearchEnd::Exhausted;
  std::size_t tried = 0, total = 0;
  double seconds = 0;
  std::optional<Diagnosis> diagnosis;  // where all that ran was wrong
  std::optional<Error> incomparable;   // where nothing is best, and of some that ran nothing can be said: why
};

// `candidates`: ranked. Never fails: failures of candidates are rows.
SearchResult search(const std::vector<engine::Candidate>& candidates, Measurer& measurer,
                    const SearchOptions& options, const Clock& clock);

}  // namespace rondo::tuner
