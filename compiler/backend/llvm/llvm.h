// LLVM, in librondo_llvm.so, opened at run time: text of LLVM IR in, assembly or an object file out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/support/dynamic_library.h"
#include "compiler/support/result.h"

struct rondo_llvm_interface;  // compiler/backend/llvm/library/entry.h

namespace rondo::backend {

// What code is generated for, in LLVM's words.
struct LlvmMachine {
  std::string triple;    // "nvptx64-nvidia-cuda"
  std::string cpu;       // "sm_90a"
  std::string features;  // "+ptx81"
};

enum class LlvmOutput { OptimisedIr, Assembly, Object };

// The loaded library. Immutable; compile() may run in several threads at once.
class Llvm {
 public:
  // The process's library, loaded at the first call; later calls return the same answer, success or error.
  // The environment variable RONDO_LLVM gives its path or its folder; "none" pretends that there is none.
  // Errors: Missing (no library), Unsupported (of another version of Rondo, or with an LLVM that is too old).
  static Result<const Llvm*> get();
  // One of its own from `path`: a file or a folder; "" searches beside the program, in ../lib and on the
  // linker's path; "none" fails as if there were none.
  static Result<std::unique_ptr<const Llvm>> open(const std::string& path);

  // Whether a file lies where get() would look, without opening it.
  static bool looks_installed();

  const std::string& version() const { return version_; }  // "22.1.8"
  std::string path() const { return library_.path(); }
  const std::vector<std::string>& targets() const { return targets_; }  // "nvptx64"

  // `optimise`: by the passes of -O3. `name` is how messages call the text. Errors: Unsupported (a target
  // that is not built in), Compile (with what LLVM says).
  Result<std::string> compile(const std::string& ir, const std::string& name, const LlvmMachine& machine,
                              LlvmOutput output, bool optimise = true) const;

 private:
  Llvm() = default;
  Status load(const std::string& path);

  DynamicLibrary library_;
  const rondo_llvm_interface* interface_ = nullptr;
  std::string version_;
  std::vector<std::string> targets_;
};

}  // namespace rondo::backend
