// From where warps and blocks come to the barriers of a kernel.
#pragma once

#include <set>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Named barriers at which warps of two roles wait, each in its own branch of an `if`. An instruction of the
// aligned form is for all who wait at its barrier: synccheck of compute-sanitizer 13.0 reports others
// ("Divergent thread(s) in block"), though PTX ISA 9.7.13.1 asks alignment of the threads of one warp only.
std::set<int> awaited_in_two_roles(const Kernel& kernel);

// Mbarriers at which other blocks of the cluster arrive, or that count what they send: those waits must
// acquire from the cluster. For sm_90 ptxas invalidates the L1 then (CCTL.IVALL), so others do not.
std::set<MbarrierId> signalled_by_other_blocks(const Kernel& kernel);

}  // namespace rondo::kernel
