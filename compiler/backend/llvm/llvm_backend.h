// The backend that writes LLVM IR, and compiles it with LLVM: for GPUs (compiler/backend/llvm/nvptx) to PTX
// and, where there is an assembler, to a cubin; for CPUs (compiler/backend/llvm/host) to an object file.
#pragma once

#include "compiler/backend/interface/backend.h"
#include "compiler/backend/llvm/llvm.h"

namespace rondo::backend {

const Backend& llvm_backend();

// What LLVM is told of an NVIDIA GPU: its name, and the least version of PTX that has all instructions that
// the kernels may use there. Drivers take that version and all before.
LlvmMachine nvptx_machine(const target::Target& target);
// The same of a CPU.
LlvmMachine host_machine(const target::Target& target);

}  // namespace rondo::backend
