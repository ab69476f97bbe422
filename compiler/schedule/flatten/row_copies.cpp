#include "compiler/schedule/flatten/row_copies.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/lower/element_copy.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/step/sizes.h"

namespace rondo::schedule {

namespace {

// A head's elements of one row.
std::int64_t block_of(const Task& walked, TensorRef ref) {
  return step::block(tensor_in_role(ref, walked.cell), walked.problem.sizes);
}

// Where an element of a batch row's state lies: [H, rows, block] to the caller, [rows, H, block] to the walk.
class StateOrder {
 public:
  StateOrder(const Task& walked, TensorRef state)
      : block_(block_of(walked, state)), rows_(walked.batch_rows.count), heads_(walked.problem.sizes.heads) {}

  std::int64_t elements() const { return heads_ * rows_ * block_; }
  // The place to the caller of the walk's i-th element, and the other way round.
  Value of_caller(Value i) const { return moved(i, heads_, rows_); }
  Value of_walk(Value i) const { return moved(i, rows_, heads_); }

 private:
  // Of [outer, inner, block] in [inner, outer, block].
  Value moved(Value i, std::int64_t inner, std::int64_t outer) const {
    return (i / block_ % inner * outer + i / (block_ * inner)) * block_ + i % block_;
  }

  std::int64_t block_, rows_, heads_;
};

}  // namespace

std::int64_t elements_of_row(const Task& walked, TensorRef ref) {
  return walked.problem.sizes.heads * block_of(walked, ref);
}

Launch state_to_rows(const Task& task, const Task& walked, TensorRef state, const WideTensor& of_rows) {
  const std::string name = name_of(state, task.cell);
  ElementCopy copy(task, fmt::format("{}_rows_of_{}", task.cell.name, name),
                   fmt::format("the rows of {} as rows of the batch", name));
  const KernelTensor from = copy.signature().reads(state);
  const KernelTensor to = copy.signature().between_launches(of_rows, name + "_rows", true);
  const StateOrder order(walked, state);
  const auto find = [&](Value i) { return ElementCopy::Place{{}, order.of_caller(i)}; };
  return copy.copy(to, order.elements(), {{from, order.elements(), find}}, executable::role_info(state.role));
}

Launch state_from_rows(const Task& task, const Task& walked, TensorRef state, const WideTensor& of_rows) {
  const std::string name = name_of(state, task.cell);
  ElementCopy copy(task, fmt::format("{}_of_rows_{}", task.cell.name, name),
                   fmt::format("{} of the rows of the batch", name));
  const KernelTensor to = copy.signature().writes(state);
  const KernelTensor from = copy.signature().between_launches(of_rows, name + "_rows", false);
  const StateOrder order(walked, state);
  const auto find = [&](Value i) { return ElementCopy::Place{{}, order.of_walk(i)}; };
  return copy.copy(to, order.elements(), {{from, order.elements(), find}}, executable::role_info(state.role));
}

Launch sum_over_rows(const Task& task, const Task& walked, TensorRef result, const WideTensor& of_rows) {
  const std::string name = name_of(result, task.cell);
  ElementCopy copy(task, fmt::format("{}_sum_{}", task.cell.name, name),
                   fmt::format("{}: the sum over the rows of a state", name));
  const KernelTensor to = copy.signature().writes(result);
  const KernelTensor from = copy.signature().between_launches(of_rows, name + "_rows", false);
  const std::int64_t each = elements_of_row(walked, result);
  const auto find = [](Value i) { return ElementCopy::Place{{}, i}; };
  return copy.copy(to, each, {{from, each, find, static_cast<int>(of_rows.size.batch_rows)}},
                   executable::role_info(result.role));
}

}  // namespace rondo::schedule
