// Sizes and strides of the tensors of a pass (layouts: step_ir.h, TensorKind; element types: artifact.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::runtime {

// Distances in elements between neighbouring batch rows and time steps.
struct Strides {
  std::int64_t b = 0;
  std::int64_t t = 0;
  friend bool operator==(const Strides&, const Strides&) = default;
};

// Elements of one (batch row, time step) of a tensor with a time axis; of one batch row of a state boundary;
// of the whole of a parameter. `ref` names a tensor of `cell`, or the products of a matrix of `cell`; none of
// an internal role.
std::int64_t unit_elements(schedule::TensorRef ref, const step::Cell& cell, const step::Sizes& sizes);
// Elements of the whole tensor at sizes.batch and sizes.time, laid out densely.
std::int64_t total_elements(schedule::TensorRef ref, const step::Cell& cell, const step::Sizes& sizes);
// [B, T, unit] without gaps.
Strides dense_strides(schedule::TensorRef ref, const step::Cell& cell, const step::Sizes& sizes);
// "[B, T, H, 4, D]"
std::string shape_text(schedule::TensorRef ref, const step::Cell& cell);

// What a caller may or must give a pass.
enum class Need {
  Required,  // inputs, parameters, outputs; histories, saved products; what Backward reads of the forward
             // pass
  Zero,      // read; zero if not bound: initial states, gradients of outputs and last states
  Discard,   // written; thrown away if not bound: last states, gradients that nobody wants
};
Need need_of(schedule::Role role);

}  // namespace rondo::runtime
