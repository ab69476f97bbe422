// How many elements the tensors of a pass have (layouts: step_ir.h, TensorKind).
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/problem/problem.h"
#include "compiler/schedule/problem/tensor_ref.h"

namespace rondo::schedule {

// Elements of one (batch row, time step) of a tensor with a time axis; of one batch row of a state boundary;
// of the whole of a parameter. `ref` names a tensor of `cell`, or the products of a matrix of `cell`; none of
// an internal role.
std::int64_t unit_elements(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes);
// Elements of the whole tensor at sizes.batch and sizes.time, laid out densely.
std::int64_t total_elements(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes);

// The axes of a tensor, outermost first: of [B, T, H, rows, D], for example.
struct Axis {
  const char* name;  // "B", "T", "H", "row", "D"; the columns of a matrix are "column"
  std::int64_t extent;
};
std::vector<Axis> axes_of(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes);

}  // namespace rondo::schedule
