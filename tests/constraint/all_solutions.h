// What tests ask of the solver beyond what its users do: every solution, their number, and what propagation
// leaves before any search.
#pragma once

#include <stdexcept>

#include "compiler/constraint/propagate.h"
#include "compiler/constraint/solver.h"

namespace rondo::constraint {

struct All {
  std::vector<Assignment> solutions;
  SearchStats stats;
};

// Throws where a limit is reached.
inline All find_all(const System& system, const Limits& limits = {}) {
  All all;
  all.stats = enumerate(
      system,
      [&](const Assignment& found) {
        all.solutions.push_back(found);
        return true;
      },
      limits);
  if (all.stats.outcome != Outcome::Complete) throw std::runtime_error("the search reached a limit");
  return all;
}

inline std::uint64_t count(const System& system) {
  return enumerate(system, [](const Assignment&) { return true; }).solutions;
}

// The values left to each variable; nullopt if there is no solution already.
inline std::optional<std::vector<std::vector<Value>>> propagated(const System& system) {
  Propagator propagator(system);
  if (!propagator.propagate_all()) return std::nullopt;
  std::vector<std::vector<Value>> left;
  for (std::size_t v = 0; v < propagator.store().size(); ++v) left.push_back(propagator.store().possible(v));
  return left;
}

}  // namespace rondo::constraint
