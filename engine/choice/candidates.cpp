#include "engine/choice/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

#include "compiler/constraint/explain.h"
#include "compiler/constraint/solver.h"
#include "compiler/schedule/plan/problem_check.h"
#include "compiler/schedule/strategies.h"
#include "compiler/schedule/strategies_for.h"
#include "compiler/support/index.h"
#include "compiler/support/parallel_for.h"

namespace rondo::engine {

using schedule::Strategy;
using schedule::Task;

namespace {

using Visit = std::function<void(const Candidate&)>;

// Fewer threads than so many take as long: each part of a space is propagated from its beginning.
constexpr int kWorthwhile = 4;

struct Counts {
  std::size_t seen = 0;  // points that the constraints leave
  std::size_t kept = 0;  // those of them that content themselves with the alignment
};

// Shows the points of a strategy's space, or of a part of it, to `visit`. One Candidate serves for all:
// nothing is allocated a point.
Counts visit_space(const constraint::System& space, const Strategy& strategy, const Task& task, int alignment,
                   const Visit& visit) {
  const schedule::CostModel cost = strategy.cost_model(task);
  const bool restricted = alignment < kFullAlignment;
  Candidate candidate{strategy.name(), {}, {}};
  std::vector<std::int64_t*> places;  // of the variables, in their order
  for (const auto& variable : space.names().variables) places.push_back(&candidate.parameters[variable.name]);
  Counts counts;
  (void)constraint::enumerate(space, [&](const constraint::Assignment& assignment) {
    ++counts.seen;
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = assignment.values()[i];
    if (restricted && strategy.alignment(task.problem, candidate.parameters) > alignment) return true;
    candidate.estimate = cost(candidate.parameters);
    visit(candidate);
    ++counts.kept;
    return true;
  });
  return counts;
}

// Why there are no points; "" where there are.
std::string why_none(const Counts& counts, const constraint::System& space, int alignment) {
  if (counts.kept > 0) return "";
  if (counts.seen > 0)
    return fmt::format("no configuration works with tensors aligned to {} bytes only", alignment);
  const Result<constraint::Explanation> why = constraint::explain(space, constraint::Blame::Limits);
  return why ? why->text : why.error().message;
}

// Shows a strategy's points to `visit`; says why there are none.
std::string visit_points(const Strategy& strategy, const Task& task, int alignment, const Visit& visit) {
  const constraint::System space = strategy.space(task);
  return why_none(visit_space(space, strategy, task, alignment, visit), space, alignment);
}

// Error of kind Input when the strategy cannot be asked for.
Status check_strategy(const Task& task, const std::string& strategy) {
  if (Status status = schedule::check_problem(task); !status) return status;
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

// What a strategy's points are for; why it has none.
using Each = std::function<std::string(const Strategy&)>;

// All strategies, or one; error when none had a point.
Status each_strategy(const Task& task, const Each& each, const std::string& only = "") {
  if (Status status = schedule::check_problem(task); !status) return status;
  std::string reasons;
  bool any = false;
  for (const Strategy* strategy :
       only.empty() ? schedule::strategies_for(task.profile) : schedule::strategies()) {
    if (!only.empty() && strategy->name() != only) continue;
    const schedule::Legality served = strategy->serves(task.profile);
    const schedule::Legality legality = served.legal ? strategy->legal(task) : served;
    const std::string reason = legality.legal ? each(*strategy) : legality.reason;
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

Status visit_all(const Task& task, int alignment, const Visit& visit, const std::string& only) {
  return each_strategy(
      task, [&](const Strategy& strategy) { return visit_points(strategy, task, alignment, visit); }, only);
}

bool before(const Candidate& a, const Candidate& b) {
  return std::tie(a.estimate.seconds, a.strategy, a.parameters) <
         std::tie(b.estimate.seconds, b.strategy, b.parameters);
}

// The same, but what may spill comes after what does not.
bool safer(const Candidate& a, const Candidate& b) {
  return a.estimate.may_spill != b.estimate.may_spill ? b.estimate.may_spill : before(a, b);
}

// A space in parts, one for each value of the variable that has the most.
std::vector<constraint::System> parts_of(const constraint::System& space) {
  const auto& domains = space.domains();
  const auto most = std::ranges::max_element(
      domains, {}, [](const constraint::Domain& domain) { return domain.values().size(); });
  std::vector<constraint::System> parts;
  if (most != domains.end())
    for (const std::int64_t value : most->values())
      parts.push_back(space.with(static_cast<std::size_t>(most - domains.begin()),
                                 constraint::Domain(std::vector<constraint::Value>{value})));
  return parts;
}

// The best of a strategy's points goes to `best` if it is safer; says why there are none. No order of the
// parts matters, for no two points are equal to safer().
std::string best_point(const Strategy& strategy, const Task& task, int alignment, int threads,
                       std::optional<Candidate>& best) {
  const constraint::System space = strategy.space(task);
  const std::vector<constraint::System> parts = parts_of(space);
  std::mutex lock;
  Counts counts;
  parallel_for(static_cast<std::int64_t>(parts.size()), threads, [&]() -> Worker {
    return [&](std::int64_t i) {
      std::optional<Candidate> own;
      const Counts of_part = visit_space(parts[at(i)], strategy, task, alignment, [&](const Candidate& c) {
        if (!own || safer(c, *own)) own = c;
      });
      const std::lock_guard guard(lock);
      counts.seen += of_part.seen;
      counts.kept += of_part.kept;
      if (own && (!best || safer(*own, *best))) best = std::move(own);
    };
  });
  return why_none(counts, space, alignment);
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

Result<Candidate> best_candidate(const Task& task, int alignment, int threads) {
  // Where somebody watches the passes, or there is little to gain, one thread looks at a whole space.
  if (threads == 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::optional<Candidate> best;
  const Status status = each_strategy(task, [&](const Strategy& strategy) {
    if (threads < kWorthwhile || task.watcher != nullptr)
      return visit_points(strategy, task, alignment, [&](const Candidate& c) {
        if (!best || safer(c, *best)) best = c;
      });
    return best_point(strategy, task, alignment, threads, best);
  });
  if (!status) return status.error();
  return *std::move(best);
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

Status CandidateCheck::operator()(const std::string& strategy, const schedule::Parameters& parameters,
                                  int alignment) {
  auto space = spaces_.find(strategy);
  if (space == spaces_.end()) {
    if (Status status = check_strategy(task_, strategy); !status) return status;
    space = spaces_.emplace(strategy, schedule::find_strategy(strategy)->space(task_)).first;
  }
  const Result<constraint::Assignment> point = space->second.check({parameters.begin(), parameters.end()});
  if (!point) return point.error();
  const int needed = schedule::find_strategy(strategy)->alignment(task_.problem, parameters);
  if (needed > alignment)
    return Error{ErrorKind::Input, fmt::format("{} needs tensors aligned to {} bytes; they are aligned to {}",
                                               schedule::print(parameters), needed, alignment)};
  return success();
}

Status check_candidate(const Task& task, const std::string& strategy, const schedule::Parameters& parameters,
                       int alignment) {
  return CandidateCheck(task)(strategy, parameters, alignment);
}

}  // namespace rondo::engine
