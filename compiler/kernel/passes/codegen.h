// What every backend has to know of a kernel, whatever it writes.
#pragma once

#include <set>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// A buffer that other blocks write while this one waits for them is not exclusive: a compiler that took it
// for `restrict` could keep what it loaded, or load early, across the wait.
bool exclusive(const Kernel& kernel, const Param& param);

// Whether threads remember that a wait for other blocks has ended in vain. A phase that never completed must
// not be told of more arrivals: too many are an error of the hardware.
bool counts_vain_waits(const Kernel& kernel);

// Register arrays that products of warpgroups are added to.
std::set<ArrayId> accumulators(const Kernel& kernel);

// Bytes that shared memory is aligned to, for kernels of one translation unit: the widest access, or what
// operands of warpgroups need (PanelOperand).
int shared_alignment(const std::vector<const Kernel*>& kernels);

// Storage of the buffer or shared array.
Storage storage_of(const Kernel& kernel, const MemRef& place);

// Whether the access is one of ld/st.global.cs. The hint is for global memory. The load does not tell a
// compiler that it reads memory, so a buffer that the kernel also writes is loaded plainly.
bool streaming(const Kernel& kernel, const MemRef& place, CacheHint hint, bool load);

// Elements between the panels of an operand: 8 where there is but one, as the hardware does not look.
int panel_elements(const PanelOperand& operand);

}  // namespace rondo::kernel
