// What kernels use of a GPU (registers, shared memory, stack, spills), as the assembler reports it.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/executable/executable.h"

namespace rondo::backend {

// What a log of ptxas --verbose says, one entry a kernel in its order; max_threads is not in it (0). Any text
// is safe: lines that are not ptxas's are skipped.
std::vector<executable::KernelResources> read_ptxas_log(std::string_view log);

}  // namespace rondo::backend
