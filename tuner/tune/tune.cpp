#include "tuner/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "compiler/schedule/plan/strategy.h"
#include "engine/choice/shipped_layer.h"
#include "tuner/tune/plan_measurer.h"

namespace rondo::tuner {

using db::TrialStatus;

namespace {

// Winners of other problems that a search starts from: one of each pass that shares, and one more.
constexpr std::size_t kStarts = 3;
// Of like problems so many are looked at: several may have the same choice, or one that is no candidate here.
constexpr std::size_t kLike = 16;

// From the seed of a run to that of its diagnosis: far beyond the seeds of the run's own cases and sets.
constexpr std::uint64_t kOtherSeed = 1'000'003;

int workers_of(const TuneOptions& options, const target::Profile& profile) {
  if (options.workers > 0) return options.workers;
  // On CPUs the tuner waits while they compile.
  const int kept = profile.is_cpu() ? 0 : 1;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - kept, 1, 16);
}

// The number of candidates if it is none of them.
std::size_t index_of(const std::vector<engine::Candidate>& candidates, const engine::Candidate& wanted) {
  const auto found = std::ranges::find_if(candidates, [&](const engine::Candidate& c) {
    return c.strategy == wanted.strategy && c.parameters == wanted.parameters;
  });
  return static_cast<std::size_t>(found - candidates.begin());
}

// As it was recorded, or with what the strategy's space has gained since.
std::optional<std::size_t> index_of_trial(const std::vector<engine::Candidate>& candidates,
                                          const db::Trial& trial) {
  for (const auto& parameters :
       {engine::parameters_from_json(trial.parameters), engine::recorded_parameters(trial)}) {
    if (!parameters) continue;
    const std::size_t index = index_of(candidates, {trial.strategy, *parameters, {}});
    if (index < candidates.size()) return index;
  }
  return std::nullopt;
}

// Whether it is known from this run how fast a row is, or that it fails: the run's winner is no worse.
bool tried(const Row& row) {
  return row.status == TrialStatus::Ok ? row.timing.samples > 0 : row.status != TrialStatus::Cancelled;
}

SearchOptions search_options(const TuneOptions& options, double used_s, std::uint64_t seed,
                             TrialRecorder& recorder) {
  SearchOptions search;
  search.budget_s = std::max(0.0, options.budget_s - used_s);
  search.cancel = options.cancel;
  search.progress = options.progress;
  search.exhaustive = options.exhaustive;
  search.other_seed = seed + kOtherSeed;
  search.settled = [&recorder](const Row& row) { recorder.record(row); };
  return search;
}

}  // namespace

KnownBest known_best(db::Database& database, const schedule::Task& task,
                     const std::vector<engine::Candidate>& candidates) {
  KnownBest known;
  const db::Problem key = engine::database_problem(task);
  const Result<std::vector<db::Neighbour>> near =
      database.neighbours(key, engine::passes_alike(task.problem));
  if (!near) return known;
  for (const db::Neighbour& each : *near) {
    if (each.problem == key) known.own_trial = each.trial.id;
    const std::optional<std::size_t> candidate = index_of_trial(candidates, each.trial);
    if (!candidate) continue;
    if (each.problem == key)
      known.own = candidate;
    else if (known.own != candidate && std::ranges::count(known.nearby, *candidate) == 0)
      known.nearby.push_back(*candidate);
    if (known.nearby.size() == kStarts) break;
  }
  return known;
}

std::vector<std::size_t> starts_of(const engine::ShippedLayer& known, const schedule::Task& task,
                                   const std::vector<engine::Candidate>& candidates) {
  if (known.empty()) return {};
  const db::Problem key = engine::database_problem(task);
  std::vector<std::size_t> starts;
  const auto add = [&](const std::vector<const engine::ShippedChoice*>& from) {
    const std::size_t most = starts.size() + kStarts;
    for (const engine::ShippedChoice* each : from) {
      if (starts.size() == most) break;
      const std::optional<std::size_t> candidate = index_of_trial(candidates, each->trial);
      if (candidate && std::ranges::count(starts, *candidate) == 0) starts.push_back(*candidate);
    }
  };
  std::vector<const engine::ShippedChoice*> near = known.nearest(key);
  if (const engine::ShippedChoice* own = known.exact(key)) near.insert(near.begin(), own);
  add(near);
  add(known.like(key, engine::passes_alike(task.problem), engine::structure_key(task.written), kLike));
  return starts;
}

