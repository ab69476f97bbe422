// nvJitLink, NVIDIA's linker as a library (libnvJitLink.so), which has ptxas in it: text of PTX in, cubin
// out, without a process or a file. Needs no GPU.
#pragma once

#include <memory>
#include <string>

#include "compiler/backend/ptxas/assembled.h"
#include "compiler/support/dynamic_library.h"
#include "compiler/support/result.h"

namespace rondo::backend {

struct NvJitLinkApi;

// The loaded library. Immutable; assemble() may run in several threads at once.
class NvJitLink {
 public:
  // The process's library, opened at the first call; later calls return the same answer. The environment
  // variable RONDO_NVJITLINK gives its path or its folder; "none" pretends that there is none. Else the
  // linker's path, CUDA toolkits and Python environments are searched (toolkit_search.h). Errors: Missing,
  // Unsupported (a library that is not nvJitLink 12.0 or newer).
  static Result<const NvJitLink*> get();
  // One of its own from `path`: "", a file, a folder or "none".
  static Result<std::unique_ptr<const NvJitLink>> open(const std::string& path);
  ~NvJitLink();

  std::string path() const { return library_.path(); }
  const std::string& version() const { return version_; }  // "13.0"

  // Assembles for `arch` ("sm_90a"). Errors: Compile with its messages, Unsupported for an architecture that
  // this version does not know.
  Result<Assembled> assemble(const std::string& ptx, const std::string& arch) const;

 private:
  NvJitLink();
  Status load(const std::string& path);

  DynamicLibrary library_;
  std::unique_ptr<NvJitLinkApi> api_;
  std::string version_;
};

}  // namespace rondo::backend
