#include "compiler/backend/ptxas/assembler.h"

#include "compiler/backend/ptxas/nvjitlink.h"
#include "compiler/backend/ptxas/ptxas.h"

namespace rondo::backend {

std::string assembler_name() {
  if (const auto ptxas = Ptxas::get()) return "ptxas " + (*ptxas)->version();
  const auto linker = NvJitLink::get();
  return linker ? "nvjitlink " + (*linker)->version() : "driver";
}

bool can_assemble(const std::string& ptx) {
  if (Ptxas::get()) return true;
  return NvJitLink::get().ok() && ptx.find("setmaxnreg") == std::string::npos;
}

Result<Assembled> assemble(const std::string& ptx, const std::string& arch) {
  if (const auto ptxas = Ptxas::get()) return (*ptxas)->assemble(ptx, arch);
  const auto linker = NvJitLink::get();
  if (!linker) return linker.error();
  return (*linker)->assemble(ptx, arch);
}

}  // namespace rondo::backend
