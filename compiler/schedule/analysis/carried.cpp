#include "compiler/schedule/analysis/carried.h"

namespace rondo::schedule {

bool is_carried(const Task& task, const step::Node& node) {
  if (task.problem.pass == Pass::Backward)
    return node.kind == step::NodeKind::Gradient && node.gradient.of == step::GradientRef::Of::NextState;
  return node.kind == step::NodeKind::Leaf &&
         task.cell.tensors[static_cast<std::size_t>(node.tensor)].kind == step::TensorKind::State;
}

}  // namespace rondo::schedule
