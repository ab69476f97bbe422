// Clipping of the recurrent path, against activations and gradients that grow with every step.
//
//   forward c    what is carried from one step to the next is clamped to [-c, c], and so is an output
//                that is a state. The gradient is that of the clamp: none passes where it is active.
//   gradient g   the gradient that leaves a step towards the one before is clamped to [-g, g], before the
//                gradient of the output of that step is added. So is the gradient of the initial state: a
//                sequence cut in two calls has the gradients of the whole.
//
// FlashRNN clips `y`, the state that its recurrent matrix multiplies (`forward_clipval`,
// `gradient_recurrent_clipval`). Here it is those rows of states which reach a matrix product, however they
// get there; where no state reaches one, every state is the recurrence. FlashRNN lets gradients through a
// clamped value as if it were not; here they are those of what is computed.
#pragma once

#include <string>
#include <vector>

#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::step {

// The cell with its recurrence clipped: the clamps of the forward step become part of the graph, that of the
// gradient is applied by backward_step(). Errors (Input): a bound that is not a positive number of fp32; a
// cell that is clipped already.
Result<Cell> clipped(const Cell& cell, const Clip& clip);

// Whether each row of Cell::next is clipped, if anything is.
std::vector<bool> recurrent_rows(const Cell& cell);

// clamp(value, -bound, bound) that lets NaN through: a failure must not look like a bound reached.
NodeId clamp_to(Graph& graph, NodeId value, double bound);

// What is clipped, in plain words, for `rondo check`; "" if nothing is.
std::string describe_clip(const Cell& cell);

}  // namespace rondo::step
