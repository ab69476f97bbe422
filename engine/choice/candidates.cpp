#include "engine/choice/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "compiler/constraint/explain.h"
#include "compiler/constraint/solver.h"
#include "compiler/schedule/plan/problem_check.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/strategies_for.h"

namespace rondo::engine {

using schedule::Strategy;
using schedule::Task;

namespace {

using Visit = std::function<void(const Candidate&)>;

// Shows a strategy's points to `visit`; says why there are none. One Candidate serves for all: nothing is
// allocated a point.
std::string visit_points(const Strategy& strategy, const Task& task, int alignment, const Visit& visit) {
  const constraint::System space = strategy.space(task);
  const schedule::CostModel cost = strategy.cost_model(task);
  const bool restricted = alignment < kFullAlignment;
  Candidate candidate{strategy.name(), {}, {}};
  std::vector<std::int64_t*> places;  // of the variables, in their order
  for (const auto& variable : space.names().variables) places.push_back(&candidate.parameters[variable.name]);
  std::size_t seen = 0;
  std::size_t kept = 0;
  (void)constraint::enumerate(space, [&](const constraint::Assignment& assignment) {
    ++seen;
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = assignment.values()[i];
    if (restricted && strategy.alignment(task.problem, candidate.parameters) > alignment) return true;
    candidate.estimate = cost(candidate.parameters);
    visit(candidate);
    ++kept;
    return true;
  });
  if (kept > 0) return "";
  if (seen > 0) return fmt::format("no configuration works with tensors aligned to {} bytes only", alignment);
  const Result<constraint::Explanation> why = constraint::explain(space, constraint::Blame::Limits);
  return why ? why->text : why.error().message;
}

// Error of kind Input when the strategy cannot be asked for.
Status check_strategy(const Task& task, const std::string& strategy) {
  if (Status status = schedule::check_problem(task.written, task.problem); !status) return status;
  const Strategy* known = schedule::find_strategy(strategy);
  if (known == nullptr) {
    std::string names;
    for (const Strategy* each : schedule::strategies())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", each->name());
    return Error{ErrorKind::Input, fmt::format("there is no strategy '{}'", strategy), "known: " + names};
  }
  if (const schedule::Legality served = known->serves(task.profile); !served.legal)
    return Error{ErrorKind::Unsupported, fmt::format("strategy {} does not serve {}: {}", strategy,
                                                     task.profile.name, served.reason)};
  const schedule::Legality legality = known->legal(task);
  if (legality.legal) return success();
  return Error{ErrorKind::Input, fmt::format("strategy {} cannot compute cell {}: {}", strategy,
                                             task.written.name, legality.reason)};
}

// All strategies, or one; error when no point was shown.
Status visit_all(const Task& task, int alignment, const Visit& visit, const std::string& only = "") {
  if (Status status = schedule::check_problem(task.written, task.problem); !status) return status;
  std::string reasons;
  bool any = false;
  for (const Strategy* strategy :
       only.empty() ? schedule::strategies_for(task.profile) : schedule::strategies()) {
    if (!only.empty() && strategy->name() != only) continue;
    const schedule::Legality served = strategy->serves(task.profile);
    const schedule::Legality legality = served.legal ? strategy->legal(task) : served;
    const std::string reason =
        legality.legal ? visit_points(*strategy, task, alignment, visit) : legality.reason;
    any |= reason.empty();
    if (!reason.empty())
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", strategy->name(), reason);
  }
  if (any) return success();
  if (!only.empty())
    return Error{ErrorKind::Unsupported, fmt::format("no room for cell {} ({})", task.written.name, reasons),
                 "leave the choice of the strategy to the model, or change the shape"};
  return Error{ErrorKind::Unsupported,
               fmt::format("no strategy computes cell {} ({})", task.written.name, reasons),
               "`rondo check` shows the structure that decides; the reference executor runs any cell"};
}

bool before(const Candidate& a, const Candidate& b) {
  return std::tie(a.estimate.seconds, a.strategy, a.parameters) <
         std::tie(b.estimate.seconds, b.strategy, b.parameters);
}

// The same, but what may spill comes after what does not.
bool safer(const Candidate& a, const Candidate& b) {
  return a.estimate.may_spill != b.estimate.may_spill ? b.estimate.may_spill : before(a, b);
}

}  // namespace

Result<std::vector<Candidate>> ranked_candidates(const Task& task, int alignment,
                                                 const std::string& strategy) {
  if (!strategy.empty())
    if (Status status = check_strategy(task, strategy); !status) return status.error();
  std::vector<Candidate> result;
  const Status status = visit_all(
      task, alignment, [&](const Candidate& c) { result.push_back(c); }, strategy);
  if (!status) return status.error();
  std::ranges::sort(result, before);
  return result;
}

Result<Candidate> best_candidate(const Task& task, int alignment) {
  Result<std::optional<Candidate>> best =
      best_candidate(task, alignment, "", [](const Candidate&) { return true; });
  if (!best) return best.error();
  return std::move(**best);
}

Result<std::optional<Candidate>> best_candidate(const Task& task, int alignment, const std::string& strategy,
                                                const std::function<bool(const Candidate&)>& granted) {
  if (!strategy.empty())
    if (Status status = check_strategy(task, strategy); !status) return status.error();
  std::optional<Candidate> best;
  const Status status = visit_all(
      task, alignment,
      [&](const Candidate& c) {
        if ((!best || safer(c, *best)) && granted(c)) best = c;
      },
      strategy);
  if (!status) return status.error();
  return best;
}

Status check_candidate(const Task& task, const std::string& strategy, const schedule::Parameters& parameters,
                       int alignment) {
  if (Status status = check_strategy(task, strategy); !status) return status;
  const constraint::System space = schedule::find_strategy(strategy)->space(task);
  const Result<constraint::Assignment> point = space.check({parameters.begin(), parameters.end()});
  if (!point) return point.error();
  const int needed = schedule::find_strategy(strategy)->alignment(task.problem, parameters);
  if (needed > alignment)
    return Error{ErrorKind::Input, fmt::format("{} needs tensors aligned to {} bytes; they are aligned to {}",
                                               schedule::print(parameters), needed, alignment)};
  return success();
}

}  // namespace rondo::engine
