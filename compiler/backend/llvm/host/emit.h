// KernelIR -> LLVM IR for CPUs, as text: a block is a piece of work of one CPU thread, and its threads are
// the lanes of vectors, which run in lockstep (as in Pharr and Mark, "ispc", 2012). What differs between
// threads is a vector, branches that differ between them are masks, and barriers of a block do nothing.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/target/target.h"

namespace rondo::backend::host {

// What a kernel is as machine code. `arguments`: the address of each parameter's value; `shared`: the block's
// shared memory, 64-byte aligned.
using Entry = void (*)(void* const* arguments, std::int32_t block, std::int32_t grid, void* shared);

// One module for CPUs of a level (target/target.h) with every kernel as a function of that type. The kernels
// must pass kernel::verify. Throws std::logic_error for nodes that are instructions of GPUs: kernels for CPUs
// do without.
std::string emit(const std::vector<const kernel::Kernel*>& kernels, const target::Target& target);

}  // namespace rondo::backend::host
