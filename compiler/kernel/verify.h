// Static checks of a Kernel: what every schedule must deliver and every backend may rely on.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/ir.h"

namespace rondo::kernel {

// Every defect in plain words, each naming the statement; empty if well formed: ids in range, types agree,
// registers are declared before use in an enclosing scope and once, Let registers never assigned, array
// indices compile-time and in range where known, vector widths legal (1, 2, 4, 8 elements and at most 16
// bytes), read-only buffers not stored to, copy sizes 4, 8 or 16 bytes, unrolled loops with constant bounds,
// barriers not under a condition or loop bound that differs between threads of the block (conservative
// dependence on ThreadX).
std::vector<std::string> verify(const Kernel& kernel);

}  // namespace rondo::kernel
