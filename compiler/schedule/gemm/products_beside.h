// Who makes products of inputs for all steps beside a walk over time, and what a backward pass wants of them
// (hoist/hoisting.h).
#pragma once

#include <vector>

#include "compiler/schedule/gemm/matrix_gradient.h"
#include "compiler/schedule/gemm/time_product.h"

namespace rondo::schedule {

class ProductsBeside {
 public:
  ProductsBeside() = default;
  ProductsBeside(const ProductsBeside&) = delete;
  ProductsBeside& operator=(const ProductsBeside&) = delete;
  virtual ~ProductsBeside() = default;

  // Products that share their vector.
  virtual std::vector<Launch> products(const std::vector<TimeProduct>& same) = 0;
  // The gradient of that vector: what the transposes of its matrices give of the gradients of the products,
  // which are neighbouring rows of a tensor from `gradients` on, in the order of the products.
  virtual std::vector<Launch> vector_gradient(const std::vector<TimeProduct>& same, RowRef gradients) = 0;
  // The gradients of all matrices but those that are left out.
  virtual std::vector<Launch> gradients(const std::vector<MatrixTerm>& terms,
                                        const std::vector<step::TensorId>& left_out) = 0;
  // fp32 elements of workspace that the gradients use.
  virtual std::int64_t workspace(const std::vector<MatrixTerm>& terms) const = 0;
  // Where the elements of Role::Packed end that all of these launches use.
  virtual std::int64_t packed_end() const = 0;
};

// What it is made of. `scratch_rows` are of the whole plan, and `packed` is the first element of Role::Packed
// that the walk leaves.
struct BesideWhat {
  const Task& task;
  const std::vector<int>& scratch_rows;
  std::int64_t packed = 0;
  int alignment = 2;             // bytes: KernelPlan::alignment
  bool walk_multiplies = false;  // the walk has matrices of its own
};

}  // namespace rondo::schedule
