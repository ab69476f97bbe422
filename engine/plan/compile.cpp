#include "engine/plan/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/executable/serialise.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/support/hash.h"

namespace rondo::engine {

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

std::optional<std::vector<KernelResources>> resources_from_json(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("kernels") || !parsed["kernels"].is_array())
    return std::nullopt;
  std::vector<KernelResources> result;
  try {
    for (const json& k : parsed["kernels"]) {
      KernelResources r;
      r.name = k.at("name").get<std::string>();
      r.registers = k.at("registers").get<int>();
      r.shared_bytes = k.at("shared_bytes").get<int>();
      r.stack_bytes = k.at("stack_bytes").get<int>();
      r.spill_store_bytes = k.at("spill_store_bytes").get<int>();
      r.spill_load_bytes = k.at("spill_load_bytes").get<int>();
      r.max_threads = k.at("max_threads").get<int>();
      result.push_back(r);
    }
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return result;
}

// Whether two executables are of one plan. Their source is compared as text, by the key; the hash of it is
// worked out only where something is compiled. Batch and time are free at every call: what was stored when
// another shape was tuned serves this one too. Who made it does not matter: the same text launched in the
// same way is the same.
bool launches_alike(const executable::Executable& a, const executable::Executable& b) {
  executable::Identity identity = a.identity;
  identity.source_hash = b.identity.source_hash;
  identity.batch = b.identity.batch;
  identity.time = b.identity.time;
  identity.producer = b.identity.producer;
  identity.build = b.identity.build;
  identity.asked = b.identity.asked;
  return identity == b.identity && a.tensors == b.tensors && a.kernels == b.kernels &&
         a.launches == b.launches;
}

// The image of a stored executable that is launched as the plan is; none of one that is damaged or is
// launched otherwise. Databases of before there were executables hold the cubin alone, which is compiled from
// the same text (the key says so) and so is launched as this plan is.
std::optional<executable::Image> stored_image(const db::Cubin& stored, CompiledPlan& plan) {
  constexpr std::string_view kElf("\177ELF", 4);
  if (std::string_view(stored.image).starts_with(kElf)) {
    std::optional<std::vector<KernelResources>> resources = resources_from_json(stored.resources);
    if (!resources || resources->size() != plan.executable.kernels.size()) return std::nullopt;
    executable::Image image;
    image.target = stored.key.arch;
    image.compiler = stored.key.compiler_version;
    image.bytes = stored.image;
    image.resources = std::move(*resources);
    image.seal();
    return image;
  }
  Result<executable::Executable> read = executable::from_bytes(stored.image, "the database");
  if (!read || read->images.size() != 1 || !launches_alike(*read, plan.executable)) return std::nullopt;
  plan.executable.identity.source_hash = read->identity.source_hash;
  plan.made_alike = read->identity.producer == plan.executable.identity.producer &&
                    read->identity.build == plan.executable.identity.build &&
                    read->identity.asked == plan.executable.identity.asked;
  return std::move(read->images.front());
}

bool fits(const db::CacheKey& key, const backend::Backend* wanted, const target::Target& target) {
  const backend::Backend* backend = backend::find_backend(backend::backend_of_compiler(key.compiler_version));
  return backend != nullptr && (wanted == nullptr || wanted == backend) &&
         backend::backend_registry().is_built_in(backend) &&
         (key.flags == fmt::format("{}", fmt::join(backend->flags(), " ")) ||
          key.flags == fmt::format("{}", fmt::join(backend->flags_without_contraction(), " "))) &&
         target::plain_arch(key.arch) == target.name();
}

// Why code is not to be believed that the database has under a key: where it comes from; "" for what was
// compiled here and is what was verified, as far as anything was.
std::string doubt(const db::Cubin& stored, const CompiledCode& code, const Believed& believed) {
  if (stored.foreign()) return db::provenance(stored.origin);
  const bool changed =
      believed.code == code.code && !believed.image.empty() && believed.image != code.digest();
  return changed ? "changed since it was verified here" : "";
}

// Takes the code that is stored under `code` if it is this plan's; its key may differ in the compiler's
// version only.
bool take(CompiledPlan& plan, db::Database& database, const std::string& code, const Believed& believed) {
  const Result<std::optional<db::Cubin>> found = database.get_cubin(code);
  if (!found || !found->has_value()) return false;
  const db::Cubin& stored = **found;
  if (stored.blocked()) return false;
  if (stored.key.source != plan.key.source || stored.key.flags != plan.key.flags ||
      stored.key.arch != plan.key.arch ||
      backend::backend_of_compiler(stored.key.compiler_version) != plan.request.backend)
    return false;
  std::optional<executable::Image> image = stored_image(stored, plan);
  if (!image) return false;
  plan.executable.images = {std::move(*image)};
  plan.code = code;
  plan.origin = doubt(stored, plan, believed);
  if (plan.foreign() && !believed.takes(plan)) {
    plan.executable.images.clear();
    plan.code.clear();
    plan.origin.clear();
    plan.made_alike = false;
    return false;
  }
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

std::vector<const kernel::Kernel*> kernels_of(const schedule::KernelPlan& plan) {
  std::vector<const kernel::Kernel*> kernels;
  for (const schedule::Launch& launch : plan.launches) kernels.push_back(&launch.kernel);
  return kernels;
}

db::CacheKey cache_key(const backend::Request& request, const std::string& version) {
  return {request.text, fmt::format("{}", fmt::join(request.flags, " ")), request.target.name(),
          backend::compiler_name(request.backend, version)};
}

const std::vector<KernelResources>& CompiledCode::resources() const {
  static const std::vector<KernelResources> none;
  return has_code() ? executable.images.front().resources : none;
}
std::string CompiledCode::digest() const {
  std::vector<std::string> parts = {executable::launch_hash(executable)};
  for (const executable::Image& image : executable.images) parts.push_back(sha256_hex(image.bytes));
  return sha256_hex(fmt::format("rondo-code-1 {}", fmt::join(parts, " ")));
}

bool Believed::takes(const CompiledCode& found) const {
  return any || (!image.empty() && code == found.code && image == found.digest());
}

bool CompiledCode::spills() const {
  return std::any_of(resources().begin(), resources().end(),
                     [](const KernelResources& r) { return r.spills(); });
}
int CompiledCode::registers() const {
  return most(resources(), [](const KernelResources& r) { return r.registers; });
}
int CompiledCode::shared_bytes() const {
  return most(resources(), [](const KernelResources& r) { return r.shared_bytes; });
}
int CompiledCode::spill_bytes() const {
  return most(resources(), [](const KernelResources& r) { return r.spill_store_bytes + r.spill_load_bytes; });
}

Result<CompiledPlan> uncompiled_plan(std::shared_ptr<const schedule::Task> task, schedule::KernelPlan plan,
                                     const backend::Backend& backend, const std::string& compiler_version,
                                     const std::optional<std::vector<std::string>>& flags) {
  Result<executable::Executable> executable = schedule::lower_plan(*task, plan);
  if (!executable) return executable.error();
  CompiledPlan result;
  result.executable = std::move(executable).value();
  result.plan = std::move(plan);
  result.request = request_of(*task, result.plan, backend, "rondo_plan.cu");
  result.task = std::move(task);
  if (flags) result.request.flags = *flags;
  result.key = cache_key(result.request, compiler_version);
  return result;
}

backend::Request request_of(const schedule::Task& task, const schedule::KernelPlan& plan,
                            const backend::Backend& backend, std::string name) {
  return pipeline::watched(
      task.watcher, pipeline::Pass::EmitText,
      [&] { return backend::request_for(backend, kernels_of(plan), task.profile.target, std::move(name)); },
      [](const backend::Request& made) {
        return pipeline::Made{[&] { return made.text; }, {}};
      });
}

Result<backend::Compiled> image_of(const schedule::Task& task, const backend::Backend& backend,
                                   const backend::Request& request) {
  return pipeline::watched(
      task.watcher, pipeline::Pass::Compile, [&] { return backend.compile(request); },
      [](const Result<backend::Compiled>& made) {
        return made ? pipeline::Made{[&] { return resources_to_json(made->image.resources) + "\n"; }, {}}
                    : pipeline::Made{};
      });
}

Status attach_code(CompiledPlan& plan, backend::Compiled code) {
  std::vector<KernelResources> reported = std::move(code.image.resources);
  code.image.resources.clear();
  for (const executable::Kernel& kernel : plan.executable.kernels) {
    const auto found =
        std::ranges::find_if(reported, [&](const KernelResources& r) { return r.name == kernel.name; });
    if (found == reported.end())
      return Error{ErrorKind::Internal, fmt::format("the compiler does not report kernel {}", kernel.name)};
    code.image.resources.push_back(*found);
    code.image.resources.back().shared_bytes += static_cast<int>(kernel.shared_bytes);
    code.image.resources.back().max_threads = kernel.threads;
  }
  code.image.seal();
  plan.executable.images = {std::move(code.image)};
  plan.executable.identity.source_hash = sha256_hex(plan.request.text);
  plan.code = plan.key.hash();
  plan.compile_ms = code.compile_ms;
  plan.from_cache = false;
  plan.origin.clear();
  return success();
}

bool attach_cached(CompiledPlan& plan, db::Database& database) {
  return take(plan, database, plan.key.hash(), {});
}

void store_cubin(const CompiledCode& code, db::Database& database) {
  if (database.access() != db::Access::ReadWrite || code.foreign()) return;
  db::Cubin cubin;
  cubin.key = code.key;
  cubin.image = executable::to_bytes(code.executable);
  cubin.resources = resources_to_json(code.resources());
  (void)database.put_cubin(cubin);
}

std::optional<CompiledCode> stored_code(const executable::Identity& wanted, const std::string& cubin_key,
                                        const backend::Backend* backend, const target::Target& target,
                                        db::Database& database, const Believed& believed) {
  if (wanted.asked.empty() || cubin_key.empty()) return std::nullopt;
  Result<std::optional<db::Cubin>> found = database.get_cubin(cubin_key);
  if (!found || !found->has_value() || !fits((*found)->key, backend, target)) return std::nullopt;
  db::Cubin& stored = **found;
  if (stored.blocked()) return std::nullopt;
  Result<executable::Executable> read = executable::from_bytes(stored.image, "the database");
  if (!read || read->images.size() != 1) return std::nullopt;
  executable::Identity identity = wanted;
  identity.source_hash = sha256_hex(stored.key.source);  // what is proven by its key is what this was made of
  if (read->identity != identity) return std::nullopt;
  CompiledCode code;
  code.executable = std::move(read).value();
  code.code = cubin_key;
  code.origin = doubt(stored, code, believed);
  if (code.foreign() && !believed.takes(code)) return std::nullopt;
  code.key = std::move(stored.key);
  code.from_cache = code.as_stored = true;
  return code;
}

const backend::Backend* backend_of_code(const std::string& cubin_key, db::Database& database) {
  if (cubin_key.empty()) return nullptr;
  const Result<std::optional<db::Cubin>> found = database.get_cubin(cubin_key);
  if (!found || !found->has_value()) return nullptr;
  return backend::find_backend(backend::backend_of_compiler((*found)->key.compiler_version));
}

Result<CompiledPlan> compile_plan(std::shared_ptr<const schedule::Task> task, schedule::KernelPlan plan,
                                  const CompileOptions& options) {
  const backend::Backend& backend =
      options.backend != nullptr ? *options.backend : backend::preferred_backend_for(task->profile.target);
  Result<CompiledPlan> uncompiled =
      uncompiled_plan(std::move(task), std::move(plan), backend, "", options.flags);
  if (!uncompiled) return uncompiled.error();
  CompiledPlan result = std::move(uncompiled).value();
  result.executable.identity.asked = options.asked;
  // A tuned choice names its cubin: loading a compiler, some 100 MB, only to learn its version would cost
  // more than the rest.
  if (options.database != nullptr && !options.cubin_key.empty() &&
      take(result, *options.database, options.cubin_key, options.believed)) {
    if (!result.made_alike && !options.asked.empty()) store_cubin(result, *options.database);
    return result;
  }
  const Result<std::string> version = backend.version();
  if (!version) return version.error();
  result.key = cache_key(result.request, *version);
  if (options.database != nullptr && take(result, *options.database, result.key.hash(), options.believed))
    return result;
  if (options.before) options.before(result.executable);
  Result<backend::Compiled> code = image_of(*result.task, backend, result.request);
  if (!code) return code.error();
  if (Status status = attach_code(result, std::move(code).value()); !status) return status.error();
  if (options.database != nullptr) store_cubin(result, *options.database);
  return result;
}

}  // namespace rondo::engine
