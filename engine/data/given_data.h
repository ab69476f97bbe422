// The caller's arrays in the place of random numbers, for whoever compares a kernel or times it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/executable/tensor.h"
#include "compiler/step/reference/executor.h"

namespace rondo::engine {

// What to do where random numbers leave the domain of a cell.
inline constexpr const char* kOtherData =
    "say in the cell's text where numbers lie (`input x[D] in (0, 1)`, `state v[D] = 1`), give data of your "
    "own "
    "(--input, --param-file, --state), or take fewer steps";

// Some tensors of a cell, at sizes of their own; what is not among them stays random. A run of other sizes
// repeats rows and steps: its row b is row b mod B of these, and its step t is step t mod T.
struct GivenData {
  step::Sizes sizes;
  step::ForwardArguments<double> arguments;  // without constants

  bool has_states() const { return !arguments.initial_states.empty(); }
};

using Given = std::shared_ptr<const GivenData>;  // null: all is random

// The values of a tensor in a role at the sizes of a run, whose heads and channels are those of the data.
// None where the data do not have it; `given` may be null.
std::optional<std::vector<double>> given_values(const GivenData* given, executable::Role role,
                                                const step::Tensor& tensor, const step::Sizes& sizes);

}  // namespace rondo::engine
