// Kernels in fp64: every real number of a kernel written in fp32 as a double.
#pragma once

#include "compiler/kernel/ir/ir.h"

namespace rondo::kernel {

// Registers, constants, functions and scalar arguments of F32 become those of F64, and memory of fp32 that of
// fp64. The least number of fp32, which stands for minus infinity where a maximum begins, becomes that of
// fp64. What has a meaning in fp32 alone is a defect of whoever asks (std::logic_error): 16-bit memory,
// packed pairs, numbers of tf32, products of tensor cores, words that are their own flags, and copies, whose
// bytes are those of fp32. Kernels for CPUs have none of these.
Kernel in_double(Kernel kernel);

}  // namespace rondo::kernel
