#include "compiler/schedule/analysis/carried.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace rondo::schedule {

bool is_carried(const Task& task, const step::Node& node) {
  if (task.problem.pass == Pass::Backward)
    return node.kind == step::NodeKind::Gradient && node.gradient.of == step::GradientRef::Of::NextState;
  return node.kind == step::NodeKind::Leaf && task.cell.tensor(node.tensor).kind == step::TensorKind::State;
}

std::size_t carried_row(const step::Cell& cell, step::TensorId state, int row) {
  const auto found = std::ranges::find_if(
      cell.next, [&](const step::Row& next) { return next.tensor == state && next.row == row; });
  if (found == cell.next.end()) throw std::logic_error("a state row that is never advanced");
  return static_cast<std::size_t>(found - cell.next.begin());
}

std::string carried_name(const step::Cell& cell, std::size_t k) {
  const step::Tensor& state = cell.tensor(cell.next[k].tensor);
  return state.rows == 1 ? state.name : fmt::format("{}_{}", state.name, cell.next[k].row);
}

}  // namespace rondo::schedule
