// Gradients of the matrices of max-plus products: each row of a matrix gets its channel's gradient of a step
// at the column that the step has chosen.
#pragma once

#include <vector>

#include "compiler/schedule/gemm/matrix_gradient.h"

namespace rondo::schedule {

// Adds the chosen terms to the gradient of the matrix, which earlier launches have left: one launch for each
// row of the matrix that has some. Sums in fp32, in a fixed order.
std::vector<Launch> chosen_gradients(const Task& task, const std::vector<MatrixTerm>& terms,
                                     const std::vector<int>& scratch_rows, step::TensorId matrix);

}  // namespace rondo::schedule
