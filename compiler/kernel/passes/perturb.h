// Stochastic arithmetic inside a kernel: its functions err as far as correct ones may.
#pragma once

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// The kernel with an error on every function (tanh, exponentials, divisions and the like), of at most its
// roundoff (scalar::roundoff(), of approximate forms if `fast`). An error seems random, because it follows
// the last bits of the function's argument: it is the same where a kernel runs again on the same numbers, and
// another one where they differ by a rounding. What squashes its argument, as tanh does, passes no other
// perturbation on.
Kernel with_erring_functions(const Kernel& kernel, bool fast);

}  // namespace rondo::kernel
