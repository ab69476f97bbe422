#include "tuner/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "compiler/schedule/strategies.h"
#include "engine/choice/choose.h"
#include "engine/choice/models_times.h"
#include "engine/machine/device_profile.h"
#include "engine/request/problem_text.h"
#include "engine/request/recorded_problem.h"

namespace rondo::tuner {
namespace {

using schedule::Task;

// What trials chose, with the times that the models of this version give them.
std::vector<ReportedTrial> reported_trials(const std::optional<Task>& task, const db::TunedProblem& tuned) {
  std::vector<std::optional<double>> models_ms(tuned.trials.size());
  if (task) models_ms = engine::models_times(*task, tuned.trials);
  std::vector<ReportedTrial> all;
  for (std::size_t i = 0; i < tuned.trials.size(); ++i) {
    ReportedTrial one{tuned.trials[i], {}, models_ms[i], tuned.best == i};
    if (auto parameters = engine::recorded_parameters(tuned.trials[i]))
      one.parameters = std::move(*parameters);
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<schedule::EstimatePart> parts_of(const Task& task, const std::string& strategy,
                                             const schedule::Parameters& parameters) {
  const schedule::Strategy& of = *schedule::find_strategy(strategy);
  return of.parts(task, of.completed(parameters));
}

// Makes problems, cells and machines of an export's records; each cell and device once.
class FromRecords {
 public:
  FromRecords(const db::Contents& contents, const std::map<std::string, target::Profile>& profiles)
      : contents_(contents), profiles_(profiles.begin(), profiles.end()) {}

  ReportedProblem problem(const db::TunedProblem& tuned) {
    ReportedProblem made;
    made.problem = tuned.problem;
    const db::Cell* cell = find_cell(tuned.problem.cell);
    made.cell = cell == nullptr ? tuned.problem.cell.substr(0, 12) : cell->name;
    made.machine = machine(tuned.problem.device);
    const std::optional<Task> task = task_of(tuned.problem, made.remark);
    made.trials = reported_trials(task, tuned);
    if (tuned.best && *tuned.best < tuned.trials.size()) add_best(task, made.trials[*tuned.best], made);
    return made;
  }

  void add_to(Report& report) {
    for (auto& [key, machine] : machines_)
      if (machine) report.machines.push_back(*machine);
    for (const auto& [hash, task] : tasks_) {
      if (!task) continue;
      ReportedCell cell{task->cell, std::nullopt};
      if (backward_[hash]) cell.backward = step::backward_step(task->cell);
      report.cells.push_back(std::move(cell));
    }
  }

 private:
  const db::Cell* find_cell(const std::string& hash) const {
    const auto found = std::ranges::find(contents_.cells, hash, &db::Cell::hash);
    return found == contents_.cells.end() ? nullptr : &*found;
  }

  const std::optional<target::Profile>& profile(const std::string& key) {
    if (const auto known = profiles_.find(key); known != profiles_.end()) return known->second;
    const auto found = std::ranges::find(contents_.devices, key, &db::Device::key);
    std::optional<db::Device> device;
    if (found != contents_.devices.end()) device = *found;
    return profiles_.emplace(key, engine::recorded_profile(key, device)).first->second;
  }

  // The key, and the machine remembered; "" where nothing is known of it.
  std::string machine(const std::string& key) {
    const std::optional<target::Profile>& of = profile(key);
    if (!of) return "";
    machines_.emplace(key,
                      ReportedMachine{key, of->name, of->speeds.copy_bytes_per_s, of->origin == "measured"});
    return key;
  }

  // None where something of it cannot be made again: `remark` says what.
  std::optional<Task> task_of(const db::Problem& recorded, std::string& remark) {
    const std::optional<target::Profile>& on = profile(recorded.device);
    const std::optional<schedule::Problem> problem = engine::recorded_problem(recorded);
    if (!on)
      remark = fmt::format("nothing is known of the device '{}', so there are no floors", recorded.device);
    if (!problem)
      remark = "this version does not know the type, kind of math or pass, so there are no floors";
    auto known = tasks_.find(recorded.cell);
    if (known == tasks_.end()) {
      const db::Cell* stored = find_cell(recorded.cell);
      const std::optional<step::Cell> cell =
          stored == nullptr ? std::nullopt : engine::recorded_cell(*stored);
      std::unique_ptr<Task> task;
      if (cell) task = std::make_unique<Task>(*cell, schedule::Problem(), on ? *on : target::Profile());
      known = tasks_.emplace(recorded.cell, std::move(task)).first;
    }
    if (!known->second)
      remark =
          "the recorded text is not the whole cell (it was tuned with bounds, forms or other constants), so "
          "there "
          "are no floors";
    if (!on || !problem || !known->second) return std::nullopt;
    if (problem->pass == schedule::Pass::Backward) backward_[recorded.cell] = true;
    Task task = known->second->with(*problem);
    task.profile = *on;
    return task;
  }

  static void add_best(const std::optional<Task>& task, const ReportedTrial& best, ReportedProblem& made) {
    made.strategy = best.trial.strategy;
    made.parameters = best.parameters.empty() ? best.trial.parameters : schedule::print(best.parameters);
    if (best.trial.median_ms) made.seconds = *best.trial.median_ms * 1e-3;
    made.measured = made.seconds.has_value();
    if (!task) return;
    if (!best.model_ms) {
      made.remark = "this version does not offer the recorded choice for the problem, so there are no floors";
      return;
    }
    made.model_s = *best.model_ms * 1e-3;
    made.parts = parts_of(*task, made.strategy, best.parameters);
    made.floors = floors(*task, made.parts, task->profile.speeds.copy_bytes_per_s);
  }

  const db::Contents& contents_;
  std::map<std::string, std::optional<target::Profile>> profiles_;
  std::map<std::string, std::optional<ReportedMachine>> machines_;
  std::map<std::string, std::unique_ptr<Task>>
      tasks_;                             // by a cell's hash, of any problem; null: it cannot be made
  std::map<std::string, bool> backward_;  // cells with a backward pass among the problems
};

std::vector<Comparison> comparisons_of(const std::vector<PeerRow>& peers, const Report& report) {
  std::vector<TimedProblem> timed;
  for (const ReportedProblem& problem : report.problems)
    if (problem.measured) timed.push_back({problem.cell, problem.problem, *problem.seconds});
  return compared(peers, timed);
}

}  // namespace

std::size_t Report::trials() const {
  std::size_t count = 0;
  for (const ReportedProblem& problem : problems) count += problem.trials.size();
  return count;
}

std::string unusual_math(const db::Problem& problem) {
  const bool wide = problem.dtype == "fp32" || problem.dtype == "fp64";
  return problem.math == (wide ? "accurate" : "fast") ? "" : " " + problem.math;
}

std::string problem_name(const std::string& cell, const db::Problem& problem) {
  return fmt::format("{} B={},T={},H={},D={} {}{} {}", cell, problem.shape.B, problem.shape.T,
                     problem.shape.H, problem.shape.D, problem.dtype, unusual_math(problem),
                     schedule::pass_title(problem.pass));
}

Report report_of(const db::Contents& contents, const std::string& source, const std::vector<PeerRow>& peers,
                 const std::map<std::string, target::Profile>& profiles) {
  Report report;
  report.title = "What is tuned";
  report.source = source;
  FromRecords records(contents, profiles);
  for (const db::TunedProblem& tuned : contents.problems) report.problems.push_back(records.problem(tuned));
  records.add_to(report);
  report.comparisons = comparisons_of(peers, report);
  if (report.problems.empty())
    report.remarks.emplace_back("Nothing is tuned yet: `rondo tune` fills a database.");
  if (!peers.empty() && report.comparisons.empty())
    report.remarks.emplace_back("No problem of the peers' file was measured here.");
  return report;
}

Report report_of(const Task& task, const Explanation& why, const db::Contents& contents,
                 const std::string& source, const std::vector<PeerRow>& peers) {
  Report report;
  ReportedProblem made;
  made.problem = engine::database_problem(task);
  made.cell = task.written.name;
  made.machine = task.profile.key;
  made.strategy = why.choice.strategy;
  made.parameters = schedule::print(why.choice.parameters);
  made.seconds = why.seconds();
  made.measured = why.measured.has_value();
  made.model_s = why.model_s;
  made.floors = why.floors;
  made.parts = parts_of(task, why.choice.strategy, why.choice.parameters);
  made.without = why.without;
  made.changes = why.changes;
  for (const db::TunedProblem& tuned : contents.problems)
    if (tuned.problem == made.problem) made.trials = reported_trials(task, tuned);
  if (made.trials.empty())
    report.remarks.emplace_back(
        "No trial of this problem is recorded, so there is no picture of a search: `rondo tune` "
        "records them.");
  report.title = problem_name(made.cell, made.problem);
  report.source = source;
  report.machines.push_back(
      {task.profile.key, task.profile.name, why.copy_bytes_per_s, task.profile.origin == "measured"});
  ReportedCell cell{task.cell, std::nullopt};
  if (task.problem.pass == schedule::Pass::Backward) cell.backward = step::backward_step(task.cell);
  report.cells.push_back(std::move(cell));
  report.problems.push_back(std::move(made));
  report.comparisons = comparisons_of(peers, report);
  if (!peers.empty() && report.comparisons.empty())
    report.remarks.emplace_back("No row of the peers' file is of this problem, or it was not measured.");
  return report;
}

}  // namespace rondo::tuner
