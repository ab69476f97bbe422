// A cell of one row of the states of another one. Where a step does the same to all rows of its states, and
// multiplies each by the same matrices, its rows are sequences of their own: so many more rows of the batch.
// Of inputs with as many rows each has its own, and other inputs they share. Sums over rows may only go to
// outputs: each row of the batch then writes its contribution, and the output is their sum.
#pragma once

#include <optional>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Fewer rows than these stay in one step: kernels have them side by side.
inline constexpr int kLeastRowsFlattened = 8;

struct FlattenedCell {
  step::Cell cell;  // tensors keep their numbers
  BatchRows rows;
};

// Of a simplified cell. None where a state has no such rows, rows meet in a state, no product is one of a
// row, or numbers depend on their place in the batch.
std::optional<FlattenedCell> flattened(const step::Cell& cell);

}  // namespace rondo::schedule
