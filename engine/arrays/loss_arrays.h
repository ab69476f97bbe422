// The weights of a loss, which is a weighted sum of outputs and last states, in the caller's arrays.
#pragma once

#include "engine/arrays/run_arrays.h"

namespace rondo::engine {

struct LossArrays {
  std::vector<NamedArray> outputs;      // by the output's name: [B, T, H, lead..., D]
  std::vector<NamedArray> last_states;  // by the state's name: [B, H, lead..., D]
};

// The weights at the sizes of a run, those of outputs rounded to `storage`, of last states to fp32. Without
// any array every element of every output weighs 1; with one, what has none weighs nothing. Errors (Input)
// name tensor, file and shape: unknown, given twice, of another shape, an element type that does not fit,
// and weights that are not finite.
Result<step::LossGradients<double>> to_loss(const step::Cell& cell, const step::Sizes& sizes,
                                            const LossArrays& arrays, kernel::Storage storage);

}  // namespace rondo::engine
