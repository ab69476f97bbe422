// Stochastic arithmetic inside a kernel: its functions err as far as correct ones may.
#pragma once

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// The kernel with an error on every function (tanh, exponentials, divisions and the like). It is at most the
// function's roundoff (scalar::roundoff(), of approximate forms if `fast`); where that grows with the
// argument, the roundoff of an argument of 4. The error seems random, because it follows the last bits of the
// argument: a run on the same numbers has the same errors, and a run whose numbers differ by a rounding has
// others. Errors of the inputs alone would not do: a saturated tanh hides them, and its own error stays.
Kernel with_erring_functions(const Kernel& kernel, bool fast);

}  // namespace rondo::kernel
