// Simplifier of KernelIR: folds integer and float constants, x*1, x+0, x/1, x%1, drops If with a constant
// condition, loops that run no or one time, Let registers nobody reads, and empty bodies. Values are
// unchanged bit for bit (no float reassociation).
#pragma once

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

Kernel simplify(Kernel kernel);

}  // namespace rondo::kernel
