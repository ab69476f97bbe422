// `rondo check`: is the cell right, what is its structure, what may compute it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/schedule/plan/problem_check.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/strategies_for.h"
#include "compiler/step/clip.h"
#include "compiler/step/forms.h"
#include "compiler/step/ranges.h"
#include "compiler/step/structure.h"
#include "compiler/target/board_memory.h"
#include "engine/arrays/run_arrays.h"
#include "engine/choice/choose.h"
#include "engine/choice/crossover.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/problem_text.h"
#include "tools/rondo/color.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/parameter_table.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

std::vector<CheckedTensor> tensors_of(const schedule::Task& task) {
  using schedule::Role;
  const std::pair<const char*, Role> roles[] = {{"input", Role::Input},        {"param", Role::Param},
                                                {"state", Role::InitialState}, {"output", Role::Output},
                                                {"reset", Role::Resets},       {"length", Role::Lengths}};
  std::vector<CheckedTensor> result;
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(task.written.tensors.size()); ++id) {
    const step::Tensor& tensor = task.written.tensor(id);
    const auto& [kind, role] = roles[static_cast<std::size_t>(tensor.kind)];
    const std::int64_t elements = step::element_count(tensor, task.problem.sizes);
    result.push_back({kind, tensor.name, fmt::format("[{}]", fmt::join(engine::axes_of(tensor), ", ")),
                      elements, elements * kernel::storage_bytes(schedule::storage_of({role, id}, task)),
                      step::declared_text(task.written, tensor)});
  }
  return result;
}

// The strategy's choice by model, and what it takes of memory.
Status choose_for(const schedule::Task& task, const engine::Overrides& overrides, StrategyVerdict& verdict) {
  const auto choice = engine::choose_with(task, overrides);
  if (!choice) return choice.error();
  verdict.choice = *choice;
  const Result<schedule::KernelPlan> plan = engine::build_choice(task, *choice);
  if (!plan) return plan.error();
  const Result<engine::PlanMemory> memory = engine::plan_memory(task, *plan);
  if (!memory) return memory.error();
  verdict.memory = *memory;
  return success();
}

bool any_legal(const std::vector<StrategyVerdict>& verdicts) {
  return std::ranges::any_of(verdicts, [](const StrategyVerdict& verdict) { return verdict.legality.legal; });
}

// With `overrides.strategy` the other strategies are left out, and a choice that fixed parameters contradict
// is an error; without it, where they contradict every strategy.
Result<std::vector<StrategyVerdict>> verdicts_of(const schedule::Task& task,
                                                 const engine::Overrides& overrides) {
  std::vector<StrategyVerdict> result;
  std::optional<Error> contradicted;
  for (const schedule::Strategy* strategy :
       overrides.strategy.empty() ? schedule::strategies_for(task.profile) : schedule::strategies()) {
    if (!overrides.strategy.empty() && strategy->name() != overrides.strategy) continue;
    StrategyVerdict verdict{strategy->name(), strategy->legal(task), std::nullopt, {}};
    if (verdict.legality.legal) {
      const Status chosen = choose_for(task, {strategy->name(), overrides.parameters}, verdict);
      if (!chosen && !overrides.empty() && !contradicted) contradicted = chosen.error();
      if (!chosen) verdict.legality = {false, chosen.error().message};
    }
    result.push_back(std::move(verdict));
  }
  if (result.empty())
    return Error{ErrorKind::Input, fmt::format("there is no strategy '{}'", overrides.strategy)};
  if (contradicted && !any_legal(result)) return *contradicted;
  return result;
}

// What a call takes: the tensors, their gradients where it is a backward pass, and what the strategy adds.
std::string in_all(const engine::PlanMemory& memory, const CheckedMemory& all) {
  const std::int64_t bytes = all.tensors + memory.workspace_bytes + memory.saved_bytes;
  return size_text(bytes) + (all.board > 0 ? " of the board's " + size_text(all.board) : "");
}

std::string verdicts_text(const std::vector<StrategyVerdict>& verdicts, const CheckedMemory& all) {
  std::vector<Configuration> choices;
  for (const StrategyVerdict& verdict : verdicts)
    if (verdict.legality.legal) choices.push_back({verdict.name, verdict.choice->parameters});
  const ParameterTable table = parameter_table(choices);
  std::string text;
  std::size_t row = 0;
  for (const StrategyVerdict& verdict : verdicts)
    text +=
        !verdict.legality.legal
            ? fmt::format("  {} not legal: {}\n", verdict.name, verdict.legality.reason)
            : fmt::format(
                  "  {}\n    about {:.4f} ms by model; workspace {}, saved for backward {}, in all {}\n",
                  table.rows[row++], verdict.choice->expected_ms, size_text(verdict.memory.workspace_bytes),
                  size_text(verdict.memory.saved_bytes), in_all(verdict.memory, all));
  return text + table.common;
}

