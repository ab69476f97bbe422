// `rondo tune`: search, verify, remember.
#include "tuner/tune.h"

#include <fmt/format.h>

#include <chrono>

#include "runtime/problem_text.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/progress_bar.h"
#include "tools/rondo/session.h"
#include "tools/rondo/stop_signal.h"

namespace rondo::tools {
namespace {

constexpr std::size_t kLeadersShown = 8;

std::string row_text(const tuner::Row& row) {
  const std::string time =
      row.timing.samples > 0
          ? fmt::format("{:>10.4f} {:>6.1f}%", row.timing.median_s * 1e3, row.timing.quartile_spread * 100)
          : fmt::format("{:>10.4f}  model", row.candidate.estimate.seconds * 1e3);
  return fmt::format(
      "  {} {:>5} {:>8}  {:<9} {} {}\n", time, row.registers, row.shared_bytes,
      row.status == db::TrialStatus::Ok ? (row.verified ? "verified" : "compiled") : db::to_text(row.status),
      row.candidate.strategy, schedule::print(row.candidate.parameters));
}

std::string tuned_text(const TunedPass& pass) {
  const tuner::TuneResult& result = pass.result;
  std::string text =
      fmt::format("{} {} {}\n  {:>10} {:>7} {:>5} {:>8}\n", schedule::pass_name(pass.problem.pass),
                  runtime::shape_text(pass.problem.sizes), kernel::storage_name(pass.problem.storage), "ms",
                  "spread", "regs", "shared");
  for (std::size_t i = 0; i < std::min(kLeadersShown, result.search.rows.size()); ++i)
    text += row_text(result.search.rows[i]);
  text += fmt::format("choice: {}\n", result.summary());
  if (const tuner::Row* known = result.known_before(); known != nullptr && known != result.best())
    text += "known before, timed again:\n" + row_text(*known);
  if (!result.measured)
    text += "no GPU measured it: ranked by the model and pruned by the compiler, not stored\n";
  else if (!result.stored_as_best)
    text += "not stored: no database, or it holds a faster one\n";
  if (!result.database_trouble.empty())
    text += fmt::format("the database stopped recording: {}\n", result.database_trouble);
  return text;
}

struct Limits {
  double budget_s = 0, trial_s = 0;
};

Result<Limits> limits_of(const Options& options) {
  const Result<double> budget = runtime::parse_duration(options.budget);
  if (!budget) return budget.error();
  const Result<double> trial = runtime::parse_duration(options.trial_limit);
  if (!trial) return trial.error();
  return Limits{*budget, *trial};
}

Result<TunedPass> tune_pass(const Options& options, const step::Cell& cell, schedule::Pass pass,
                            const Limits& limits, Session& session) {
  Result<schedule::Problem> problem = problem_of(options, cell, pass, session);
  if (!problem) return problem.error();
  ProgressBar bar(limits.budget_s);
  tuner::TuneOptions tuning;
  tuning.budget_s = limits.budget_s;
  tuning.trial_limit = std::chrono::milliseconds(static_cast<std::int64_t>(limits.trial_s * 1e3));
  tuning.workers = options.workers;
  tuning.exhaustive = options.exhaustive;
  tuning.strategy = options.strategy;
  tuning.seed = options.seed;
  tuning.cancel = &stop_flag();
  tuning.database = session.db();
  tuning.progress = [&bar](const tuner::Progress& progress) { bar.show(progress); };
  Result<tuner::TuneResult> result =
      tuner::tune(cell, *problem, session.machine.profile, session.machine.gpu(), tuning);
  if (!result) return result.error();
  return TunedPass{std::move(problem).value(), std::move(result).value()};
}

}  // namespace

Status tune(const Options& options) {
  (void)stop_flag();  // from here on Ctrl-C is a request
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const auto passes = runtime::parse_passes(options.pass);
  if (!passes) return passes.error();
  const Result<Limits> limits = limits_of(options);
  if (!limits) return limits.error();
  // Wrong options must not leave a new database behind.
  Result<Session> session = open_session(options, Use::Optional);
  if (!session && session.error().kind != ErrorKind::Missing) return session.error();
  if (const auto machine = tuner::find_machine(options.arch, nullptr, false); !machine)
    return machine.error();
  if (const auto problem = runtime::parse_problem(
          loaded->cell, {options.shape, options.dtype, options.math, options.constants}, passes->front(),
          "sm_90");
      !problem)
    return problem.error();
  session = open_session(options, Use::Written);
  if (!session) return session.error();
  if (session->machine.gpu() == nullptr && !options.no_gpu)
    note(fmt::format("tuning by model: {}", session->machine.why_no_gpu));
  std::vector<TunedPass> tuned;
  for (const schedule::Pass pass : *passes) {
    Result<TunedPass> result = tune_pass(options, loaded->cell, pass, *limits, *session);
    if (!result) return result.error();
    if (!result->result.note.empty()) note(result->result.note);
    tuned.push_back(std::move(result).value());
    if (!options.json) print(tuned_text(tuned.back()));
    if (stop_flag()) break;
  }
  if (options.json) print(tune_json(loaded->cell, session->machine.profile.name, tuned));
  return stop_flag() ? Status(already_shown(ErrorKind::Cancelled)) : success();
}

}  // namespace rondo::tools
