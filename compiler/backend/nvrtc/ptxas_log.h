// What the kernels of a cubin use (registers, shared memory, stack, spills), read without a GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::runtime {

// One kernel. The counts are per thread, except shared_bytes and max_threads (per block).
struct KernelResources {
  std::string name;           // mangled, as the driver looks it up
  int registers = 0;          // 32-bit registers
  int shared_bytes = 0;       // static shared memory, without what the system reserves
  int stack_bytes = 0;        // local memory for the stack, callees included
  int spill_store_bytes = 0;  // from the log; callees included
  int spill_load_bytes = 0;
  int max_threads =
      0;  // threads of a block that the kernel was compiled for (__launch_bounds__); 0 when unlimited

  bool spills() const { return spill_store_bytes > 0 || spill_load_bytes > 0; }
  bool operator==(const KernelResources&) const = default;
};

// Reads the kernels of `cubin` (the bytes of an ELF file as ptxas writes it) in the order of its symbol
// table. Spill counts are 0: the cubin does not hold them. Any bytes are safe: what is no well-formed cubin
// gives an error of kind Input that says where it breaks.
Result<std::vector<KernelResources>> read_cubin(std::string_view cubin);

// The same, completed from the log of the compilation that made it (ptxas --verbose): spills, and the static
// shared memory as ptxas states it. Kernels that the log does not mention keep what the cubin says.
Result<std::vector<KernelResources>> read_cubin(std::string_view cubin, std::string_view log);

// What a ptxas --verbose log says, one entry a kernel in its order; max_threads is not in it (0). Lines that
// are not ptxas's are skipped.
std::vector<KernelResources> read_ptxas_log(std::string_view log);

}  // namespace rondo::runtime
