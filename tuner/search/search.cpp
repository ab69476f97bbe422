#include "tuner/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compiler/support/enum_text.h"
#include "tuner/search/state.h"

namespace rondo::tuner {

using db::TrialStatus;

namespace {

constexpr int kMostUntold = 3;          // candidates of which nothing can be said, until the search gives up
constexpr double kConfirmShare = 0.15;  // of the budget, kept for the leaders
constexpr int kShortSamples = 2;
constexpr double kShortSample = 100e-6;
constexpr int kFullSamples = 7;
constexpr double kFullSample = 300e-6;
constexpr double kWorthTiming = 1.25;  // within this of the best: timed in full
constexpr double kGain = 0.99;
constexpr double kFirstChoice = 10;  // seconds to wait for the compiler beyond the budget
// Bytes spilled a thread with which a kernel may still be the fastest: a few words outside the loops cost
// less than the blocks that their registers would displace. Of minGRU, 1 x 256, T = 131072, the best shoot
// has 160 of them and takes 0.9 of the time of the best without.
constexpr int kMostSpilled = 256;

}  // namespace

Clock steady_clock() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
}

namespace {

constexpr EnumText<Phase> kPhases[] = {
    {Phase::Search, "search"}, {Phase::Confirm, "confirm"}, {Phase::Done, "done"}};
static_assert(is_total(kPhases));

}  // namespace

const char* phase_name(Phase phase) { return to_text(kPhases, phase); }

namespace {

constexpr EnumText<SearchEnd> kSearchEnds[] = {{SearchEnd::Exhausted, "every candidate was tried"},
                                               {SearchEnd::Converged, "no more gain"},
                                               {SearchEnd::Budget, "time budget used"},
                                               {SearchEnd::Cancelled, "cancelled"},
                                               {SearchEnd::DeviceLost, "the device was lost"},
                                               {SearchEnd::Incomparable, "nothing can be said of what ran"}};
static_assert(is_total(kSearchEnds));

}  // namespace

const char* end_name(SearchEnd end) { return to_text(kSearchEnds, end); }

SearchResult search(const std::vector<engine::Candidate>& candidates, Measurer& measurer,
                    const SearchOptions& options, const Clock& clock) {
  return Search(candidates, measurer, options, clock).run();
}

Search::Search(const std::vector<engine::Candidate>& candidates, Measurer& measurer,
               const SearchOptions& options, const Clock& clock)
    : candidates_(candidates),
      measurer_(measurer),
      options_(options),
      clock_(clock),
      start_(clock()),
      picker_(candidates),
      first_(candidates.empty() ? 0 : first_choice(candidates)) {}

SearchResult Search::run() {
  explore();
  try_other_strategies();
  try_twins();
  measurer_.stop_compiling();
  if (measurer_.can_run() && measurer_.alive()) confirm();
  if (measurer_.can_run()) prove();
  diagnose();
  return finish();
}

void Search::explore() {
  report(Phase::Search);
  if (options_.incumbent) begin_with(*options_.incumbent);
  for (const std::size_t start : options_.starts) begin_with(start);
  while (!should_stop()) {
    if (!waits_for_first()) submit_more();
    if (in_flight_ == 0) return;  // nothing left to hand out: end_ stays Exhausted
    take_compiled();
  }
}

void Search::take_compiled() {
  const double before = clock_();
  const std::optional<Compiled> compiled = measurer_.next_compiled(0.1);
  if (waits_for_first()) waited_ += clock_() - before;
  if (!compiled) return;
  --in_flight_;
  settle_compiled(*compiled);
  ++tried_;
  report(Phase::Search);
}

void Search::begin_with(std::size_t candidate) {
  if (rows_.count(candidate) > 0) return;
  picker_.claim(candidate);
  submit(candidate);
}

void Search::submit(std::size_t candidate) {
  rows_[candidate].candidate = candidate_of(candidate);
  rows_[candidate].index = candidate;
  measurer_.compile(candidate);
  ++in_flight_;
}

// Twice the workers: enough that none idles while a kernel is measured, few enough that the picker learns in
// time.
void Search::submit_more() {
  while (in_flight_ < 2 * static_cast<std::size_t>(std::max(1, measurer_.compile_slots()))) {
    const std::optional<std::size_t> candidate = picker_.next();
    if (!candidate) return;
    submit(*candidate);
  }
}

bool Search::should_stop() {
  const std::optional<SearchEnd> reason = reason_to_stop();
  if (reason) end_ = *reason;
  return reason.has_value();
}

std::optional<SearchEnd> Search::reason_to_stop() const {
  if (cancelled()) return SearchEnd::Cancelled;
  if (measurer_.can_run() && !measurer_.alive()) return SearchEnd::DeviceLost;
  // All have the same data.
  if (untold_ >= kMostUntold && !best_ && !spared_) return SearchEnd::Incomparable;
  if (options_.exhaustive) return std::nullopt;
  if (out_of_time()) return SearchEnd::Budget;
  if (enough_tries()) return SearchEnd::Converged;
  return std::nullopt;
}

// A choice that comes late is worth more than none: while nothing was found, and nothing wrong either, which
// the diagnosis explains, the search goes on for a while beyond its budget. So it does until the model's
// first choice was tried, whatever came from the compiler before it: a tune never ends with less than that.
bool Search::out_of_time() const {
  const double late = found() ? 0.0 : options_.first_s;
  if (elapsed() < budget() + late) return false;
  return !waits_for_first() || waited_ >= std::min(options_.first_s, kFirstChoice);
}

double Search::budget() const { return options_.budget_s * (measurer_.can_run() ? 1 - kConfirmShare : 1.0); }

