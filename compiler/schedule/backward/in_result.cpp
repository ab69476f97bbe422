#include "compiler/schedule/backward/in_result.h"

namespace rondo::schedule {

std::optional<InResult> products_in_gradient(const Task& task, const BackwardSplit& split) {
  const int rows = scratch_rows(split)[kProducts];
  if (rows == 0 || task.cell.direction == step::Direction::Halves) return std::nullopt;
  for (const TensorId id : task.cell.of_kind(TensorKind::Input)) {
    const int of_input = task.cell.tensor(id).rows;
    if (task.cell.is_head_value(id)) continue;
    if (of_input == rows || (of_input > rows && task.problem.sizes.heads == 1))
      return InResult{{Role::Scratch, kProducts}, {Role::InputGradient, id}};
  }
  return std::nullopt;
}

}  // namespace rondo::schedule
