// NVRTC, NVIDIA's run-time compiler, opened at run time: CUDA C++ text in, cubin out. Needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/backend/interface/backend.h"
#include "compiler/support/dynamic_library.h"
#include "compiler/support/result.h"

namespace rondo::backend {

inline constexpr const char* kNvrtc = "nvrtc";  // its name in keys and records

struct NvrtcVersion {
  int major = 0;
  int minor = 0;
  std::string text() const;  // "13.0"
};

struct NvrtcApi;  // nvrtc.cpp

// The loaded compiler. Immutable; compile() may run in several threads at once.
class Nvrtc {
 public:
  // The process's compiler, loaded at the first call; later calls return the same answer, success or error.
  // The environment variable RONDO_NVRTC gives the library's path or its folder; "none" pretends that there
  // is none. Errors: Missing (no library), Unsupported (too old).
  static Result<const Nvrtc*> get();

  // A compiler of its own from `path`: a file or a folder; "" searches the linker's path, CUDA toolkits and
  // Python wheels; "none" fails as if nothing were installed.
  static Result<std::unique_ptr<const Nvrtc>> open(const std::string& path);

  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  NvrtcVersion version() const { return version_; }
  std::string path() const { return library_.path(); }  // the library file in use

  // Compute capabilities it compiles for, ascending: 80, 86, 90, ...
  const std::vector<int>& supported_archs() const { return archs_; }

  // Compiles `source` to a cubin for exactly `arch` ("sm_90", "sm_90a", ...). `name` is how messages call the
  // source
  // ("x.cu"); `flags` are NVRTC options beyond the architecture. Errors: Input (no architecture's name),
  // Unsupported (an architecture it does not know), Compile (with the source around the first error and the
  // whole log), Missing (its built-ins library).
  Result<Compiled> compile(const std::string& source, const std::string& name, const std::string& arch,
                           const std::vector<std::string>& flags = {}) const;
  // The same to PTX, for `arch` ("sm_80") and all later ones; without resources.
  Result<Compiled> compile_to_ptx(const std::string& source, const std::string& name, const std::string& arch,
                                  const std::vector<std::string>& flags = {}) const;

 private:
  Nvrtc();
  Status load(const std::string& path);
  Status check_arch(const std::string& arch) const;
  // With exactly these options. An image without resources where the log does not say them.
  Result<Compiled> compile_once(const std::string& source, const std::string& name, const std::string& arch,
                                executable::ImageKind kind, const std::vector<std::string>& options) const;

  DynamicLibrary builtins_;  // closed after library_, which uses it
  DynamicLibrary library_;
  std::unique_ptr<NvrtcApi> api_;
  NvrtcVersion version_;
  std::vector<int> archs_;
};

// The lines of `source` around the first error that `log` reports for file `name`, numbered, the line itself
// marked with '>'. Empty when the log names no line of it.
std::string source_excerpt(const std::string& source, const std::string& name, const std::string& log);

}  // namespace rondo::backend
