// Whether a problem can be asked of a cell at all, whatever the strategy.
#pragma once

#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"

namespace rondo::schedule {

// Asked where a problem meets a cell: before points are listed, and before kernels are built. Errors: Input
// for a constant that the cell has not (with those it has) or that is not finite, and for an extent below 1;
// Unsupported for a tensor too large for kernels, which count the elements of one step in 32 bits.
Status check_problem(const step::Cell& cell, const Problem& problem);
// The same of a task. Errors also: Unsupported (fp64 on a GPU).
Status check_problem(const Task& task);

}  // namespace rondo::schedule
