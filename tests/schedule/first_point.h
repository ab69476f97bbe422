// Any point of a strategy's space, the same in every run.
#pragma once

#include <stdexcept>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/plan/strategy.h"
#include "tests/target/board.h"

namespace rondo::schedule {

inline Parameters first_point(const Strategy& strategy, const Task& task) {
  const constraint::System space = strategy.space(task);
  const auto first = constraint::find_first(space);
  if (!first || !first->solution) throw std::runtime_error("no point for cell " + task.cell.name);
  Parameters point;
  for (std::size_t i = 0; i < space.domains().size(); ++i)
    point[space.names().variables[i].name] = first->solution->values()[i];
  return point;
}
inline Parameters first_point(const Strategy& strategy, const step::Cell& cell, const Problem& problem) {
  return first_point(strategy, {cell, problem, target::board()});
}

}  // namespace rondo::schedule
