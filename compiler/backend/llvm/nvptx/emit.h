// KernelIR -> LLVM IR for NVIDIA's GPUs, as text: node by node, by the visitors that the CUDA text is written
// by. The text is whole: helpers are functions in it (prelude/*.ll), and it needs neither headers nor
// libdevice.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"
#include "compiler/target/target.h"

namespace rondo::backend::nvptx {

// One module with every kernel as a `ptx_kernel` function, for LLVM 22 or newer. `target` decides between
// forms of some nodes (products of warpgroups, waits at mbarriers), as the preprocessor does in the CUDA
// text. The kernels must pass kernel::verify.
std::string emit(const std::vector<const kernel::Kernel*>& kernels, const target::Target& target);

}  // namespace rondo::backend::nvptx
