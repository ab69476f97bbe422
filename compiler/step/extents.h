// Extents of a cell's own: `cell lstmp(D, P = 128)`, `state h[P]`, `param R[4, D, P], W[P, D]`, `R @ h`. Each
// is a constant of the cell, which a caller overrides as any other, and must be a whole number.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::step {

inline constexpr std::int64_t kMostInner = 65'536;  // of an extent

// Whether a number may be an extent: whole, and from 1 to kMostInner.
bool is_extent(double value);

bool has_extents(const Cell& cell);
// Whether a constant is one that names an extent of some tensor.
bool is_extent_constant(const Cell& cell, int const_index);

// Error Input where an override of an extent is no extent.
Status check_extents(const Cell& cell, const std::map<std::string, double>& overrides);
// The cell with its tensors as large as the overrides say, which are checked; its constants keep their
// defaults.
Cell with_extents(Cell cell, const std::map<std::string, double>& overrides);

// Whether the node is another one in valid steps only, by which forms.h takes what a product multiplies.
bool chooses_valid_steps(const Cell& cell, const Node& node);

// By constant: whether it is an extent that a walk over time has. Others are of inputs that matrices multiply
// and nothing else reads, so that their products need no walk.
std::vector<bool> walked_extents(const Cell& cell);
// Whether the matrix multiplies inputs whose extent no walk has.
bool multiplies_beside_walk(const Cell& cell, const Tensor& matrix);

// By node of a graph over the cell's tensors: the extent that its channels have in the place of D.
std::vector<InnerExtent> inner_extents(const Cell& cell, const Graph& graph);

}  // namespace rondo::step
