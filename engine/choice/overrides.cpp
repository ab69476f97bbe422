#include "engine/choice/overrides.h"

#include <fmt/format.h>

#include <map>

#include "compiler/schedule/strategies.h"

namespace rondo::engine {

using schedule::Parameters;

namespace {

// The parameters of the overrides by strategy, under the names of this version.
std::map<std::string, Parameters> wanted_parameters(const Overrides& overrides) {
  std::map<std::string, Parameters> wanted;
  for (const schedule::Strategy* strategy : schedule::strategies())
    wanted[strategy->name()] = strategy->current(overrides.parameters);
  return wanted;
}

bool agrees(const Candidate& candidate, const Parameters& wanted) {
  for (const auto& [name, value] : wanted) {
    const auto found = candidate.parameters.find(name);
    if (found == candidate.parameters.end() || found->second != value) return false;
  }
  return true;
}

// Why no candidate agrees with the overrides: the best one, bent to it, breaks some rule.
Error no_candidate_agrees(const schedule::Task& task, const Overrides& overrides, const Candidate& best) {
  const std::string strategy = overrides.strategy.empty() ? best.strategy : overrides.strategy;
  const Parameters wanted = wanted_parameters(overrides).at(strategy);
  Parameters parameters = wanted;
  parameters.insert(best.parameters.begin(), best.parameters.end());
  const Status status = check_candidate(task, strategy, parameters);
  if (!status) return status.error();
  return {ErrorKind::Input, fmt::format("no configuration of {} has {}", strategy, schedule::print(wanted))};
}

}  // namespace

Result<Choice> choose_with(const schedule::Task& task, const Overrides& overrides,
                           const ChooseOptions& options) {
  if (overrides.empty()) return choose(task, options);
  if (options.pinned != nullptr)
    return Error{
        ErrorKind::Input,
        fmt::format("'{}' pins strategy and parameters: none can be asked for", options.pinned->origin()),
        "leave out --strategy and --param, or --lock"};
  const std::map<std::string, Parameters> wanted = wanted_parameters(overrides);
  const Result<std::optional<Candidate>> best = best_candidate(
      task, options.alignment, overrides.strategy,
      [&](const Candidate& candidate) { return agrees(candidate, wanted.at(candidate.strategy)); });
  if (!best) return best.error();
  if (*best)
    return Choice{(*best)->strategy,
                  (*best)->parameters,
                  ChoiceOrigin::Model,
                  "",
                  (*best)->estimate.seconds * 1e3,
                  "best of those asked for, by the model of " + task.profile.name};
  return no_candidate_agrees(task, overrides,
                             ranked_candidates(task, options.alignment, overrides.strategy)->front());
}

}  // namespace rondo::engine
