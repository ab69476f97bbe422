// Which named barriers of a kernel two roles wait at, and which mbarriers other blocks signal.
#pragma once

#include <set>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Named barriers at which warps of two roles wait, each in its own branch of an `if`. They need the
// non-aligned instruction: synccheck of compute-sanitizer 13.0 takes an aligned barrier for divergence where
// warps wait at it from two places ("Divergent thread(s) in block"), though PTX ISA 9.7.13.1 asks alignment
// of the threads of one warp only.
std::set<int> awaited_in_two_roles(const Kernel& kernel);

// Mbarriers at which other blocks of the cluster arrive, or that count the bytes they send. Waits at these
// must acquire from the cluster. Waits at the others do not, because for sm_90 ptxas invalidates the L1 at
// such an acquire (CCTL.IVALL).
std::set<MbarrierId> signalled_by_other_blocks(const Kernel& kernel);

}  // namespace rondo::kernel
