// How often the registers of a kernel are read.
#pragma once

#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::backend::cuda {

// By RegId: how often the kernel's text names the register as an operand.
std::vector<int> reads_of(const kernel::Kernel& kernel);

}  // namespace rondo::backend::cuda