bool Search::found() const { return measurer_.can_run() ? best_ || spared_ : clean_ > 0; }

// Past the budget nothing else is begun. What counts as waiting is the time of the compiler alone: on a busy
// machine the comparison with the reference of what came before may outlast every limit.
bool Search::waits_for_first() const {
  return measurer_.can_run() && !options_.exhaustive && !first_settled_ && found() && elapsed() >= budget();
}

bool Search::enough_tries() const {
  if (!measurer_.can_run()) return clean_ >= static_cast<std::size_t>(options_.by_model_wanted);
  return best_ && tried_ - tried_at_gain_ >= static_cast<std::size_t>(options_.patience) &&
         picker_.local_optimum();
}

void Search::settle_compiled(const Compiled& compiled) {
  first_settled_ |= compiled.candidate == first_;
  Row& r = row(compiled.candidate);
  r.registers = compiled.registers;
  r.shared_bytes = compiled.shared_bytes;
  r.spill_bytes = compiled.spill_bytes;
  r.cubin_key = compiled.cubin_key;
  r.image = compiled.image;
  r.compiler = compiled.compiler;
  if (compiled.status != TrialStatus::Ok) return fail(compiled.candidate, compiled.status, compiled.reason);
  if (compiled.spill_bytes > (measurer_.can_run() ? kMostSpilled : 0))
    return fail(compiled.candidate, TrialStatus::Spill,
                fmt::format("{} bytes of registers spilled a thread", compiled.spill_bytes));
  const auto [first, is_new] = codes_.emplace(compiled.code, compiled.candidate);
  if (!is_new && !is_incumbent(compiled.candidate))
    return fail(compiled.candidate, TrialStatus::Duplicate,
                "same code as " + schedule::print(candidate_of(first->second).parameters));
  ++clean_;
  if (measurer_.can_run()) race(compiled.candidate);
}

// A short look first; only what comes near the best is timed in full.
void Search::race(std::size_t candidate) {
  const double best = best_seconds();
  auto timed = [&](int samples, double sample_s) {
    const Result<std::vector<double>> seconds = measurer_.run(candidate, samples, sample_s);
    if (!seconds) {
      fail(candidate, seconds.error());
      return false;
    }
    row(candidate).timing = engine::timing_of(*seconds);
    return true;
  };
  if (!timed(kShortSamples, kShortSample)) return;
  const double first_look = row(candidate).timing.median_s;
  if (twins_.count(candidate) == 0) picker_.measured(candidate, first_look);
  const bool may_go = best_ && !is_incumbent(candidate);
  if (may_go && first_look > options_.race_factor * best)
    return fail(candidate, TrialStatus::Slower,
                fmt::format("{:.1f} times the best so far", first_look / best));
  if (may_go && first_look > kWorthTiming * best) return measurer_.drop(candidate);
  if (!timed(kFullSamples, kFullSample)) return;
  if (!best_ || row(candidate).timing.median_s < best) set_best(candidate);
}

// Verified at once: whatever ends the search, the best so far is known to be right.
void Search::set_best(std::size_t candidate) {
  const double before = best_seconds();
  if (!verify(candidate)) return;
  if (!best_ || row(candidate).timing.median_s < kGain * before) tried_at_gain_ = tried_;
  best_ = candidate;
  if (spared_) measurer_.drop(*spared_);
  spared_.reset();
}

bool Search::verify(std::size_t candidate) {
  Row& r = row(candidate);
  if (r.verified) return true;
  const Result<engine::Verdict> verdict = measurer_.verify(candidate, 0);
  if (!verdict && verdict.error().kind == ErrorKind::Input) {
    // The data are at fault: it is not called wrong.
    if (!incomparable_) incomparable_ = verdict.error();
    ++untold_;
    fail(candidate, TrialStatus::Cancelled, "cannot tell: " + verdict.error().message);
    return false;
  }
  if (!verdict) {
    fail(candidate, verdict.error());
    return false;
  }
  r.verified = verdict->passed;
  if (r.verified) return true;
  r.verdict = *verdict;
  fail(candidate, TrialStatus::Wrong, verdict->summary);
  return false;
}

double Search::best_seconds() const { return best_ ? rows_.at(*best_).timing.median_s : 0; }

void Search::fail(std::size_t candidate, TrialStatus status, const std::string& reason) {
  Row& r = row(candidate);
  r.status = status;
  r.reason = reason;
  r.verified = false;
  if (status == TrialStatus::Wrong && !best_)
    spare(candidate);
  else
    measurer_.drop(candidate);
  settle(candidate);
}

void Search::fail(std::size_t candidate, const Error& error) {
  const bool stopped = error.kind == ErrorKind::Cancelled;  // by its time limit, or by the user
  const TrialStatus status = !stopped      ? TrialStatus::LaunchError
                             : cancelled() ? TrialStatus::Cancelled
                                           : TrialStatus::Timeout;
  fail(candidate, status, error.message);
}

void Search::settle(std::size_t candidate) {
  if (options_.settled) options_.settled(row(candidate));
}

void Search::report(Phase phase) {
  if (!options_.progress) return;
  Progress progress;
  progress.phase = phase;
  progress.tried = tried_;
  progress.total = candidates_.size() + twins_.size();
  if (best_) {
    const Row& best = rows_.at(*best_);
    progress.best_ms = best.timing.median_s * 1e3;
    progress.best = best.candidate.strategy + " " + schedule::print(best.candidate.parameters);
  }
  progress.seconds_left = std::max(0.0, options_.budget_s - elapsed());
  options_.progress(progress);
}

}  // namespace rondo::tuner