Error nothing_worked(const SearchResult& result) {
  if (result.end == SearchEnd::Cancelled)
    return {ErrorKind::Cancelled, "tuning was cancelled before any candidate was measured"};
  if (result.incomparable && !result.diagnosis)
    return {ErrorKind::Input,
            fmt::format("no kernel can be compared with the reference: {}", result.incomparable->message),
            result.incomparable->hint};
  if (result.diagnosis) return {ErrorKind::Wrong, result.diagnosis->text(), result.diagnosis->advice()};
  std::map<std::string, int> reasons;
  for (const Row& row : result.rows) ++reasons[fmt::format("{}: {}", db::to_text(row.status), row.reason)];
  const auto common =
      std::ranges::max_element(reasons, [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool wrong =
      std::ranges::any_of(result.rows, [](const Row& row) { return row.status == TrialStatus::Wrong; });
  const ErrorKind kind = result.end == SearchEnd::DeviceLost ? ErrorKind::Device
                         : wrong                             ? ErrorKind::Wrong
                                                             : ErrorKind::Compile;
  if (common == reasons.end())
    return {ErrorKind::Cancelled,
            fmt::format("no candidate of {} was finished in the budget and {:.0f} s more", result.total,
                        SearchOptions{}.first_s),
            "give it more time with --budget"};
  return {kind,
          fmt::format("none of {} candidates tried can be used; {} of them: {}", result.tried, common->second,
                      common->first),
          "name another strategy of those that `rondo check` calls legal with --strategy"};
}

std::string TuneResult::summary() const {
  const Row* row = best();
  if (row == nullptr) return "nothing found";
  const std::string what =
      fmt::format("{} {}", row->candidate.strategy, schedule::print(row->candidate.parameters));
  if (!measured)
    return fmt::format("{}: about {:.4f} ms by model; {} of {} candidates compiled", what,
                       row->candidate.estimate.seconds * 1e3, search.tried, search.total);
  const std::string by = row->compiler.empty() ? "" : ", compiled by " + row->compiler;
  return fmt::format(
      "{}: {:.4f} ms, spread {:.1f}% (p10 to p90), verified; {} of {} candidates tried in {:.0f} s ({}){}",
      what, row->timing.median_s * 1e3, row->timing.spread * 100, search.tried, search.total, search.seconds,
      end_name(search.end), by);
}

namespace {

// What is written to a damaged file may be lost, and damages more of it.
Status check_whole(db::Database* database) {
  if (database == nullptr) return success();
  const auto damage = database->damage();
  if (!damage) return damage.error();
  if (damage->empty()) return success();
  return Error{
      ErrorKind::Database, fmt::format("database '{}' is damaged: {}", database->path(), damage->front()),
      "Rondo leaves the file as it is: `rondo db export` what can be read and import it into a new file, or "
      "name another with --db"};
}

}  // namespace

Result<TuneResult> tune(const schedule::Task& task, const engine::Machine& machine,
                        const TuneOptions& options) {
  const bool runs = machine.device != nullptr;
  if (Status status = check_whole(options.database); !status) return status.error();
  const Clock clock = steady_clock();
  const double start = clock();
  const Result<std::vector<engine::Candidate>> candidates =
      engine::ranked_candidates(task, options.alignment, options.strategy);
  if (!candidates) return candidates.error();
  PlanMeasurerOptions measuring;
  measuring.workers = workers_of(options, task.profile);
  measuring.compile_limit = options.compile_limit;
  measuring.trial_limit = options.trial_limit;
  measuring.cancel = options.cancel;
  measuring.database = options.database;
  measuring.worker = options.worker;
  measuring.given = options.given;
  measuring.seed = options.seed != 0 ? options.seed : std::random_device{}();
  const auto measurer = PlanMeasurer::make(task, *candidates, machine.device, measuring);
  if (!measurer) return measurer.error();

  TuneResult result;
  result.note = (*measurer)->note();
  if (Trials* trials = (*measurer)->trials()) {
    const Result<double> bandwidth = trials->copy_bandwidth();
    if (bandwidth) result.copy_bytes_per_s = *bandwidth;
  }
  TrialRecorder recorder(options.database, task, runs ? std::optional(machine.platform) : std::nullopt);
  SearchOptions searching = search_options(options, clock() - start, measuring.seed, recorder);
  KnownBest known;
  if (options.database != nullptr && runs) {  // only what can be timed can be compared
    known = known_best(*options.database, task, *candidates);
    result.incumbent_was_best = known.own.has_value();
    searching.incumbent = known.own;
    searching.starts = known.nearby;
  }
  if (runs) {
    const Result<engine::ShippedLayer> layer = engine::known_choices(options.shipped, options.database);
    if (!layer && options.note) options.note(engine::starts_without(layer.error()));
    if (const engine::ShippedLayer* from = layer ? &*layer : options.shipped)
      for (const std::size_t each : starts_of(*from, task, *candidates)) searching.starts.push_back(each);
  }
  if (!searching.incumbent && !searching.starts.empty()) searching.incumbent = searching.starts.front();
  result.search = search(*candidates, **measurer, searching, clock);
  result.measured = result.search.measured;
  if (const Row* before = result.known_before()) recorder.refute(known.own_trial, *before);
  result.database_trouble = recorder.trouble();
  const Row* best = result.best();
  if (best == nullptr) return nothing_worked(result.search);
  if (const engine::CompiledPlan* plan = (*measurer)->plan(best->index)) {
    result.plan = *plan;
    // Before the trial becomes best: who finds it there finds its code too.
    if (options.database != nullptr) engine::store_cubin(*plan, *options.database);
  }
  result.stored_as_best = recorder.store_best(
      *best, options.again ? db::Replace::Always : db::Replace::IfFaster,
      result.known_before() != nullptr && tried(*result.known_before()) ? known.own_trial : 0);
  result.database_trouble = recorder.trouble();
  return result;
}

Result<engine::Tuned> tuned(const engine::Request& request, const engine::Machine& machine,
                            TuneOptions options) {
  if (!request.overrides.parameters.empty())
    return Error{ErrorKind::Input, "parameters are given, and tuning is to find them",
                 "leave one of the two out"};
  const engine::TrustOptions& from = request.trust;
  options.alignment = from.alignment;
  options.strategy = request.overrides.strategy;
  options.database = from.database;
  options.shipped = from.shipped;
  options.note = from.note;
  options.given = from.given;
  Result<TuneResult> result = tune({*request.cell, request.problem, machine.profile}, machine, options);
  if (!result) return result.error();
  if (from.note && !result->note.empty()) from.note(result->note);
  if (from.note && !result->database_trouble.empty())
    from.note("the database stopped recording: " + result->database_trouble);
  if (!result->plan)
    return Error{ErrorKind::Internal, "tuning gave no code: " + result->summary(), "report this"};
  engine::Choice choice;
  choice.strategy = result->best()->candidate.strategy;
  choice.parameters = result->best()->candidate.parameters;
  choice.origin = engine::ChoiceOrigin::Tuned;
  choice.expected_ms = result->best()->timing.median_s * 1e3;
  choice.note = result->summary();
  choice.verified_code = result->plan->code;
  choice.verified_image = result->plan->digest();
  return engine::Tuned{std::move(choice), std::move(*result->plan)};
}

}  // namespace rondo::tuner
