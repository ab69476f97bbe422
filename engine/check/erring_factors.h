// Stochastic arithmetic inside a cell: what its matrices multiply errs as far as a kernel may round it.
#pragma once

#include <optional>

#include "compiler/schedule/problem/task.h"
#include "compiler/step/step_ir.h"

namespace rondo::engine {

// The cell in which each vector that a matrix multiplies is off by a random factor, drawn anew at every step
// and channel, of at most the roundoff of the problem's storage type (of tf32, where products take it). For a
// backward pass the products are too, and with them the gradients that the transposed matrices multiply; of
// inputs with an extent of their own the products alone are, in every pass.
// Errors of the inputs and of the matrices alone would not do: where a state has come to rest, errors that do
// not change with time only move it, and a difference of two steps does not show them. None where the cell
// multiplies nothing, or nothing is rounded to less than fp32. It has one parameter more, behind all other
// tensors, of two numbers a head: the seed, whose bits the draws follow, and what the errors are multiplied
// by, 1 or kFar (spread.h) of either sign; with 0 they round to nearest instead, as a kernel does.
std::optional<step::Cell> with_erring_factors(const schedule::Task& task);

}  // namespace rondo::engine
