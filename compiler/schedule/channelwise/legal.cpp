#include "compiler/schedule/channelwise/legal.h"

#include <fmt/format.h>

namespace rondo::schedule {

Legality channels_alone(const Task& task, HeadValues allowed) {
  const auto copied = [&](step::TensorKind kind) {
    return allowed >= (kind == step::TensorKind::Input ? HeadValues::Inputs : HeadValues::StatesToo);
  };
  const step::Structure& structure = task.structure;
  if (structure.has_matrix) return {false, "the step multiplies by a matrix: channels see each other"};
  if (passes_products(task.problem))
    return {false, "the step multiplies by no matrix: there are no products to save"};
  if (structure.has_reduction) return {false, "the step reduces over the head: channels see each other"};
  if (structure.has_along)
    return {false, "the step shifts or sums up along the channels: channels see each other"};
  for (const step::Tensor& tensor : task.cell.tensors)
    if (tensor.tail == step::Tail::Scalar && tensor.kind != step::TensorKind::Param &&
        !step::is_flag(tensor.kind) && !copied(tensor.kind))
      return {false, fmt::format("'{}' has one value a head and step: its gradient sums over channels",
                                 tensor.name)};
  return {};
}

}  // namespace rondo::schedule
