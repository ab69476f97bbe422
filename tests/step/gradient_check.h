// Compares the gradients of the reference executor with central differences of its forward pass.
#pragma once

#include <string>

#include "compiler/step/reference/executor.h"

namespace rondo::step::testing {

struct GradientReport {
  long compared = 0;
  long nonzero = 0;      // of those compared
  long unusable = 0;     // kinks, jumps, too curved
  double worst = 0;      // largest |gradient - measured| / (bound of the measurement's error)
  std::string mismatch;  // the first gradient outside its bound; "" if none
};

// Checks every element of every gradient of `cell`. Heads (and, but for parameters, batch elements) do not
// see each other, so that one forward pass measures the same element of all of them.
GradientReport check_gradients(const Cell& cell, const Sizes& sizes,
                               const ForwardArguments<double>& arguments, const LossGradients<double>& loss);

}  // namespace rondo::step::testing
