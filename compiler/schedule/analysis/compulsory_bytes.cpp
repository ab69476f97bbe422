#include "compiler/schedule/analysis/compulsory_bytes.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

std::int64_t compulsory_bytes(const Task& task) {
  const int rows = task.batch_rows.count;
  std::int64_t per_step = 0, shared = 0;  // of a batch row, and of all that share one
  const auto add_tensor = [&](const step::Tensor& tensor, kernel::Storage storage, bool own = true) {
    (own ? per_step : shared) += step::block(tensor, task.problem.sizes) * kernel::storage_bytes(storage);
  };
  const auto add_history = [&](step::TensorId id) {
    add_tensor(task.cell.tensor(id), task.history_storage(id));
  };
  const auto add = [&](const std::vector<step::TensorId>& tensors) {
    for (const step::TensorId id : tensors)
      add_tensor(task.cell.tensor(id), task.problem.storage, rows == 1 || task.batch_rows.has_own(id));
  };
  // What is added up over rows is priced by who adds it up.
  const auto add_results = [&](TensorKind kind) {
    for (const step::TensorId id : task.cell.of_kind(kind))
      if (!task.cell.tensor(id).summed) add({id});
  };
  if (passes_products(task.problem))
    for (const step::TensorId id : product_tensors(task.cell))
      add_tensor(tensor_in_role({Role::Products, id}, task.cell), task.problem.storage);
  if (task.problem.pass == Pass::Backward) {
    const BackwardNeeds needs = backward_needs(task.cell);
    add(needs.inputs);
    for (const TensorRef& history : needs.history_tensors)
      history.role == Role::History ? add_history(history.tensor) : add({history.tensor});
    add(task.cell.of_kind(TensorKind::Output));  // their gradients
    add_results(TensorKind::Input);              // gradients written
  } else {
    add(task.cell.of_kind(TensorKind::Input));
    add_results(TensorKind::Output);
    if (task.problem.pass == Pass::ForwardSave)
      for (const step::TensorId id : stored_histories(task.cell)) add_history(id);
  }
  const step::Sizes& sizes = task.problem.sizes;
  return (per_step * sizes.batch + shared * (sizes.batch / rows)) * sizes.time * sizes.heads;
}

}  // namespace rondo::schedule
