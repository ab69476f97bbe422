// Gradients of matrices: sums over all steps of outer products. Sums in fp32, in a
// fixed order: runs are bit-identical.
#pragma once

#include <vector>

#include "compiler/schedule/gemm/time_operand.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// gradient[h, row, i, j] += sum over b and t of left[b, t, h, i] * right[b, t, h, j]. Or of
// left[b, t, h, i] where right[b, t, h, i] is j.
struct MatrixTerm {
  step::TensorId matrix = -1;
  int row = 0;
  TimeOperand left, right;
  bool chosen = false;
};

// The gradient (Role::ParamGradient) of every matrix of the cell that is not left out; rows without a term
// get zeros, and where the cell has lengths nothing is read of inputs past the end of a row. Rows whose terms
// have neighbouring rows as left operands are worked on together, each such run in one launch. Its steps are
// cut into parameters.split_k parts, which launches at the end add; chosen terms come last. Tensors with a
// time axis are aligned to `vector` elements; gradients only to their own.
std::vector<Launch> matrix_gradients(const Task& task, const std::vector<MatrixTerm>& terms,
                                     const std::vector<int>& scratch_rows, const GemmParameters& parameters,
                                     const std::vector<step::TensorId>& left_out = {});

// fp32 elements of workspace these launches use, from its begin on.
std::int64_t matrix_gradient_workspace(const Task& task, const std::vector<MatrixTerm>& terms,
                                       const GemmParameters& parameters);

}  // namespace rondo::schedule
