#include "compiler/constraint/solver.h"

#include <fmt/format.h>

#include "compiler/constraint/budget.h"
#include "compiler/constraint/propagate.h"

namespace rondo::constraint {

namespace {

using Clock = std::chrono::steady_clock;

// Up to this many values a variable is tried value by value; a larger domain is halved first, so that bounds
// can discard half of it at once.
constexpr std::uint64_t kTryEach = 8;
constexpr std::uint64_t kNodesBetweenClockReads = 64;

}  // namespace

class Search {
 public:
  Search(const System& system, const Limits& limits, const Visit& visit, const Expr* objective = nullptr)
      : propagator_(objective == nullptr ? Propagator(system) : Propagator(system, *objective)),
        objective_(objective),
        constraints_(system.constraints().size()),
        limits_(limits),
        visit_(visit),
        point_(system.shared_names(), std::vector<Value>(system.domains().size())),
        start_(Clock::now()) {}

  SearchStats run() {
    if (propagator_.propagate_all()) descend();
    stats_.revisions = propagator_.revisions();
    stats_.work = propagator_.work();
    for (std::size_t i = 0; i < constraints_; ++i)
      if (propagator_.mattered(i)) stats_.mattered.push_back(i);
    return stats_;
  }

 private:
  // Each returns false once the search is to end.
  bool descend() {
    if (!may_continue()) return false;
    const std::optional<std::size_t> variable = choose();
    if (!variable) return report();
    const Store& store = propagator_.store();
    if (store.count(*variable) <= kTryEach) {
      for (const Value value : store.possible(*variable)) {
        if (!branch(*variable, {value, value})) return false;
      }
      return true;
    }
    const Value middle = store.middle(*variable);
    return branch(*variable, {kLeast, middle}) && branch(*variable, {middle + 1, kMost});
  }

  bool branch(std::size_t variable, Interval kept) {
    const std::size_t mark = propagator_.store().mark();
    const bool go_on = !propagator_.decide(variable, kept) || descend();
    propagator_.undo_to(mark);
    return go_on;
  }

  // The open variable with the fewest values for its weight, the first of equals: constraints that failed
  // often are where the search must decide. Variables that no open constraint mentions come last; deciding
  // them early would repeat the work below them.
  std::optional<std::size_t> choose() const {
    const Store& store = propagator_.store();
    std::optional<std::size_t> best;
    std::uint64_t best_weight = 0;
    for (std::size_t v = 0; v < store.size(); ++v) {
      if (store.fixed(v)) continue;
      const std::uint64_t weight = propagator_.weight(v);
      if (best && (weight == 0 || (best_weight > 0 && Wide{store.count(v)} * best_weight >=
                                                          Wide{store.count(*best)} * weight))) {
        continue;
      }
      best = v;
      best_weight = weight;
    }
    return best;
  }

  bool may_continue() {
    if (stats_.nodes >= limits_.nodes || propagator_.work() > limits_.work) {
      stats_.outcome = stats_.nodes >= limits_.nodes ? Outcome::NodeLimit : Outcome::WorkLimit;
      return false;
    }
    if (stats_.nodes++ % kNodesBetweenClockReads == 0 && limits_.time != std::chrono::nanoseconds::max() &&
        Clock::now() - start_ >= limits_.time) {
      stats_.outcome = Outcome::TimeLimit;
      return false;
    }
    return true;
  }

  bool report() {
    for (std::size_t v = 0; v < point_.values_.size(); ++v) point_.values_[v] = propagator_.store().lo(v);
    ++stats_.solutions;
    const bool wanted = visit_(point_);
    if (wanted && objective_ == nullptr) return true;
    if (wanted) {
      const Value value = *point_.value(*objective_);
      if (value > kLeast) propagator_.most(value - 1);
      return value > kLeast;
    }
    stats_.outcome = Outcome::Stopped;
    return false;
  }

  Propagator propagator_;
  const Expr* objective_;
  std::size_t constraints_;
  Limits limits_;
  const Visit& visit_;
  Assignment point_;
  SearchStats stats_;
  Clock::time_point start_;
};

namespace {

Error limit_error(const SearchStats& stats) {
  const char* limit = stats.outcome == Outcome::NodeLimit   ? "node"
                      : stats.outcome == Outcome::WorkLimit ? "work"
                                                            : "time";
  return {ErrorKind::Cancelled,
          fmt::format("the search reached its {} limit after {} nodes, with {} solutions found by then",
                      limit, stats.nodes, stats.solutions),
          "raise the limit or narrow the space"};
}

}  // namespace

SearchStats enumerate(const System& system, const Visit& visit, const Limits& limits) {
  return Search(system, limits, visit).run();
}

SearchStats descend(const System& system, const Expr& objective, const Visit& visit, const Limits& limits) {
  return Search(system, limits, visit, &objective).run();
}

Result<First> find_first(const System& system, const Limits& limits) {
  First first = Budget(limits).first_solution(system);
  if (cut_short(first.stats)) return limit_error(first.stats);
  return first;
}

}  // namespace rondo::constraint
