// Shares one set of limits among several searches.
#pragma once

#include "compiler/constraint/solver.h"

namespace rondo::constraint {

class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits), start_(std::chrono::steady_clock::now()) {}

  // The first solution, looked for with at most one part in `parts` of what is left. stats.outcome tells an
  // empty space (Complete) from a search cut short.
  First first_solution(const System& system, unsigned parts = 1);
  // One that gives the expression the least value; the last found where the search was cut short.
  First least_solution(const System& system, const Expr& objective, unsigned parts = 1);

 private:
  Limits part(unsigned parts) const;
  void spend(const SearchStats& stats);

  Limits limits_;
  std::chrono::steady_clock::time_point start_;
};

// Whether stats are those of a search cut short by a limit.
bool cut_short(const SearchStats& stats);

}  // namespace rondo::constraint
