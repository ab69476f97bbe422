// A plan ready to run: a strategy's kernels compiled for one GPU architecture, loaded, and launched on the
// caller's stream.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/backend/backends.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/support/result.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/graph_cache.h"
#include "runtime/cuda/loaded_kernel.h"
#include "runtime/cuda/status_word.h"
#include "runtime/plan/arguments.h"
#include "tuning_db/database.h"

namespace rondo::runtime {

using executable::KernelResources;

// The kernels of a plan in launch order: what a backend lowers to one translation unit.
std::vector<const kernel::Kernel*> kernels_of(const schedule::KernelPlan& plan);

// A plan with its code. A value; needs no GPU.
struct CompiledPlan {
  std::shared_ptr<const step::Cell> cell;
  schedule::Problem problem;
  schedule::KernelPlan plan;
  backend::Request request;  // the compilation that makes its code
  std::string cubin;
  std::vector<KernelResources>
      resources;  // of plan.launches, in order; shared_bytes includes dynamic shared memory
  db::CacheKey key;
  bool from_cache = false;  // no compiler ran
  double compile_ms = 0;

  bool spills() const;
  int registers() const;     // the most of any kernel
  int shared_bytes() const;  // the most of any kernel
  int spill_bytes() const;   // stores and loads, the most of any kernel
};

struct CompileOptions {
  db::Database* database = nullptr;  // cubins are looked up and, where it may be written, stored there
  std::string cubin_key;             // of a tuned choice: its cubin is taken without asking a compiler
  const backend::Backend* backend = nullptr;      // null: backend::preferred_backend()
  std::optional<std::vector<std::string>> flags;  // beyond the target; nothing: the backend's own
};

// What the database knows the code by. `version` is the compiler's.
db::CacheKey cache_key(const backend::Request& request, const std::string& version);

// The plan with request and key but without code.
CompiledPlan uncompiled_plan(std::shared_ptr<const step::Cell> cell, const schedule::Problem& problem,
                             schedule::KernelPlan plan, const backend::Backend& backend,
                             const std::string& compiler_version,
                             const std::optional<std::vector<std::string>>& flags = std::nullopt);
// Completes it. Error Internal when the compiler does not report one of the kernels.
Status attach_code(CompiledPlan& plan, backend::Compiled code);
// Completes it with the database's cubin of the same key; false if there is none (a damaged one counts as
// none).
bool attach_cached(CompiledPlan& plan, db::Database& database);
// Stores the cubin. A database that cannot be written costs time later, never correctness: no error.
void store_cubin(const CompiledPlan& plan, db::Database& database);

// All of these in order. Errors: those of the backend (Missing without its compiler, Compile with its log,
// Unsupported).
Result<CompiledPlan> compile_plan(std::shared_ptr<const step::Cell> cell, const schedule::Problem& problem,
                                  schedule::KernelPlan plan, const CompileOptions& options = {});

// A compiled plan on a GPU. Movable; launch() may be called from several threads (each with the context
// current). Destroy it before the context, and after the work it launched is done.
class DevicePlan {
 public:
  // `context` is the current context. Errors: Unsupported (made for another architecture; clusters that the
  // GPU has not, or that do not fit on it), Device.
  static Result<DevicePlan> load(const CompiledPlan& compiled, const Context& context);

  // Bytes the caller must bind as workspace for B batch rows of T steps (0: none).
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const {
    return arguments_.workspace_bytes(batch, time);
  }
  const std::vector<PlanTensor>& tensors() const { return arguments_.tensors(); }

  // Starts all kernels on `stream`, in order, and returns. Allocates nothing, never waits, may be captured in
  // a graph. A plan with launches for each step keeps CUDA graphs of calls that come again with the same
  // arguments. Tensors that are not bound: see Need. T and B are free at every call. Errors: Input before
  // anything is launched (not bound, null, misaligned, overlapping, T or B out of range), Device from the
  // driver, Unsupported when blocks that wait for each other do not fit on the GPU at once.
  // Also Device, and nothing is launched: an earlier launch has given up, see check().
  Status launch(StreamHandle stream, const Bindings& bindings, std::int64_t batch, std::int64_t time) const;

  // Threads of a kernel wait for each other; if that takes seconds they give up, and the kernel ends with
  // wrong results instead of never. Error Device, once, if that has happened since it was asked last. A
  // launch is covered when the caller has waited for its end; the context and the plan stay usable. Never
  // waits itself.
  Status check() const;

 private:
  class DriverSink;
  DevicePlan(Module module, PlanArguments arguments)
      : module_(std::move(module)), arguments_(std::move(arguments)) {}

  Module module_;
  PlanArguments arguments_;
  std::vector<LoadedKernel> kernels_;
  std::unique_ptr<GraphCache> graphs_;  // of a plan with launches for each step
  std::optional<StatusWord> status_;    // of a plan whose kernels wait
  std::string waits_;                   // their names
};

}  // namespace rondo::runtime
