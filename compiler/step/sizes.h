// The sizes at which a cell is run, and how many numbers its tensors have at them.
#pragma once

#include <cstdint>

#include "compiler/step/step_ir.h"

namespace rondo::step {

struct Sizes {
  std::int64_t batch = 1;  // B
  std::int64_t time = 1;   // T
  std::int64_t heads = 1;  // H
  std::int64_t dim = 1;    // D, channels a head
};

// Numbers that lie side by side in a tensor: 1, D, or an extent of its own in its place.
std::int64_t columns(const Tensor& tensor, const Sizes& sizes);
// Of a matrix: its output channels, D or an extent of its own in its place; otherwise 1.
std::int64_t outputs(const Tensor& tensor, const Sizes& sizes);
// Numbers of a tensor's row: columns for each output.
std::int64_t width(const Tensor& tensor, const Sizes& sizes);
// Numbers of all its rows, for one batch element, step and head.
std::int64_t block(const Tensor& tensor, const Sizes& sizes);
// Elements of `tensor` as an input, parameter, initial state or output at these sizes.
std::int64_t element_count(const Tensor& tensor, const Sizes& sizes);
// Elements of a state's saved history [B, T, H, rows, D].
std::int64_t history_count(const Tensor& state, const Sizes& sizes);

}  // namespace rondo::step
