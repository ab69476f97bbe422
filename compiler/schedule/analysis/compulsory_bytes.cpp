#include "compiler/schedule/analysis/compulsory_bytes.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

using step::TensorKind;

namespace {

std::int64_t step_bytes(const step::Tensor& tensor, const Problem& problem) {
  const std::int64_t channels = tensor.tail == step::Tail::Scalar ? 1 : problem.sizes.dim;
  return tensor.rows * channels * kernel::storage_bytes(problem.storage);
}

}  // namespace

std::int64_t compulsory_bytes(const step::Cell& cell, const Problem& problem) {
  std::int64_t per_step = 0;
  if (passes_products(problem))
    for (const step::TensorId id : product_tensors(cell))
      per_step += step_bytes(tensor_in_role({Role::Products, id}, cell), problem);
  auto add = [&](const std::vector<step::TensorId>& tensors) {
    for (const step::TensorId id : tensors)
      per_step += step_bytes(cell.tensors[static_cast<std::size_t>(id)], problem);
  };
  if (problem.pass == Pass::Backward) {
    const BackwardNeeds needs = backward_needs(cell);
    add(needs.inputs);
    for (const TensorRef& history : needs.history_tensors) add({history.tensor});
    add(cell.of_kind(TensorKind::Output));  // their gradients
    add(cell.of_kind(TensorKind::Input));   // gradients written
  } else {
    add(cell.of_kind(TensorKind::Input));
    add(cell.of_kind(TensorKind::Output));
    if (problem.pass == Pass::ForwardSave) add(stored_histories(cell));
  }
  return per_step * problem.sizes.batch * problem.sizes.time * problem.sizes.heads;
}

}  // namespace rondo::schedule
