// Static checks of a Kernel. Every schedule must pass them, and every backend may rely on them.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Every defect in plain words, each naming the statement; empty if well formed: ids in range, types agree,
// registers are declared before use in an enclosing scope and once, Let registers never assigned, array
// indices compile-time and in range where known, vector widths legal (1, 2, 4, 8 elements and at most 16
// bytes), read-only buffers not stored to, copy sizes 4, 8 or 16 bytes, unrolled loops with constant bounds,
// barriers of the block or cluster not under a condition or loop bound that differs between its threads
// (conservative dependence on ThreadX, and on BlockX and ClusterRank), named barriers at which
// somebody waits, fragments and matrices inside their arrays, mbarriers and ranks in range, clusters and grid
// flags only in kernels that are launched for them.
std::vector<std::string> verify(const Kernel& kernel);

}  // namespace rondo::kernel
