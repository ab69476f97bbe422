// Stochastic arithmetic: a run of the reference in which every rounding errs at random. The spread of several
// such runs around the exact one is what correct kernels may differ by (Parker, Pierce, Eggert 2000, "Monte
// Carlo arithmetic"; Vignes 2004, "Discrete stochastic arithmetic"): it follows the conditioning of this cell
// on these data, which a fixed tolerance does not know.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "compiler/scalar/storage.h"

namespace rondo::step {

struct Perturbation {
  std::uint64_t seed = 1;
  // Errors are uniform between minus and plus the largest possible ones, times this. A negative one repeats
  // the run of the same seed with all errors turned round.
  double amplitude = 1;
  bool fast_math = false;  // the approximate forms of functions (scalar::roundoff)
  // The type to which kernels round inside a pass (docs/numerics.md): factors of matrix products and, in a
  // backward pass, the states of the forward pass, its products, and factors of matrix gradients. A carry is
  // never rounded to it: that, and all else, is fp32. F64: all is fp64.
  scalar::Storage stored = scalar::Storage::F32;
  double product =
      0;  // unit roundoff of both operands of a matrix product, if they are rounded further (tf32)
  // An error keeps its value over all steps, so that errors add up instead of cancelling: what a constant
  // gate makes of rounding.
  bool steady = false;
  // States whose histories are not rounded to `stored` but are fp32.
  std::set<std::string> kept_in_fp32 = {};
  // The states that a backward pass reads are those that were stored: nothing rounds them any more.
  bool exact_history = false;
};

}  // namespace rondo::step
