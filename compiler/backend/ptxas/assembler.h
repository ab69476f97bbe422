// What makes a cubin of PTX here: ptxas where it is installed, else nvJitLink. nvJitLink is faster, for it
// starts no process and writes no files, but it assembles kernels so that they can be linked with others, as
// ptxas --compile-only does: it ignores setmaxnreg, and a kernel that relies on it spills.
#pragma once

#include <string>

#include "compiler/backend/ptxas/assembled.h"
#include "compiler/support/result.h"

namespace rondo::backend {

// Its name and version, "ptxas 13.0" or "nvjitlink 13.0"; "driver" where there is neither, and the driver
// assembles kernels when it loads them. What another assembler makes of the same PTX is code of its own, so
// this is part of a compiler's version.
std::string assembler_name();

// Whether one is there that makes as good a kernel of this text as the driver does.
bool can_assemble(const std::string& ptx);

// Assembles for `arch` ("sm_90a"). Errors: Missing where there is none, and those of Ptxas::assemble() or
// NvJitLink::assemble(): PTX that one refuses is not tried with the other.
Result<Assembled> assemble(const std::string& ptx, const std::string& arch);

}  // namespace rondo::backend
