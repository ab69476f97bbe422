#include "compiler/schedule/analysis/compulsory_bytes.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

namespace {

std::int64_t step_bytes(const step::Tensor& tensor, const Problem& problem) {
  const std::int64_t channels = tensor.tail == step::Tail::Scalar ? 1 : problem.sizes.dim;
  return tensor.rows * channels * kernel::storage_bytes(problem.storage);
}

}  // namespace

std::int64_t compulsory_bytes(const Task& task) {
  std::int64_t per_step = 0;
  if (passes_products(task.problem))
    for (const step::TensorId id : product_tensors(task.cell))
      per_step += step_bytes(tensor_in_role({Role::Products, id}, task.cell), task.problem);
  auto add = [&](const std::vector<step::TensorId>& tensors) {
    for (const step::TensorId id : tensors)
      per_step += step_bytes(task.cell.tensors[static_cast<std::size_t>(id)], task.problem);
  };
  if (task.problem.pass == Pass::Backward) {
    const BackwardNeeds needs = backward_needs(task.cell);
    add(needs.inputs);
    for (const TensorRef& history : needs.history_tensors) add({history.tensor});
    add(task.cell.of_kind(TensorKind::Output));  // their gradients
    add(task.cell.of_kind(TensorKind::Input));   // gradients written
  } else {
    add(task.cell.of_kind(TensorKind::Input));
    add(task.cell.of_kind(TensorKind::Output));
    if (task.problem.pass == Pass::ForwardSave) add(stored_histories(task.cell));
  }
  return per_step * task.problem.sizes.batch * task.problem.sizes.time * task.problem.sizes.heads;
}

}  // namespace rondo::schedule
