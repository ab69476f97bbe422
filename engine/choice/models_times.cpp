#include "engine/choice/models_times.h"

#include <map>

#include "compiler/constraint/system.h"
#include "compiler/schedule/plan/problem_check.h"
#include "compiler/schedule/strategies.h"
#include "engine/choice/choose.h"

namespace rondo::engine {

namespace {

struct Priced {
  constraint::System space;
  schedule::CostModel model;
};

}  // namespace

std::vector<std::optional<double>> models_times(const schedule::Task& task,
                                                const std::vector<db::Trial>& trials) {
  if (!schedule::check_problem(task)) return std::vector<std::optional<double>>(trials.size());
  std::vector<std::optional<double>> times;
  std::map<std::string, Priced> strategies;
  for (const db::Trial& trial : trials) {
    std::optional<double>& time = times.emplace_back();
    const schedule::Strategy* strategy = schedule::find_strategy(trial.strategy);
    const auto parameters = recorded_parameters(trial);
    if (strategy == nullptr || !parameters || !strategy->serves(task.profile).legal ||
        !strategy->legal(task).legal)
      continue;
    auto known = strategies.find(trial.strategy);
    if (known == strategies.end())
      known =
          strategies.emplace(trial.strategy, Priced{strategy->space(task), strategy->cost_model(task)}).first;
    if (known->second.space.check({parameters->begin(), parameters->end()}))
      time = known->second.model(*parameters).seconds * 1e3;
  }
  return times;
}

}  // namespace rondo::engine
