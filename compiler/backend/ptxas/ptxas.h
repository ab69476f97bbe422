// ptxas, NVIDIA's assembler, where a CUDA toolkit is installed: text of PTX in, cubin out. Needs no GPU.
#pragma once

#include <string>

#include "compiler/backend/ptxas/assembled.h"
#include "compiler/support/result.h"

namespace rondo::backend {

// Where it was found, and which one it is. Immutable; assemble() may run in several threads at once.
class Ptxas {
 public:
  // The process's assembler, looked for at the first call; later calls return the same answer. The
  // environment variable RONDO_PTXAS gives its path; "none" pretends that there is none. Else PATH, CUDA
  // toolkits and the wheels that tools/setup unpacks are searched. Error Missing.
  static Result<const Ptxas*> get();
  // As above for a path, "" or "none".
  static Result<Ptxas> find(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }  // "13.0"

  // Runs it for `arch` ("sm_90a"). Errors: Compile with its messages, Missing if it cannot be started.
  Result<Assembled> assemble(const std::string& ptx, const std::string& arch) const;

 private:
  std::string path_, version_;
};

}  // namespace rondo::backend
