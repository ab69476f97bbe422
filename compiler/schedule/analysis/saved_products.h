// Products of the forward step that the forward (training) pass stores if Problem::save_products is set, so
// that the backward pass reads them instead of multiplying again. Products are stored one by one, so forward
// reduce-scatter is not available for a step that adds them up.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/schedule/analysis/history.h"

namespace rondo::schedule {

// All products that the backward step reads, by their node of the simplified cell: each has a row of its
// matrix's tensor of Role::Products, in the order of the matrix's rows. Those that only lead to other
// products are not among them, nor those of inputs with an extent of their own, which no walk makes. Empty
// for a cell whose backward step needs none.
std::map<step::NodeId, RowRef> saved_products(const step::Cell& cell);

// Matrices with such products, and how many of a matrix.
std::vector<step::TensorId> product_tensors(const step::Cell& cell);
int product_rows(const step::Cell& cell, step::TensorId matrix);

// The tensor as it is in this role: the cell's declaration, but for Products. Not of internal roles.
step::Tensor tensor_in_role(TensorRef ref, const step::Cell& cell);

// A simplified cell with its saved products as outputs, so that the reference executor gives them. An
// output's name can be none of the cell's own.
step::Cell with_product_outputs(step::Cell cell);
std::string product_output(const step::Tensor& matrix);

}  // namespace rondo::schedule
