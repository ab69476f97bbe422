// Matrices packed the other way round, for products with gradients: the gradient of u in W @ u is W^T times
// that of the product.
#pragma once

#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Writes matrix[h, row, i, j] to packed[h, j, first_column + i], for all heads and i and j: [H, E, columns]
// of Role::Packed, from `packed` on.
struct PackedTranspose {
  step::TensorId matrix = -1;
  int row = 0;
  std::int64_t packed = 0, columns = 0, first_column = 0;
};
Launch transpose(const Task& task, const PackedTranspose& what);

}  // namespace rondo::schedule
