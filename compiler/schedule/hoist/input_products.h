// Products of matrices with inputs, W @ u, that a walk over time need not make: they are the same whatever
// the states are. A cell that has no other products is walked without them, as a cell whose inputs are these
// products. Of inputs with an extent of their own a walk never sees any: their products are made for all
// steps, whatever else the cell multiplies.
#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

struct InputProducts {
  bool own_extents = false;  // some of these inputs have extents of their own
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

  bool in_walk(step::TensorId of_cell) const;
};

// Of a cell without extents of its own none where a matrix multiplies anything else; where of an input that
// is multiplied some row is not, or is also read by itself; where a pass is to hand its products on; and, so
// that its plans stay what they are, where the cell has lengths or its heads walk in two directions. Of a
// cell with such extents all its products under the first three of these conditions, and otherwise those of
// inputs that have extents of their own; none where no matrix multiplies some row of these.
std::optional<InputProducts> input_products(const Task& task);

}  // namespace rondo::schedule
