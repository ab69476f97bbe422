#include "compiler/schedule/analysis/carried.h"

namespace rondo::schedule {

bool is_carried(const step::Cell& cell, const Problem& problem, const step::Node& node) {
  if (problem.pass == Pass::Backward)
    return node.kind == step::NodeKind::Gradient && node.gradient.of == step::GradientRef::Of::NextState;
  return node.kind == step::NodeKind::Leaf &&
         cell.tensors[static_cast<std::size_t>(node.tensor)].kind == step::TensorKind::State;
}

}  // namespace rondo::schedule
