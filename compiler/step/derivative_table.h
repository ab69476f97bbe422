// The derivative rules of the scalar ops: one table keyed by op, from which the backward step, the Jacobian
// step and the structure analysis are derived.
//
// Where an op has no derivative, the conventions of PyTorch hold: abs'(0) = sign(0) = 0, relu'(0) = 0; the
// gradient of min and max at a tie goes to the first argument; sign, comparisons, logic and the condition of
// select have derivative zero everywhere. So have round and floor. That of pow by its exponent is zero where
// the base is not positive, and atan2 has zero at the origin.
#pragma once

#include "compiler/step/step_ir.h"

namespace rondo::step {

// False where d op / d operand is zero wherever it exists (the value then depends on the operand by jumps
// only).
bool differentiable(scalar::Op op, int operand);

// Appends nodes for d result / d operands[operand], per channel, where `result` is a NodeKind::Scalar node of
// `graph`; may use the result itself (tanh' = 1 - tanh^2). kNoNode if it is not differentiable(). Not
// simplified.
NodeId partial(Graph& graph, NodeId result, int operand);

}  // namespace rondo::step
