// Finds the solutions of a System: propagation at every node of a depth-first search.
//
// The order of solutions is the same on every run and machine, but it is not lexicographic. A search that
// reaches a limit says so: find_first returns an Error of kind Cancelled instead of a partial answer, and
// enumerate returns its outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/constraint/system.h"
#include "compiler/support/result.h"

namespace rondo::constraint {

struct Limits {
  std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();  // deterministic
  std::uint64_t work = std::numeric_limits<std::uint64_t>::max();   // as SearchStats has it: deterministic
  std::chrono::nanoseconds time = std::chrono::nanoseconds::max();  // looked at every few nodes
};

enum class Outcome {
  Complete,  // every solution was seen
  Stopped,   // the caller had enough
  NodeLimit,
  WorkLimit,
  TimeLimit,
};

struct SearchStats {
  Outcome outcome = Outcome::Complete;
  std::uint64_t nodes = 0;      // states of the search, the first and the solutions included
  std::uint64_t revisions = 0;  // single constraints looked at by propagation
  std::uint64_t work = 0;       // parts of expressions looked at: what the time goes with
  std::uint64_t solutions = 0;  // that were visited
  // Constraints that removed a value or failed. In a complete search without a solution these leave none by
  // themselves.
  std::vector<std::size_t> mattered;
};

// Receives each solution; returns false to stop. The assignment is valid during the call: copy it to keep it.
using Visit = std::function<bool(const Assignment&)>;

[[nodiscard]] SearchStats enumerate(const System& system, const Visit& visit, const Limits& limits = {});

// Visits solutions that give the expression ever smaller values; the last one of a complete search has the
// least.
[[nodiscard]] SearchStats descend(const System& system, const Expr& objective, const Visit& visit,
                                  const Limits& limits = {});

struct First {
  std::optional<Assignment> solution;  // none: the space is empty, which explain() can put into words
  SearchStats stats;
};
Result<First> find_first(const System& system, const Limits& limits = {});

}  // namespace rondo::constraint
