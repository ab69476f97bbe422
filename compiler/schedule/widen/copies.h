// Copies between a tensor with an extent of its own and what a walk has in its place: the same tensor with D
// channels, of which those behind the extent are 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// A tensor of a walk, as the walk declares it; `transposed`: of a matrix that is given the other way round.
struct WideSide {
  const WideTensor* tensor;
  step::Tensor declared;
  bool transposed = false;
};

// Elements of a (batch row, step), of a batch row, or of all, of the tensor as it is given.
std::int64_t elements_of(const step::Tensor& tensor, const Task& task);

// `narrow`: of the task's cell.
Launch copy_to_wide(const Task& task, TensorRef narrow, const WideSide& wide);
// The sum of all, of which there is at least one.
Launch copy_from_wide(const Task& task, TensorRef narrow, const std::vector<WideSide>& wide);
// The parameter that is 1 in the first `size` channels of every head, and 0 in those behind.
Launch write_mask(const Task& task, const WideTensor& wide, std::int64_t size, const std::string& name);

}  // namespace rondo::schedule
