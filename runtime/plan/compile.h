// From a plan of kernels to an executable with code: source, compiler, and the database's cache.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/backend/nvrtc/nvrtc.h"
#include "compiler/executable/executable.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/support/result.h"
#include "tuning_db/database.h"

namespace rondo::runtime {

// One translation unit with every kernel of the plan, in launch order.
std::string emit_source(const schedule::KernelPlan& plan);

// What turns source into a cubin. A plain value, so that tests and worker processes can stand in for NVRTC.
struct Compiler {
  std::string version;  // part of the cubin's key
  std::function<Result<CompiledKernel>(const std::string& source, const std::string& arch,
                                       const std::vector<std::string>& flags)>
      compile;
};
Result<Compiler> nvrtc_compiler();  // errors: those of Nvrtc::get()
// Compiler options of a plan unless a caller asks for others, beyond the architecture.
const std::vector<std::string>& plan_compile_flags();

// A plan with its code. A value; needs no GPU.
struct CompiledPlan {
  std::shared_ptr<const step::Cell> cell;
  schedule::Problem problem;
  schedule::KernelPlan plan;
  std::string source;  // CUDA C++
  // What is loaded and launched. Its one image, once it is compiled, has the resources of its kernels, in
  // order; their shared_bytes include dynamic shared memory.
  executable::Executable executable;
  db::CacheKey key;
  bool from_cache = false;  // no compiler ran
  double compile_ms = 0;

  bool has_code() const { return !executable.images.empty(); }
  const std::vector<executable::KernelResources>& resources() const;  // empty without code
  bool spills() const;
  int registers() const;     // the most of any kernel
  int shared_bytes() const;  // the most of any kernel
  int spill_bytes() const;   // stores and loads, the most of any kernel
};

struct CompileOptions {
  db::Database* database = nullptr;    // cubins are looked up and, where it may be written, stored there
  std::string cubin_key;               // of a tuned choice: its cubin is taken without asking a compiler
  const Compiler* compiler = nullptr;  // null: NVRTC
  std::vector<std::string> flags = plan_compile_flags();  // beyond the architecture
};

// The plan with source, key and executable but without code. Errors: those of schedule::lower_plan().
Result<CompiledPlan> uncompiled_plan(std::shared_ptr<const step::Cell> cell, const schedule::Problem& problem,
                                     schedule::KernelPlan plan, const std::string& compiler_version,
                                     const std::vector<std::string>& flags = plan_compile_flags());
// Completes it. Error Internal when a kernel is not in the cubin.
Status attach_code(CompiledPlan& plan, CompiledKernel code);
// Completes it with the database's executable of the same key; false if there is none (a damaged one, or one
// that is launched otherwise, counts as none).
bool attach_cached(CompiledPlan& plan, db::Database& database);
// Stores the executable. A database that cannot be written costs time later, never correctness: no error.
void store_cubin(const CompiledPlan& plan, db::Database& database);

// All of these in order. Errors: those of the compiler (Missing without NVRTC, Compile with its log,
// Unsupported).
Result<CompiledPlan> compile_plan(std::shared_ptr<const step::Cell> cell, const schedule::Problem& problem,
                                  schedule::KernelPlan plan, const CompileOptions& options = {});

}  // namespace rondo::runtime
