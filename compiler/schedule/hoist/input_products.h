// Products of matrices with inputs, W @ u, that a walk over time need not make: they are the same whatever
// the states are. A cell that has no other products is walked without them, as a cell whose inputs are these
// products.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

struct InputProducts {
  // A product of the cell, matrix[row] @ input[input_row]. Its values are the row of `made` at its place in
  // `products`.
  struct Product {
    step::TensorId matrix, input;
    int row, input_row;
  };
  std::vector<Product> products;  // neighbours have the same vector
  step::Cell walked;              // the cell without them
  step::TensorId made = -1;       // its input that has their values
  // By tensor of `walked`: that of the cell; -1: `made`.
  std::vector<step::TensorId> tensors;
};

// None where a matrix multiplies anything else; where of an input that is multiplied some row is not, or is
// also read by itself; and where products could not be made ahead: the cell has lengths, past which inputs
// may be anything, its heads walk in two directions, or a pass is to hand its products on.
std::optional<InputProducts> input_products(const Task& task);

}  // namespace rondo::schedule
