// `rondo bench`: time beside the copy bandwidth of the same run, or what a step's time is made of.
#include "tuner/bench/bench.h"

#include <fmt/format.h>

#include "engine/request/problem_text.h"
#include "tools/rondo/arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/parameter_table.h"
#include "tools/rondo/report.h"
#include "tools/rondo/saving.h"
#include "tools/rondo/session.h"
#include "tuner/bench/step.h"

namespace rondo::tools {
namespace {

std::string bandwidth_text(double bytes_per_s) {
  const bool large = bytes_per_s >= 1e12 / 4;
  return fmt::format("{:.2f} {}/s", bytes_per_s * (large ? 1e-12 : 1e-9), large ? "TB" : "GB");
}

std::string bench_text(const tuner::BenchRow& row) {
  return fmt::format(
      "{} {} {} {}: {:.4f} ms, spread {:.1f}% (p10 to p90), {:.3f} GB, {:.0f}% of a copy at {}, {} "
      "({})\n",
      row.cell, engine::shape_text(row.problem.sizes), kernel::storage_name(row.problem.storage),
      schedule::pass_title(row.problem), row.timing.median_s * 1e3, row.timing.spread * 100,
      static_cast<double>(row.bytes) * 1e-9, row.share() * 100, bandwidth_text(row.copy_bytes_per_s),
      row.choice.strategy, engine::label(row.choice));
}

// Below the times, which are printed as they come.
std::string parameters_text(const std::vector<tuner::BenchRow>& rows) {
  std::vector<Configuration> configurations;
  for (const tuner::BenchRow& row : rows)
    configurations.push_back({row.choice.strategy, row.choice.parameters});
  const ParameterTable table = parameter_table(configurations);
  std::string text = "parameters\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("  {}: {}\n", schedule::pass_title(rows[i].problem), table.rows[i]);
  return text + table.common;
}

std::string parts_text(const step::Cell& cell, const PartedPass& pass) {
  const double to_ns = 1e9 / static_cast<double>(pass.problem.sizes.time);
  const tuner::PartTimes& times = pass.times;
  std::string text = fmt::format(
      "{} {} {} {}, {} {} ({})\n{:>12} {:>12}\n{:>12.4g} {:>12}  whole\n", cell.name,
      engine::shape_text(pass.problem.sizes), kernel::storage_name(pass.problem.storage),
      schedule::pass_title(pass.problem), times.choice.strategy, schedule::print(times.choice.parameters),
      engine::label(times.choice), "ns a step", "difference", times.whole.median_s * to_ns, "");
  for (const tuner::PartTime& part : times.parts)
    text += fmt::format("{:>12.4g} {:>12.3g}  without {}{}\n", part.timing.median_s * to_ns,
                        part.difference_s * to_ns, part.what,
                        part.beside.empty() ? "" : fmt::format(" (and without {})", part.beside));
  return text;
}

Status bench_rows(const Options& options, const step::Cell& cell, const engine::Overrides& overrides,
                  const std::vector<schedule::Problem>& problems, const engine::Given& given,
                  Session& session) {
  std::vector<tuner::BenchRow> rows;
  const auto failed = [&](const Error& error) {
    return after_results(rows.empty() ? "" : bench_json(session.machine.profile.name, rows), error,
                         options.json);
  };
  for (const schedule::Problem& problem : problems) {
    const double copy = rows.empty() ? 0 : rows.front().copy_bytes_per_s;
    const auto found =
        engine::answer(request_of(options, session, cell, problem, overrides, given), session.machine);
    if (!found) return failed(found.error());
    Result<tuner::BenchRow> row =
        tuner::bench({cell, problem, session.machine.profile}, session.machine, *found->kernel,
                     {options.samples, copy, options.weights, given});
    if (!row) return failed(row.error());
    rows.push_back(std::move(row).value());
    if (options.json) continue;
    print(bench_text(rows.back()));
    if (rows.back().convergence) print("  " + executable::describe(*rows.back().convergence) + "\n");
  }
  print(options.json ? bench_json(session.machine.profile.name, rows) : parameters_text(rows));
  return success();
}

Status bench_parts(const Options& options, const step::Cell& cell, const engine::Overrides& overrides,
                   const std::vector<schedule::Problem>& problems, const engine::Given& given,
                   Session& session) {
  std::vector<PartedPass> passes;
  const auto failed = [&](const Error& error) {
    return after_results(passes.empty() ? "" : parts_json(cell, session.machine.profile.name, passes), error,
                         options.json);
  };
  for (const schedule::Problem& problem : problems) {
    const auto found =
        engine::answer(request_of(options, session, cell, problem, overrides, given), session.machine);
    if (!found) return failed(found.error());
    Result<tuner::PartTimes> times =
        tuner::measure_parts({cell, problem, session.machine.profile}, session.machine, found->kernel->choice,
                             options.samples, given);
    if (!times) return failed(times.error());
    passes.push_back({problem, std::move(times).value()});
    if (!options.json) print(parts_text(cell, passes.back()));
  }
  if (options.json) print(parts_json(cell, session.machine.profile.name, passes));
  return success();
}

std::string step_text(const step::Cell& cell, const TimedStep& step) {
  const tuner::StepRow& row = step.row;
  std::string text = fmt::format(
      "{} {} {} training step in {}: {:.4f} ms, spread {:.1f}% (p10 to p90), saved {}, workspace {}\n",
      cell.name, engine::shape_text(row.problem.sizes), kernel::storage_name(row.problem.storage),
      row.memory.parts > 1 ? fmt::format("{} parts of {} steps", row.memory.parts, row.every) : "one piece",
      row.timing.median_s * 1e3, row.timing.spread * 100, size_text(row.memory.saved_bytes),
      size_text(row.memory.workspace_bytes));
  for (const auto& [key, title, answer] : step.passes())
    text += fmt::format("  {}: {} {} ({})\n", title, answer->kernel->choice.strategy,
                        schedule::print(answer->kernel->choice.parameters),
                        engine::label(answer->kernel->choice));
  return text;
}

// Both passes of training in parts of time, whatever --pass says.
Status bench_training(const Options& options, const step::Cell& cell, const engine::Overrides& overrides,
                      std::int64_t every, const engine::Given& given, Session& session) {
  if (options.ablate)
    return Error{ErrorKind::Input,
                 fmt::format("--save {} and --ablate: parts of a pass are of one pass", options.save),
                 "leave out one of them"};
  if (Status status = session.machine.need_device(); !status) return status;
  const Result<schedule::Problem> problem = problem_of(in_one_piece(options), cell, schedule::Pass::Backward);
  if (!problem) return problem.error();
  Result<engine::TrainingAnswer> training = engine::answer_training_in_parts(
      request_of(options, session, cell, *problem, overrides, given), session.machine, every);
  if (!training) return training.error();
  Result<tuner::StepRow> row =
      tuner::bench_step({cell, *problem, session.machine.profile}, training->plans(), *session.machine.device,
                        {.every = every, .samples = options.samples, .given = given});
  if (!row) return row.error();
  const TimedStep step{std::move(training).value(), std::move(row).value()};
  print(options.json ? step_json(session.machine.profile.name, cell, step) : step_text(cell, step));
  return success();
}

// With --save auto: what the service would save for training, if a pass of training is asked for.
Result<Options> with_save(Options options, const step::Cell& cell, const engine::Overrides& overrides,
                          const std::vector<schedule::Pass>& passes, Session& session) {
  const Result<std::int64_t> memory = memory_of(options);
  if (!memory) return memory.error();
  if (options.save != "auto") return options;
  if (*memory > 0) return with_chosen_save(options, cell, overrides, session);
  options.save = "states";
  if (passes == std::vector{schedule::Pass::Forward}) return options;
  const Result<schedule::Problem> problem = problem_of(options, cell, schedule::Pass::ForwardSave);
  if (!problem) return problem.error();
  const auto training = engine::answer_training(request_of(options, session, cell, *problem, overrides),
                                                session.machine, engine::Save::Faster);
  if (!training) return training.error();
  if (training->save == engine::Save::Products) options.save = "products";
  return options;
}

}  // namespace

Status bench(const Options& asked) {
  const Result<LoadedCell> loaded = load_cell(asked);
  if (!loaded) return loaded.error();
  const Result<OwnData> own = own_data(asked, loaded->cell);
  if (!own) return own.error();
  const Options& given = own->options;
  const auto passes = engine::parse_passes(given.pass);
  if (!passes) return passes.error();
  const Result<engine::Overrides> overrides = overrides_of(given);
  if (!overrides) return overrides.error();
  Result<Session> session = open_session(given, Use::Optional);
  if (!session) return session.error();
  const Result<Options> options = with_save(given, loaded->cell, *overrides, *passes, *session);
  if (!options) return options.error();
  const Result<std::int64_t> every = engine::parse_every(options->save);
  if (!every) return every.error();
  if (*every > 0) return bench_training(*options, loaded->cell, *overrides, *every, own->given, *session);
  std::vector<schedule::Problem> problems;
  for (const schedule::Pass pass : *passes) {
    Result<schedule::Problem> problem = problem_of(*options, loaded->cell, pass);
    if (!problem) return problem.error();
    problems.push_back(std::move(problem).value());
  }
  return (given.ablate ? bench_parts : bench_rows)(*options, loaded->cell, *overrides, problems, own->given,
                                                   *session);
}

}  // namespace rondo::tools
