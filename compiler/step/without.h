// A cell without some of its parameters, as if its text did not have them: what is left out counts as zero.
//
// That is sensible of a bias alone: a parameter, not a matrix, that is only ever a term of a sum or of a
// difference. A factor or a decay of zero would be another cell. The step is rewritten and simplified, so
// plans of the cell take no tensor for the parameter, compute no gradient of it, and share all keys with a
// cell that is written without.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::step {

// Call it on the cell as parsed, before it is clipped and has forms. Errors (Input): no parameter of a name,
// a name twice, or a parameter that is no bias, or whose range has no zero.
Result<Cell> without_parameters(const Cell& cell, const std::vector<std::string>& names);

// Keeps the tensors of a cell for which `keeps` is true, in their order. Nodes of the others become the
// constant 0, and their rows go. `keeps` must not read the cell, whose tensors are moved out meanwhile.
// Returns by old tensor the new one, or -1.
std::vector<TensorId> keep_tensors(Cell& cell, const std::function<bool(TensorId)>& keeps);

}  // namespace rondo::step
