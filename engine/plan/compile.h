// From a plan of kernels to an executable with code: a backend's source and compiler, and the database's
// cache.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/backend/backends.h"
#include "compiler/executable/executable.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"
#include "tuning_db/database.h"

namespace rondo::engine {

using executable::KernelResources;

// The kernels of a plan in launch order: what a backend lowers to one translation unit.
std::vector<const kernel::Kernel*> kernels_of(const schedule::KernelPlan& plan);

// What is loaded and launched, and what the database knows it by. A value; needs no GPU.
struct CompiledCode {
  // Its one image, once it is compiled, has the resources of its kernels, in order; their shared_bytes
  // include dynamic shared memory.
  executable::Executable executable;
  db::CacheKey key;
  std::string code;         // key.hash(), where there is code: what the database knows it by
  bool from_cache = false;  // no compiler ran
  std::string origin{};     // of code from elsewhere (db::provenance()), "" of what was compiled here
  bool as_stored = false;   // nor was a plan built: see stored_code()

  bool has_code() const { return !executable.images.empty(); }
  bool foreign() const { return !origin.empty(); }
  // Of all that decides what runs: SHA-256 over the bytes of the image, worked out anew, and over tensors,
  // kernels and launches. What a verification is of.
  std::string digest() const;
  const std::vector<KernelResources>& resources() const;  // empty without code
  bool spills() const;
  int registers() const;     // the most of any kernel
  int shared_bytes() const;  // the most of any kernel
  int spill_bytes() const;   // stores and loads, the most of any kernel
};

// A plan with its code.
struct CompiledPlan : CompiledCode {
  std::shared_ptr<const schedule::Task> task;
  schedule::KernelPlan plan;
  backend::Request request;  // the compilation that makes its code
  double compile_ms = 0;
  bool made_alike = false;  // of code from the database: this build stored it, of the same request
};

// Which stored code of others may be taken (db::Cubin::foreign(), or bytes that are not those that were
// verified under the key): mostly none, so that it is compiled here instead.
struct Believed {
  std::string code{}, image{};  // what was verified here: its key and digest()
  bool any = false;             // the caller verifies it in a trial process before it serves
  bool takes(const CompiledCode& found) const;
};

// Called where nothing stored serves, before a compiler is: with the launches, which have no code yet.
using BeforeCompiling = std::function<void(const executable::Executable&)>;

struct CompileOptions {
  db::Database* database = nullptr;  // cubins are looked up and, where it may be written, stored there
  std::string cubin_key;             // of a tuned choice: its cubin is taken without asking a compiler
  // schedule::asked_hash() of a plan that is just what its strategy built, for the executable's identity.
  std::string asked;
  Believed believed;
  const backend::Backend* backend = nullptr;      // null: preferred_backend_for(target)
  std::optional<std::vector<std::string>> flags;  // beyond the target; nothing: the backend's own
  BeforeCompiling before{};
};

// What the database knows the code by. `version` is the compiler's.
db::CacheKey cache_key(const backend::Request& request, const std::string& version);

// The plan with request, key and executable but without code. Errors: those of schedule::lower_plan().
Result<CompiledPlan> uncompiled_plan(std::shared_ptr<const schedule::Task> task, schedule::KernelPlan plan,
                                     const backend::Backend& backend, const std::string& compiler_version,
                                     const std::optional<std::vector<std::string>>& flags = std::nullopt);
// Completes it. Error Internal when the compiler does not report one of the kernels.
Status attach_code(CompiledPlan& plan, backend::Compiled code);
// Completes it with the database's executable of the same key; false if there is none (a damaged one, or one
// that is launched otherwise, counts as none).
bool attach_cached(CompiledPlan& plan, db::Database& database);
// Stores the executable as compiled here; code from elsewhere stays as it is. A database that cannot be
// written costs time later, never correctness: no error.
void store_cubin(const CompiledCode& code, db::Database& database);

// What is stored under a tuned choice's `cubin_key`, without a plan to compare it with: if this very build of
// the program made it (executable::build_id()) of what is `wanted`, the hash of what was asked and the
// backend's flags included, it holds what building would give. Only the source's hash does not count; nothing
// is taken where `wanted.asked` is "". The caller makes sure that strategy and backend are built in.
std::optional<CompiledCode> stored_code(const executable::Identity& wanted, const std::string& cubin_key,
                                        const backend::Backend* backend, const target::Target& target,
                                        db::Database& database, const Believed& believed = {});

// The backend that made the code of this key (CacheKey::hash()); null where the database does not hold it.
const backend::Backend* backend_of_code(const std::string& cubin_key, db::Database& database);

// Both as passes of the task: the request for the plan's code, as messages call it `name`, and its code.
backend::Request request_of(const schedule::Task& task, const schedule::KernelPlan& plan,
                            const backend::Backend& backend, std::string name);
Result<backend::Compiled> image_of(const schedule::Task& task, const backend::Backend& backend,
                                   const backend::Request& request);

// All of these in order. Errors: those of the backend (Missing without its compiler, Compile with its log,
// Unsupported).
Result<CompiledPlan> compile_plan(std::shared_ptr<const schedule::Task> task, schedule::KernelPlan plan,
                                  const CompileOptions& options = {});

}  // namespace rondo::engine
