// Gradients of matrices on CPUs: sums of outer products of all steps.
#pragma once

#include <vector>

#include "compiler/schedule/gemm/matrix_gradient.h"
#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// The gradients of all matrices but those that are left out. Where the cell has lengths nothing is read of
// inputs past the end of a row.
std::vector<Launch> host_matrix_gradients(const Task& task, const HostParameters& parameters,
                                          const std::vector<int>& scratch_rows,
                                          const std::vector<MatrixTerm>& terms,
                                          const std::vector<step::TensorId>& left_out);

}  // namespace rondo::schedule
