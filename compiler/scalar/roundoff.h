// How far a kernel's value of an op may lie from the exact one: what fp32 rounding and the approximations of
// the hardware leave. Verification draws errors of this size (step::Perturbation) to learn what a correct
// kernel may give.
#pragma once

#include "compiler/scalar/ops.h"

namespace rondo::scalar {

// The largest error is the sum of four terms, each a factor times a size.
struct Roundoff {
  double value = 0;     // times |result|
  double operand = 0;   // times the largest |operand|
  double scaled = 0;    // times |first operand * result|: the argument was rounded before an exponential
  double absolute = 0;  // times 1
  bool exact() const { return value == 0 && operand == 0 && scaled == 0 && absolute == 0; }
};

// `fast`: with hardware approximations. The bounds are those that stand beside the functions in
// compiler/backend/cuda/prelude/math.cuh, and those of the PTX ISA (section 9.7.3) and of the CUDA C++
// Programming Guide ("Mathematical Functions"). Sums count the rounding of their operands: a kernel may add
// up in another order, and what cancels at the end was large in between.
Roundoff roundoff(Op op, bool fast);

}  // namespace rondo::scalar
