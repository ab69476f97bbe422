// `rondo check`: is the cell right, what is its structure, what may compute it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/schedule/signature.h"
#include "compiler/schedule/strategy.h"
#include "compiler/step/clip.h"
#include "compiler/step/structure.h"
#include "runtime/choose.h"
#include "runtime/problem_text.h"
#include "runtime/run_arrays.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/session.h"

namespace rondo::tools {
namespace {

std::vector<CheckedTensor> tensors_of(const step::Cell& cell, const schedule::Problem& problem) {
  using schedule::Role;
  const std::pair<const char*, Role> roles[] = {{"input", Role::Input},
                                                {"param", Role::Param},
                                                {"state", Role::InitialState},
                                                {"output", Role::Output}};
  std::vector<CheckedTensor> result;
  for (step::TensorId id = 0; id < static_cast<step::TensorId>(cell.tensors.size()); ++id) {
    const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(id)];
    const auto& [kind, role] = roles[static_cast<std::size_t>(tensor.kind)];
    const std::int64_t elements = step::element_count(tensor, problem.sizes);
    result.push_back({kind, tensor.name, fmt::format("[{}]", fmt::join(runtime::axes_of(tensor), ", ")),
                      elements,
                      elements * kernel::storage_bytes(schedule::storage_of({role, id}, cell, problem))});
  }
  return result;
}

std::vector<StrategyVerdict> verdicts_of(const step::Cell& cell, const schedule::Problem& problem,
                                         const target::Profile& profile) {
  std::vector<StrategyVerdict> result;
  for (const schedule::Strategy* strategy : schedule::strategies()) {
    StrategyVerdict verdict{strategy->name(), strategy->legal(cell, problem), ""};
    if (verdict.legality.legal) {
      const auto choice = runtime::choose_with(cell, problem, profile, {strategy->name(), {}});
      if (choice)
        verdict.choice = fmt::format("{}, about {:.4f} ms by model", schedule::print(choice->parameters),
                                     choice->expected_ms);
      else
        verdict.legality = {false, choice.error().message};
    }
    result.push_back(std::move(verdict));
  }
  return result;
}

std::string check_text(const step::Cell& cell, const schedule::Problem& problem,
                       const target::Profile& profile, const std::vector<StrategyVerdict>& verdicts,
                       const std::vector<CheckedTensor>& tensors, const runtime::FitTable& fits) {
  std::string text = step::describe(cell, step::analyze(cell)) + step::describe_clip(cell);
  text += fmt::format("strategies of this version, for {} {} {} on {}\n", runtime::shape_text(problem.sizes),
                      kernel::storage_name(problem.storage), schedule::pass_name(problem.pass), profile.name);
  for (const StrategyVerdict& verdict : verdicts)
    text += fmt::format("  {:<12} {}\n", verdict.name,
                        verdict.legality.legal ? verdict.choice : "not legal: " + verdict.legality.reason);
  text += "what fits, and what is short\n" + runtime::print(fits);
  text += "tensors\n";
  for (const CheckedTensor& tensor : tensors)
    text += fmt::format("  {:<6} {:<8} {:<18} {:>12} elements {:>14} bytes\n", tensor.kind, tensor.name,
                        tensor.axes, tensor.elements, tensor.bytes);
  for (const step::NamedConstant& constant : cell.constants)
    text += fmt::format("  const  {} = {}\n", constant.name, constant.value);
  return text;
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
  const Result<schedule::Problem> problem = problem_of(options, cell, *pass, *session);
  if (!problem) return problem.error();
  const target::Profile& profile = session->machine.profile;
  const std::vector<StrategyVerdict> verdicts = verdicts_of(cell, *problem, profile);
  const std::vector<CheckedTensor> tensors = tensors_of(cell, *problem);
  const runtime::FitTable fits = runtime::fit_table(
      cell, *problem, all ? target::shipped_profiles() : std::vector<target::Profile>{profile});
  print(options.json ? check_json(cell, *problem, verdicts, tensors, fits)
                     : check_text(cell, *problem, profile, verdicts, tensors, fits));
  return success();
}

}  // namespace rondo::tools
