#include "tuner/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "compiler/schedule/plan/strategy.h"
#include "runtime/choice/choose.h"
#include "tuner/tune/plan_measurer.h"

namespace rondo::tuner {

using db::TrialStatus;

namespace {

int workers_of(const TuneOptions& options) {
  if (options.workers > 0) return options.workers;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - 1, 1, 16);
}

// The commonest failure stands for all of them.
Error nothing_worked(const SearchResult& result) {
  if (result.end == SearchEnd::Cancelled)
    return {ErrorKind::Cancelled, "tuning was cancelled before any candidate was measured", ""};
  std::map<std::string, int> reasons;
  for (const Row& row : result.rows) ++reasons[fmt::format("{}: {}", db::to_text(row.status), row.reason)];
  const auto common = std::max_element(reasons.begin(), reasons.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool wrong = std::any_of(result.rows.begin(), result.rows.end(),
                                 [](const Row& row) { return row.status == TrialStatus::Wrong; });
  const ErrorKind kind = result.end == SearchEnd::DeviceLost ? ErrorKind::Device
                         : wrong                             ? ErrorKind::Wrong
                                                             : ErrorKind::Compile;
  if (common == reasons.end())
    return {ErrorKind::Cancelled, fmt::format("no candidate of {} was finished in the budget", result.total),
            "give it more time with --budget"};
  return {kind,
          fmt::format("none of {} candidates tried can be used; {} of them: {}", result.tried, common->second,
                      common->first),
          ""};
}

// The number of candidates if it is none of them.
std::size_t index_of(const std::vector<runtime::Candidate>& candidates, const runtime::Candidate& wanted) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const runtime::Candidate& c) {
    return c.strategy == wanted.strategy && c.parameters == wanted.parameters;
  });
  return static_cast<std::size_t>(found - candidates.begin());
}

// As it was recorded, or with what the strategy's space has gained since.
std::optional<std::size_t> index_of_trial(const std::vector<runtime::Candidate>& candidates,
                                          const db::Trial& trial) {
  for (const auto& parameters :
       {runtime::parameters_from_json(trial.parameters), runtime::recorded_parameters(trial)}) {
    if (!parameters) continue;
    const std::size_t index = index_of(candidates, {trial.strategy, *parameters, {}});
    if (index < candidates.size()) return index;
  }
  return std::nullopt;
}

SearchOptions search_options(const TuneOptions& options, double used_s, TrialRecorder& recorder) {
  SearchOptions search;
  search.budget_s = std::max(0.0, options.budget_s - used_s);
  search.cancel = options.cancel;
  search.progress = options.progress;
  search.exhaustive = options.exhaustive;
  search.settled = [&recorder](const Row& row) { recorder.record(row); };
  return search;
}

}  // namespace

std::optional<std::size_t> known_best(db::Database& database, const step::Cell& cell,
                                      const schedule::Problem& problem, const target::Profile& profile,
                                      const std::vector<runtime::Candidate>& candidates) {
  const Result<std::optional<db::Trial>> best =
      database.find_best(runtime::database_problem(cell, problem, profile));
  return best && best->has_value() ? index_of_trial(candidates, **best) : std::nullopt;
}

std::optional<std::size_t> best_of_nearest(db::Database& database, const step::Cell& cell,
                                           const schedule::Problem& problem, const target::Profile& profile,
                                           const std::vector<runtime::Candidate>& candidates) {
  const Result<std::optional<db::Neighbour>> near =
      database.nearest(runtime::database_problem(cell, problem, profile));
  return near && near->has_value() ? index_of_trial(candidates, (*near)->trial) : std::nullopt;
}

std::string TuneResult::summary() const {
  const Row* row = best();
  if (row == nullptr) return "nothing found";
  const std::string what =
      fmt::format("{} {}", row->candidate.strategy, schedule::print(row->candidate.parameters));
  if (!measured)
    return fmt::format("{}: about {:.4f} ms by model; {} of {} candidates compiled", what,
                       row->candidate.estimate.seconds * 1e3, search.tried, search.total);
  return fmt::format(
      "{}: {:.4f} ms, spread {:.1f}% (p10 to p90), verified; {} of {} candidates tried in {:.0f} s ({})",
      what, row->timing.median_s * 1e3, row->timing.spread * 100, search.tried, search.total, search.seconds,
      end_name(search.end));
}

Result<TuneResult> tune(const step::Cell& cell, const schedule::Problem& problem,
                        const target::Profile& profile, const runtime::Context* context,
                        const TuneOptions& options) {
  const Clock clock = steady_clock();
  const double start = clock();
  const Result<std::vector<runtime::Candidate>> candidates =
      runtime::ranked_candidates(cell, problem, profile, options.alignment, options.strategy);
  if (!candidates) return candidates.error();
  PlanMeasurerOptions measuring;
  measuring.workers = workers_of(options);
  measuring.compile_limit = options.compile_limit;
  measuring.trial_limit = options.trial_limit;
  measuring.cancel = options.cancel;
  measuring.database = options.database;
  measuring.seed = options.seed != 0 ? options.seed : std::random_device{}();
  const auto measurer = PlanMeasurer::make(cell, problem, profile, *candidates, context, measuring);
  if (!measurer) return measurer.error();

  TuneResult result;
  result.note = (*measurer)->note();
  if (Trials* trials = (*measurer)->trials()) {
    const Result<double> bandwidth = trials->copy_bandwidth();
    if (bandwidth) result.copy_bytes_per_s = *bandwidth;
  }
  TrialRecorder recorder(options.database, cell, problem, profile);
  SearchOptions searching = search_options(options, clock() - start, recorder);
  if (options.database != nullptr && context != nullptr) {  // only what can be timed can be compared
    searching.incumbent = known_best(*options.database, cell, problem, profile, *candidates);
    result.incumbent_was_best = searching.incumbent.has_value();
    if (!searching.incumbent)
      searching.incumbent = best_of_nearest(*options.database, cell, problem, profile, *candidates);
  }
  result.search = search(*candidates, **measurer, searching, clock);
  result.measured = result.search.measured;
  result.database_trouble = recorder.trouble();
  const Row* best = result.best();
  if (best == nullptr) return nothing_worked(result.search);
  if (const runtime::CompiledPlan* plan = (*measurer)->plan(index_of(*candidates, best->candidate))) {
    result.plan = *plan;
    // Before the trial becomes best: who finds it there finds its code too.
    if (options.database != nullptr) runtime::store_cubin(*plan, *options.database);
  }
  result.stored_as_best = recorder.store_best(*best);
  result.database_trouble = recorder.trouble();
  return result;
}

}  // namespace rondo::tuner
