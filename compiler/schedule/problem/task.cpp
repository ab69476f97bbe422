#include "compiler/schedule/problem/task.h"

#include <utility>

#include "compiler/step/bounds.h"
#include "compiler/step/extents.h"
#include "compiler/step/simplify.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

constexpr double kLargestHalf = 65504;

std::vector<bool> states_beyond_half(const step::Cell& cell) {
  std::vector<bool> beyond = step::states_within(cell, kLargestHalf);
  beyond.flip();
  for (const step::Node& node : cell.graph.nodes) {
    if (!step::is_product(node)) continue;
    const step::Node& vector = cell.graph.at(node.operands[0]);
    if (vector.kind == step::NodeKind::Leaf) beyond[at(vector.tensor)] = false;
  }
  return beyond;
}

}  // namespace

Task::Task(step::Cell as_written, Problem of, target::Profile on, pipeline::PassWatcher* by)
    : written(step::with_extents(std::move(as_written), of.constants)),
      cell(step::simplified(written, by)),
      structure(step::structure_of(cell)),
      beyond_half(states_beyond_half(cell)),
      problem(std::move(of)),
      profile(std::move(on)),
      watcher(by) {}

Task Task::with(Problem other) const {
  if (step::has_extents(cell) && other.constants != problem.constants)
    return {written, std::move(other), profile, watcher};
  Task result = *this;
  result.problem = std::move(other);
  return result;
}

Task Task::of(step::Cell other) const {
  Task result = *this;
  result.cell = std::move(other);
  result.facts_ = std::make_shared<StepFacts>();
  return result;
}

kernel::Storage Task::history_storage(step::TensorId state) const {
  return problem.storage == kernel::Storage::F16 && beyond_half[at(state)] ? kernel::Storage::F32
                                                                           : problem.storage;
}

}  // namespace rondo::schedule