std::string check_text(const schedule::Task& task, const std::vector<StrategyVerdict>& verdicts,
                       const std::vector<CheckedTensor>& tensors, const CheckedMemory& memory,
                       const engine::FitTable& fits, const std::optional<engine::Crossover>& crossover) {
  std::string text = step::describe(task.written, task.structure) + step::describe_clip(task.written) +
                     step::describe_forms(task.written);
  text += fmt::format("strategies of this version, for {} {} {} on {}\n",
                      engine::shape_text(task.problem.sizes), kernel::storage_name(task.problem.storage),
                      schedule::pass_title(task.problem), task.profile.name);
  text += verdicts_text(verdicts, memory);
  if (crossover) text += engine::print(*crossover, task.problem);
  text += "what fits, and what is short\n" + engine::print(fits);
  text += "tensors\n";
  for (const CheckedTensor& tensor : tensors)
    text += fmt::format("  {:<6} {:<8} {:<18} {:>12} elements {:>14}{}\n", tensor.kind, tensor.name,
                        tensor.axes, tensor.elements, size_text(tensor.bytes), tensor.declared);
  for (const step::NamedConstant& constant :
       schedule::cell_with_constants(task.written, task.problem).constants)
    text += fmt::format("  const  {} = {}\n", constant.name, constant.value);
  return text;
}

// The board's memory is that of the GPU at hand, where it is what was asked for.
CheckedMemory memory_of(const std::vector<CheckedTensor>& tensors, const schedule::Problem& problem,
                        const engine::Machine& machine) {
  CheckedMemory memory;
  for (const CheckedTensor& tensor : tensors) memory.tensors += tensor.bytes;
  if (problem.pass == schedule::Pass::Backward) memory.tensors *= 2;
  memory.board = machine.gpu_info ? static_cast<std::int64_t>(machine.gpu_info->memory_bytes)
                                  : target::board_memory(machine.profile);
  return memory;
}

}  // namespace

Status check(const Options& options) {
  const Result<LoadedCell> loaded = load_cell(options);
  if (!loaded) return loaded.error();
  const Result<schedule::Pass> pass = single_pass(options);
  if (!pass) return pass.error();
  const bool all = options.arch == "all";  // every board in the table; the rest is of the default one
  Options without_database = options;
  without_database.no_database = true;
  if (all) without_database.arch = "auto";
  const Result<Session> session = open_session(without_database, Use::Optional);
  if (!session) return session.error();
  const step::Cell& cell = loaded->cell;
  const Result<schedule::Problem> problem = problem_of(options, cell, *pass);
  if (!problem) return problem.error();
  const target::Profile& profile = session->machine.profile;
  const schedule::Task task(cell, *problem, profile);
  if (Status status = schedule::check_problem(task); !status) return status;
  const Result<engine::Overrides> overrides = overrides_of(options);
  if (!overrides) return overrides.error();
  const Result<std::vector<StrategyVerdict>> verdicts = verdicts_of(task, *overrides);
  if (!verdicts) return verdicts.error();
  const std::vector<CheckedTensor> tensors = tensors_of(task);
  const engine::FitTable fits =
      engine::fit_table(task, all ? target::shipped_profiles() : std::vector<target::Profile>{profile});
  const auto crossover = overrides->empty() && any_legal(*verdicts)
                             ? engine::crossover(task)
                             : Result<std::optional<engine::Crossover>>(std::nullopt);
  if (!crossover) return crossover.error();
  const engine::CellFile& file = loaded->file;
  if (!options.json)
    std::fputs(painted_diagnostics(frontend::render_remarks(file.parsed, file.text, file.path)).c_str(),
               stderr);
  const CheckedMemory memory = memory_of(tensors, *problem, session->machine);
  print(options.json ? check_json(file.parsed.remarks, task, *verdicts, tensors, memory, fits, *crossover)
                     : check_text(task, *verdicts, tensors, memory, fits, *crossover));
  if (any_legal(*verdicts)) return success();
  return Error{ErrorKind::Unsupported,
               fmt::format("no strategy computes cell {} at this shape on {}", cell.name, profile.name),
               "what is printed above says why, and what fits"};
}

}  // namespace rondo::tools
