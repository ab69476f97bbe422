// Where the gradients of vector and scalar parameters lie before they are summed over the batch.
#pragma once

#include "compiler/schedule/problem/names.h"

namespace rondo::schedule {

// Rows of all vector and scalar parameters of the cell.
int param_rows(const step::Cell& cell);
// The first row of one of them.
int first_param_row(const step::Cell& cell, step::TensorId tensor);

}  // namespace rondo::schedule
