// The tangent cell of a cell: the same step, and beside it how everything changes to first order.
//
// Beside each input, parameter, state and output NAME stands a tensor NAME_tangent. A forward pass of the
// tangent cell takes a direction (tangents of inputs, parameters and initial states) and gives the derivative
// of outputs and last states along it: forward-mode differentiation, a Jacobian times a vector. Its backward
// pass with gradients for the tangents of outputs alone gives, at the inputs and parameters themselves, a
// vector times the second derivative (Pearlmutter, "Fast exact multiplication by the Hessian", 1994).
//
// It is a cell like any other. The tangents follow from the values by the derivative table and are linear in
// the tangents that are given, with products of the matrices with tangents and of the matrices' tangents with
// values: (R h)' = R h' + R' h. An affine cell's is affine, a diagonal cell's is diagonal.
#pragma once

#include <string>

#include "compiler/step/step_ir.h"
#include "compiler/support/result.h"

namespace rondo::step {

// The name of the tensor that holds the tangent of the tensor `name`.
std::string tangent_name(const std::string& name);

// Of a cell that may be clipped forward, and has no forms (forms.h) yet. Parameters and inputs that nothing
// differentiable depends on, such as the seed of draws, have no tangent; a state begins with a tangent of
// zero. The result is simplified, with the tangents' tensors behind those of the cell in the same order.
// Errors (Input): the cell is a tangent cell already, has something of a tangent's name, a max-plus product,
// or bounds its gradient, which then is no derivative of anything.
Result<Cell> tangent(const Cell& cell);

// Whether the tensor, of a tangent cell, holds the tangent of another one.
bool is_tangent(const Cell& cell, TensorId tensor);

}  // namespace rondo::step
