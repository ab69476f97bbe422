// `rondo tune`: search, verify, remember.
#include "tuner/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "engine/request/problem_text.h"
#include "tools/rondo/arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/parameter_table.h"
#include "tools/rondo/progress_bar.h"
#include "tools/rondo/saving.h"
#include "tools/rondo/session.h"
#include "tools/rondo/stop_signal.h"

namespace rondo::tools {
namespace {

constexpr std::size_t kLeadersShown = 8;

// `configuration` is the strategy with the parameters that are worth showing.
std::string row_text(const tuner::Row& row, const std::string& configuration) {
  const std::string time =
      row.timing.samples > 0
          ? fmt::format("{:>10.4f} {:>6.1f}%", row.timing.median_s * 1e3, row.timing.spread * 100)
          : fmt::format("{:>10.4f}  model", row.candidate.estimate.seconds * 1e3);
  return fmt::format(
      "  {} {:>5} {:>8}  {:<9} {}\n", time, row.registers, row.shared_bytes,
      row.status == db::TrialStatus::Ok ? (row.verified ? "verified" : "compiled") : db::to_text(row.status),
      configuration);
}

std::string tuned_text(const TunedPass& pass) {
  const tuner::TuneResult& result = pass.result;
  std::string text =
      fmt::format("{} {} {}\n  {:>10} {:>7} {:>5} {:>8}\n", schedule::pass_title(pass.problem),
                  engine::shape_text(pass.problem.sizes), kernel::storage_name(pass.problem.storage), "ms",
                  "p10-p90", "regs", "shared");
  const std::size_t leaders = std::min(kLeadersShown, result.search.rows.size());
  std::vector<const tuner::Row*> rows;
  for (std::size_t i = 0; i < leaders; ++i) rows.push_back(&result.search.rows[i]);
  if (const tuner::Row* known = result.known_before(); known != nullptr && known != result.best())
    rows.push_back(known);
  std::vector<Configuration> configurations;
  for (const tuner::Row* row : rows)
    configurations.push_back({row->candidate.strategy, row->candidate.parameters});
  const ParameterTable table = parameter_table(configurations);
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += (i == leaders ? "known before, timed again:\n" : "") + row_text(*rows[i], table.rows[i]);
  text += table.common + fmt::format("choice: {}\n", result.summary());
  if (const tuner::Row* best = result.best(); best != nullptr && !best->at_shape.empty())
    text += fmt::format("full shape: {}\n", best->at_shape);
  if (!result.measured)
    text += "no GPU measured it: ranked by the model and pruned by the compiler, not stored\n";
  else if (!result.stored_as_best)
    text += "not stored: no database, or it holds one that was faster here\n";
  return text;
}

// Whether all results are stored. Where some are not, says why: they are shown, and lost with this process.
bool recorded(const std::vector<TunedPass>& tuned) {
  for (const TunedPass& pass : tuned) {
    if (pass.result.database_trouble.empty()) continue;
    report({ErrorKind::Database, "the database stopped recording: " + pass.result.database_trouble,
            "make room for it, or name another one with --db, and tune again"},
           false);
    return false;
  }
  return true;
}

struct Limits {
  double budget_s = 0, trial_s = 0;
};

Result<Limits> limits_of(const Options& options) {
  const Result<double> budget = engine::parse_duration(options.budget);
  if (!budget) return budget.error();
  const Result<double> trial = engine::parse_duration(options.trial_limit);
  if (!trial) return trial.error();
  return Limits{*budget, *trial};
}

// The problems of all passes in order; with --save auto those that save something in each way of `ways`.
Result<std::vector<schedule::Problem>> problems_of(const Options& options, const step::Cell& cell,
                                                   const std::vector<schedule::Pass>& passes,
                                                   const std::vector<std::string>& ways) {
  using schedule::Pass;
  const bool both = options.save == "auto";
  const auto tuned = [&](Pass pass) { return std::ranges::count(passes, pass) > 0; };
  if (both && !(tuned(Pass::ForwardSave) && tuned(Pass::Backward)))
    return Error{ErrorKind::Input, "--save auto compares the sums of forward (training) and backward",
                 "tune both: --pass fws,bw"};
  std::vector<schedule::Problem> problems;
  for (const Pass pass : passes)
    for (const std::string& save : ways) {
      engine::ProblemText text = problem_text_of(options);
      if (both) text.save = save;
      Result<schedule::Problem> problem = engine::parse_problem(cell, text, pass);
      if (!problem) return problem.error();
      problems.push_back(std::move(problem).value());
      if (!both || pass == Pass::Forward) break;
    }
  return problems;
}

// A database that is not there yet is made only for what can be tuned.
Options without_database(Options options) {
  options.database.clear();
  options.no_database = true;
  return options;
}

// What is tuned: options of a part where only parts of time fit, and the ways to save.
struct Asked {
  Options options;
  std::vector<std::string> ways{"states", "products"};
};

// With --memory what fits, by choices: of parts all three passes.
Result<Asked> asked_of(const Options& options, const step::Cell& cell, Session& session) {
  const Result<std::int64_t> memory = memory_of(options);
  if (!memory) return memory.error();
  if (*memory == 0) return Asked{options};
  const Options plain = in_one_piece(options);
  const Result<schedule::Problem> problem = problem_of(plain, cell, schedule::Pass::Backward);
  if (!problem) return problem.error();
  const auto fitting = engine::ways_within(request_of(plain, session, cell, *problem, {options.strategy, {}}),
                                           session.machine, *memory);
  if (!fitting) return fitting.error();
  Asked asked{options, {}};
  for (const engine::SavingWay& way : fitting->ways) {
    note(fmt::format("--memory {} has room for {}", options.memory, way_text(way)));
    if (way.every == 0) asked.ways.push_back(way.text());
  }
  if (!asked.ways.empty() || fitting->ways.empty()) return asked.ways.empty() ? Asked{options} : asked;
  step::Sizes sizes = problem->sizes;
  sizes.time = fitting->best()->every;
  asked.options = plain;
  asked.options.shape = engine::shape_text(sizes);
  asked.options.pass = "fw,fws,bw";
  asked.ways = {"states"};
  return asked;
}

// None where not all four problems were tuned.
std::optional<engine::SaveComparison> saving_of(const std::vector<TunedPass>& tuned) {
  engine::TrainingTime states, products;
  int found = 0;
  for (const TunedPass& pass : tuned) {
    if (pass.problem.pass == schedule::Pass::Forward) continue;
    engine::TrainingTime& way = passes_products(pass.problem) ? products : states;
    const tuner::Row& best = *pass.result.best();
    (pass.problem.pass == schedule::Pass::Backward ? way.backward : way.forward) = {
        pass.result.measured ? best.timing.median_s : 0, best.candidate.estimate.seconds};
    ++found;
  }
  return found == 4 ? std::optional(engine::compare_saving(states, products)) : std::nullopt;
}

std::string saving_text(const engine::SaveComparison& sums) {
  return fmt::format(
      "forward (training) + backward{}: {:.4f} ms with states saved, {:.4f} ms with products; {} is faster\n",
      sums.measured ? "" : ", by model", sums.states_s * 1e3, sums.products_s * 1e3,
      fmt::format("--save {}", sums.faster()));
}

Result<TunedPass> tune_problem(const Options& options, const schedule::Task& task, const Limits& limits,
                               const engine::Given& given, Session& session) {
  ProgressBar bar(limits.budget_s);
  tuner::TuneOptions tuning;
  tuning.budget_s = limits.budget_s;
  constexpr double kMostMs = 1e9;                                              // 11 days
  const double trial_ms = std::ceil(std::min(limits.trial_s * 1e3, kMostMs));  // 0 is no limit
  tuning.trial_limit = std::chrono::milliseconds(static_cast<std::int64_t>(trial_ms));
  tuning.workers = options.workers;
  tuning.exhaustive = options.exhaustive;
  tuning.again = options.again;
  tuning.strategy = options.strategy;
  tuning.seed = options.seed;
  tuning.given = given;
  tuning.cancel = &stop_flag();
  tuning.database = session.db();
  tuning.shipped = session.shipped;
  tuning.note = [](const std::string& text) { note(text); };
  tuning.progress = [&bar](const tuner::Progress& progress) { bar.show(progress); };
  Result<tuner::TuneResult> result = tuner::tune(task, session.machine, tuning);
  if (!result) return result.error();
  return TunedPass{task.problem, std::move(result).value()};
}

}  // namespace

Status tune(const Options& asked) {
  if (!asked.list.empty()) return tune_list(asked);
  if (!asked.shard.empty() || !asked.gpus.empty())
    return Error{ErrorKind::Input, asked.gpus.empty() ? "--shard without --list" : "--gpus without --list",
                 "a list of problems is shared among GPUs and machines: --list FILE"};
  if (asked.cell.empty())
    return Error{ErrorKind::Input, "cell is required", "name one, or a --list FILE with problems"};
  (void)stop_flag();  // from here on Ctrl-C is a request
  const Result<LoadedCell> loaded = load_cell(asked);
  if (!loaded) return loaded.error();
  const Result<OwnData> own = own_data(asked, loaded->cell);
  if (!own) return own.error();
  if (const auto memory = memory_of(asked); !memory) return memory.error();
  const auto passes = engine::parse_passes(own->options.pass);
  if (!passes) return passes.error();
  const Result<Limits> limits = limits_of(asked);
  if (!limits) return limits.error();
  // Wrong options must not leave a new database behind.
  Result<Session> session = open_session(asked, Use::Optional);
  if (!session && session.error().kind != ErrorKind::Missing) return session.error();
  if (const auto machine = engine::find_machine(asked.arch, nullptr, false); !machine) return machine.error();
  if (!session) session = open_session(without_database(own->options), Use::Optional);
  if (!session) return session.error();
  const Result<Asked> wanted = asked_of(own->options, loaded->cell, *session);
  if (!wanted) return wanted.error();
  const Options& options = wanted->options;
  const auto problems =
      problems_of(options, loaded->cell, engine::parse_passes(options.pass).value(), wanted->ways);
  if (!problems) return problems.error();
  session = open_session(options, Use::Written);
  if (!session) return session.error();
  if (session->machine.device == nullptr && !options.no_gpu)
    note(fmt::format("tuning by model: {}", session->machine.why_no_device));
  std::vector<TunedPass> tuned;
  for (const schedule::Problem& problem : *problems) {
    Result<TunedPass> result = tune_problem(options, {loaded->cell, problem, session->machine.profile},
                                            *limits, own->given, *session);
    if (!result)  // what is known stays known
      return after_results(
          tuned.empty() ? "" : tune_json(loaded->cell, session->machine.profile, tuned, std::nullopt),
          result.error(), options.json);
    if (!result->result.note.empty()) note(result->result.note);
    tuned.push_back(std::move(result).value());
    if (!options.json) print(tuned_text(tuned.back()));
    if (stop_flag()) break;
  }
  std::optional<engine::SaveComparison> saving;
  if (options.save == "auto") saving = saving_of(tuned);
  if (saving && !options.json) print(saving_text(*saving));
  if (options.json) print(tune_json(loaded->cell, session->machine.profile, tuned, saving));
  const bool all_recorded = recorded(tuned);
  if (stop_flag()) return already_shown(ErrorKind::Cancelled);
  return all_recorded ? success() : Status(already_shown(ErrorKind::Database));
}

}  // namespace rondo::tools
