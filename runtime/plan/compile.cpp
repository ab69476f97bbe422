#include "runtime/plan/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/backend/cuda/emit.h"
#include "compiler/executable/serialise.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/support/hash.h"

namespace rondo::runtime {

using executable::KernelResources;
using nlohmann::json;

namespace {

// What `rondo db show` tells of a stored executable.
std::string resources_to_json(const std::vector<KernelResources>& resources) {
  json list = json::array();
  for (const KernelResources& r : resources)
    list.push_back({{"name", r.name},
                    {"registers", r.registers},
                    {"shared_bytes", r.shared_bytes},
                    {"stack_bytes", r.stack_bytes},
                    {"spill_store_bytes", r.spill_store_bytes},
                    {"spill_load_bytes", r.spill_load_bytes},
                    {"max_threads", r.max_threads}});
  return json{{"kernels", list}}.dump();
}

// Takes an executable from the database if it is this plan's: made of the same text, by the same or another
// version of the compiler, and launched in the same way.
bool take(CompiledPlan& plan, const Result<std::optional<db::Cubin>>& found) {
  if (!found || !found->has_value()) return false;
  const db::Cubin& stored = **found;
  if (stored.key.source != plan.key.source || stored.key.flags != plan.key.flags ||
      stored.key.arch != plan.key.arch)
    return false;
  Result<executable::Executable> read = executable::from_bytes(stored.image, "the database");
  if (!read || read->images.size() != 1) return false;
  if (executable::launch_hash(*read) != executable::launch_hash(plan.executable)) return false;
  plan.executable = std::move(read).value();
  plan.key = stored.key;
  plan.from_cache = true;
  return true;
}

template <class Measure>
int most(const std::vector<KernelResources>& resources, Measure measure) {
  int result = 0;
  for (const KernelResources& r : resources) result = std::max(result, measure(r));
  return result;
}

}  // namespace

// The text needs no headers and no relaxed arithmetic: what may be approximate says so.
const std::vector<std::string>& plan_compile_flags() {
  static const std::vector<std::string> flags = {"--std=c++17"};
  return flags;
}

std::string emit_source(const schedule::KernelPlan& plan) {
  std::vector<const kernel::Kernel*> kernels;
  for (const schedule::Launch& launch : plan.launches) kernels.push_back(&launch.kernel);
  return backend::cuda::emit(kernels);
}

Result<Compiler> nvrtc_compiler() {
  const Result<const Nvrtc*> nvrtc = Nvrtc::get();
  if (!nvrtc) return nvrtc.error();
  const Nvrtc* loaded = *nvrtc;
  return Compiler{loaded->version().text(), [loaded](const std::string& source, const std::string& arch,
                                                     const std::vector<std::string>& flags) {
                    return loaded->compile(source, "rondo_plan.cu", arch, flags);
                  }};
}

const std::vector<KernelResources>& CompiledPlan::resources() const {
  static const std::vector<KernelResources> none;
  return has_code() ? executable.images.front().resources : none;
}
bool CompiledPlan::spills() const {
  return std::any_of(resources().begin(), resources().end(),
                     [](const KernelResources& r) { return r.spills(); });
}
int CompiledPlan::registers() const {
  return most(resources(), [](const KernelResources& r) { return r.registers; });
}
int CompiledPlan::shared_bytes() const {
  return most(resources(), [](const KernelResources& r) { return r.shared_bytes; });
}
int CompiledPlan::spill_bytes() const {
  return most(resources(), [](const KernelResources& r) { return r.spill_store_bytes + r.spill_load_bytes; });
}

Result<CompiledPlan> uncompiled_plan(std::shared_ptr<const step::Cell> cell, const schedule::Problem& problem,
                                     schedule::KernelPlan plan, const std::string& compiler_version,
                                     const std::vector<std::string>& flags) {
  Result<executable::Executable> executable = schedule::lower_plan(*cell, problem, plan);
  if (!executable) return executable.error();
  CompiledPlan result;
  result.executable = std::move(executable).value();
  result.cell = std::move(cell);
  result.problem = problem;
  result.plan = std::move(plan);
  result.source = emit_source(result.plan);
  result.executable.identity.source_hash = sha256_hex(result.source);
  result.key = {result.source, fmt::format("{}", fmt::join(flags, " ")), problem.arch, compiler_version};
  return result;
}

Status attach_code(CompiledPlan& plan, CompiledKernel code) {
  executable::Image image;
  image.target = plan.problem.arch;
  image.compiler = "nvrtc " + plan.key.compiler_version;
  image.bytes = std::move(code.cubin);
  for (const executable::Kernel& kernel : plan.executable.kernels) {
    const auto found = std::find_if(code.kernels.begin(), code.kernels.end(),
                                    [&](const KernelResources& r) { return r.name == kernel.name; });
    if (found == code.kernels.end())
      return Error{ErrorKind::Internal, fmt::format("the compiled code has no kernel {}", kernel.name), ""};
    image.resources.push_back(*found);
    image.resources.back().shared_bytes += static_cast<int>(kernel.shared_bytes);
  }
  plan.executable.images = {std::move(image)};
  plan.compile_ms = code.compile_ms;
  plan.from_cache = false;
  return success();
}

bool attach_cached(CompiledPlan& plan, db::Database& database) {
  return take(plan, database.get_cubin(plan.key));
}

void store_cubin(const CompiledPlan& plan, db::Database& database) {
  if (database.access() != db::Access::ReadWrite) return;
  db::Cubin cubin;
  cubin.key = plan.key;
  cubin.image = executable::to_bytes(plan.executable);
  cubin.resources = resources_to_json(plan.resources());
  (void)database.put_cubin(cubin);
}

Result<CompiledPlan> compile_plan(std::shared_ptr<const step::Cell> cell, const schedule::Problem& problem,
                                  schedule::KernelPlan plan, const CompileOptions& options) {
  Result<CompiledPlan> uncompiled =
      uncompiled_plan(std::move(cell), problem, std::move(plan), "", options.flags);
  if (!uncompiled) return uncompiled.error();
  CompiledPlan result = std::move(uncompiled).value();
  // A tuned choice names its cubin: loading NVRTC, some 100 MB, only to learn its version would cost more
  // than the rest.
  if (options.database != nullptr && !options.cubin_key.empty() &&
      take(result, options.database->get_cubin(options.cubin_key)))
    return result;
  Compiler compiler;
  if (options.compiler != nullptr) {
    compiler = *options.compiler;
  } else {
    Result<Compiler> nvrtc = nvrtc_compiler();
    if (!nvrtc) return nvrtc.error();
    compiler = std::move(nvrtc).value();
  }
  result.key.compiler_version = compiler.version;
  if (options.database != nullptr && attach_cached(result, *options.database)) return result;
  Result<CompiledKernel> code = compiler.compile(result.source, problem.arch, options.flags);
  if (!code) return code.error();
  if (Status status = attach_code(result, std::move(code).value()); !status) return status.error();
  if (options.database != nullptr) store_cubin(result, *options.database);
  return result;
}

}  // namespace rondo::runtime
