// Products of matrices with a vector of each step, over all steps at once: what a backward pass needs again
// of a forward pass that multiplies step by step. Sums in fp32.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/gemm/time_operand.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// The extents are those of the tensors: D, or that of an input and of the matrices that multiply it.
//
// out[b, t, h, i] = sum over j of matrix[h, row, i, j] * vector[b, t, h, j], rounded to the storage type. Or
// what another kind of product makes of the same matrix and vector.
//
// Of a matrix that another launch has packed, [H, columns of out, rows * D] of Role::Packed from `packed` on,
// the vector is so many neighbouring rows: out[b, t, h, i] = sum over k of packed[h, i, k] * vector[b, t, h,
// k].
struct TimeProduct {
  step::TensorId matrix = -1;  // a matrix parameter; -1: packed
  int row = 0;
  TimeOperand vector;
  RowRef out;
  ProductKind kind = ProductKind::Sum;
  std::int64_t packed = 0;
  int vector_rows = 1;
};

// One launch for products that share `vector`, all of one kind, which is that of the parameters. Blocks take
// tile_m steps of a batch row and tile_n outputs; products with neighbouring rows of one matrix and of one
// result are one product with as many more outputs. Matrices and tensors with a time axis are aligned to
// `vector` elements.
Launch time_product(const Task& task, const std::vector<TimeProduct>& products,
                    const std::vector<int>& scratch_rows, const GemmParameters& parameters);

// Seconds that a launch of so many products takes by the model: what bounds it, multiplying, on the tensor
// cores (fp32, and what these do not know: by multiply-adds), or moving vectors in and products out. Products
// of warpgroups took 16 to 30% less time than that on an H200; only the choice between strategies depends on
// it.
double seconds_of_time_product(const Task& task, int products);
// The same of vectors of `summed` elements, and of another kind.
double seconds_of_time_product(const Task& task, int products, std::int64_t summed,
                               ProductKind kind = ProductKind::Sum);

}  // namespace rondo::schedule
