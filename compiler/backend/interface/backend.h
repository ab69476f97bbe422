// A backend turns KernelIR into code for a GPU in two steps: `lower` writes a text in this process, `compile`
// makes an image of the text, in this process or in another one that knows nothing of kernels. To add one: a
// class here below, and a line in compiler/backend/backends.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/executable/executable.h"
#include "compiler/kernel/ir/ir.h"
#include "compiler/kernel/passes/features.h"
#include "compiler/support/result.h"
#include "compiler/target/target.h"

namespace rondo::backend {

// One translation unit, in the language that the backend compiles.
struct Source {
  std::string text;
  kernel::FeatureSet features;  // of all its kernels
  // Where parts begin that can be compiled by themselves, each together with what stands before the first;
  // ascending. Empty: the text is one.
  std::vector<std::size_t> parts = {};
};

// What the code of a source is made for: the target, by the architecture's own name where features need it,
// and of CPUs with matrix tiles the level below where no kernel uses them.
// Kernels do without such features on architectures before sm_90.
target::Target target_for(const target::Target& target, const kernel::FeatureSet& features);

// One compilation. Backend, text, parts, target, flags and kind decide, with the compiler's version, the code
// down to the byte; `name` is only how messages call the text.
struct Request {
  std::string backend;  // Backend::name()
  std::string text;
  std::string name;
  target::Target target;
  std::vector<std::string> flags;  // beyond the target
  // Ptx: text for this target and all later ones, which the driver compiles when it loads it. Its resources
  // are not known. Not of a specific target.
  executable::ImageKind kind = executable::ImageKind::Cubin;
  std::vector<std::size_t> parts = {};  // Source::parts
  int threads = 0;                      // that compile them, 0: one a core; the code is the same
  bool operator==(const Request&) const = default;
};

struct Compiled {
  executable::Image image;  // max_threads of its resources is 0: kernels know it (Kernel::threads)
  std::string log;          // of the compiler
  double compile_ms = 0;    // wall time
};

enum class Language { CudaCxx, LlvmIr };

// Immutable, and lives as long as the process; its members may run in several threads at once.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;   // "nvrtc": in keys and records, so it never changes
  virtual std::string title() const = 0;  // "NVRTC": in messages
  virtual Language language() const = 0;  // that Source::text is written in
  // For this target; where the language can say so, the text serves others too.
  virtual Source lower(const std::vector<const kernel::Kernel*>& kernels,
                       const target::Target& target) const = 0;
  // Options for plans, unless a caller asks for others.
  virtual const std::vector<std::string>& flags() const = 0;
  // The same for kernels that may not be contracted, where the text does not say it.
  virtual const std::vector<std::string>& flags_without_contraction() const { return flags(); }

  // Whether the compiler seems to be there, without loading it; false where only loading it tells.
  virtual bool looks_installed() const { return false; }

  // The members below load the compiler at their first call. Errors of all of them: Missing (it is not
  // installed), Unsupported (too old).
  virtual Status available() const = 0;
  virtual Result<std::string> version() const = 0;            // "13.0"
  virtual Result<std::string> path() const = 0;               // the file in use
  virtual Result<std::vector<int>> capabilities() const = 0;  // of the GPUs it compiles for, ascending
  // Also: Input (no architecture), Unsupported (a target that it does not know), Compile (with the source
  // around the first error and the whole log).
  virtual Result<Compiled> compile(const Request& request) const = 0;
  // The text of the assembler that compile() makes on its way; Unsupported where it makes none.
  virtual Result<std::string> assembly(const Request& request) const;
};

// How keys and images name a compiler: "nvrtc 13.0"; and the backend in such a name. Keys of versions of
// Rondo that knew NVRTC only hold its version alone: "13.0".
std::string compiler_name(const std::string& backend, const std::string& version);
std::string backend_of_compiler(const std::string& compiler);

// The request for kernels as a backend lowers them, with the backend's own flags.
Request request_for(const Backend& backend, const std::vector<const kernel::Kernel*>& kernels,
                    const target::Target& target, std::string name);

}  // namespace rondo::backend
