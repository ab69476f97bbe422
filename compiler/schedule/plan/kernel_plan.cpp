#include "compiler/schedule/plan/kernel_plan.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/kernel/ir/print.h"

namespace rondo::schedule {

const WideTensor* find_wide(const KernelPlan& plan, TensorRef ref) {
  const auto found = std::ranges::find(plan.wide, ref, &WideTensor::ref);
  return found == plan.wide.end() ? nullptr : &*found;
}

namespace {

executable::SizeRule of_batch_rows(const KernelPlan& plan, executable::SizeRule size) {
  size.batch_rows = plan.batch_rows;
  return size;
}

// Of Role::Scratch. Products of inputs are made for the rows of the call.
executable::SizeRule scratch_size(const KernelPlan& plan, const Problem& problem, int tensor) {
  const std::int64_t rows = plan.scratch_rows.at(static_cast<std::size_t>(tensor));
  std::int64_t of_row = problem.sizes.dim;
  if (tensor == kShares && plan.shares > 0) of_row = plan.shares;
  if (tensor == kHeadValues) of_row = 1;
  const executable::SizeRule size{0, rows * problem.sizes.heads * of_row, 1, 1};
  const bool of_call = tensor == kInputProducts || tensor == kInputProductGradients;
  return of_call ? size : of_batch_rows(plan, size);
}

}  // namespace

executable::SizeRule internal_size(const KernelPlan& plan, const Problem& problem, TensorRef ref) {
  if (const WideTensor* wide = find_wide(plan, ref)) return wide->size;
  switch (ref.role) {
    case Role::Workspace:
      return of_batch_rows(plan, {plan.workspace_elements_fixed, plan.workspace_elements_per_batch});
    case Role::Exchange: return of_batch_rows(plan, plan.exchange);
    case Role::Packed: return of_batch_rows(plan, plan.packed);
    case Role::Vectors: return of_batch_rows(plan, plan.vectors);
    case Role::Carries: return of_batch_rows(plan, plan.carries);
    case Role::Report: return of_batch_rows(plan, plan.report);
    case Role::Scratch: return scratch_size(plan, problem, ref.tensor);
    default: throw std::logic_error("a tensor that is not internal has the size of its declaration");
  }
}

std::string print_kernels(const KernelPlan& plan) {
  std::string text;
  for (const Launch& launch : plan.launches) text += kernel::print(launch.kernel);
  return text;
}

executable::Grid grid_of(const Launch& launch) {
  return {
      {launch.blocks_fixed, launch.blocks_per_batch, launch.batch_tile, launch.time_tile, launch.batch_rows},
      launch.tiles_together};
}

std::int64_t grid_blocks(const Launch& launch, std::int64_t batch, std::int64_t time) {
  return grid_of(launch).blocks.at(batch, time);
}

}  // namespace rondo::schedule
