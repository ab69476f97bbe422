#include "engine/doctor/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/backend/backends.h"
#include "compiler/kernel/builder/builder.h"
#include "compiler/support/enum_text.h"
#include "compiler/support/version.h"
#include "compiler/target/profile.h"
#include "compiler/target/target.h"
#include "engine/request/cell_library.h"
#include "engine/worker/compile_worker.h"
#include "runtime/cuda/driver.h"
#include "tuning_db/database.h"

namespace rondo::engine {
namespace {

// The least kernel that does something: it stores a number a thread.
kernel::Kernel probe_kernel() {
  kernel::Builder b("rondo_probe", 32, kernel::Math::Fast);
  const kernel::Memory x = b.output("x", kernel::Storage::F32);
  b.store(x[b.thread()], b.real(1));
  return b.finish();
}

Finding program() {
  std::vector<std::string> names;
  for (const EmbeddedCell& cell : embedded_cells()) names.push_back(cell.name);
  return {"rondo", Health::Good,
          fmt::format("version {}, {} cells: {}", kVersion, names.size(), fmt::join(names, " ")), ""};
}

Finding driver() {
  const Result<const runtime::Driver*> found = runtime::Driver::get();
  if (found)
    return {"CUDA driver", Health::Good,
            fmt::format("CUDA {} ({})", (*found)->version_text(), (*found)->path()), ""};
  const Error& error = found.error();
  const std::string advice = error.hint.empty() ? "" : error.hint + "; ";
  return {"CUDA driver", error.kind == ErrorKind::Missing ? Health::Limited : Health::Bad, error.message,
          advice + "without it Rondo checks, emits, simulates and tunes by model only"};
}

Finding gpu(int ordinal) {
  const std::string subject = fmt::format("GPU {}", ordinal);
  const Result<runtime::DeviceInfo> info = runtime::device_info(ordinal);
  if (!info) return {subject, Health::Bad, info.error().message, info.error().hint};
  const std::string text = fmt::format("{}, {}, {} SMs, {:.0f} GiB", info->name, info->arch(), info->sm_count,
                                       static_cast<double>(info->memory_bytes) / (1 << 30));
  if (info->cc() < target::kLeastCapability)
    return {subject, Health::Bad,
            fmt::format("{}; Rondo has kernels for compute capability {}.{} and later", text,
                        target::kLeastCapability / 10, target::kLeastCapability % 10),
            "`--arch cpu` computes on this machine's CPUs"};
  if (target::find_profile(info->name)) return {subject, Health::Good, text, ""};
  return {subject, Health::Limited, text + "; no shipped profile of this board",
          "run `rondo calibrate`, so that the cost model knows its speeds"};
}

// What kernels for CPUs would be made for, and by what. The compiler is a finding of its own.
Finding cpus() {
  const std::optional<target::Target> target = target::host_target();
  if (!target)
    return {"CPUs", Health::Limited, "no code can be made for CPUs of this kind",
            "cells run on the reference executor"};
  const target::Profile profile = target::host_profile(*target);
  const target::CpuLimits& limits = profile.cpu;
  const std::string text =
      fmt::format("{}, vectors of {} bytes, caches {} KiB, {} KiB and {} MiB", profile.name,
                  limits.vector_bytes, limits.l1_bytes >> 10, limits.l2_bytes >> 10, limits.l3_bytes >> 20);
  const backend::Backend& backend = backend::cpu_backend();
  if (const Status found = backend.available(); !found)
    return {"CPUs", Health::Limited, fmt::format("{}; no {} compiles for them", text, backend.title()),
            "without it cells run on the reference executor"};
  const kernel::Kernel kernel = probe_kernel();
  const Result<backend::Compiled> probe =
      backend.compile(backend::request_for(backend, {&kernel}, *target, "probe.cu"));
  if (!probe)
    return {
        "CPUs", Health::Bad,
        fmt::format("{}; but a tiny kernel fails by {}: {}", text, backend.title(), probe.error().message),
        probe.error().hint};
  return {"CPUs", Health::Good,
          fmt::format("{}; a tiny kernel by {} took {:.0f} ms", text, backend.title(), probe->compile_ms),
          ""};
}

Finding compiler(const backend::Backend& backend) {
  const std::string subject = backend.title();
  if (const Status found = backend.available(); !found) {
    const Error& error = found.error();
    return {subject, error.kind == ErrorKind::Missing ? Health::Limited : Health::Bad, error.message,
            (error.hint.empty() ? "" : error.hint + "; ") +
                "without it kernels cannot be compiled, only emitted"};
  }
  const std::vector<int> targets = backend.capabilities().value();
  const std::string text = fmt::format("{} ({}), for sm_{}", backend.version().value(),
                                       backend.path().value(), fmt::join(targets, ", sm_"));
  if (targets.empty())
    return {subject, Health::Bad, text, fmt::format("install another version of {}", subject)};
  const kernel::Kernel kernel = probe_kernel();
  const Result<backend::Compiled> probe = backend.compile(
      backend::request_for(backend, {&kernel}, target::Target::gpu(targets.back()), "probe.cu"));
  if (!probe)
    return {subject, Health::Bad, text + "; but a tiny kernel fails: " + probe.error().message,
            probe.error().hint};
  return {subject, Health::Good, fmt::format("{}; a tiny kernel took {:.0f} ms", text, probe->compile_ms),
          ""};
}

// A job that the worker rejects at once shows as well as any that processes start and answer.
Finding workers() {
  CompilePool pool(CompilePoolOptions{});
  pool.submit({0, {backend::preferred_backend().name(), "", "probe.cu", target::Target::gpu(0), {}}});
  const std::optional<CompileOutcome> outcome = pool.next(std::chrono::seconds(10));
  if (outcome && (outcome->end == CompileEnd::Rejected || outcome->end == CompileEnd::Compiled))
    return {"compile workers", Health::Good, "start and answer", ""};
  const std::string why = outcome && !outcome->result ? outcome->result.error().message : "no answer in 10 s";
  return {"compile workers", Health::Bad, why,
          "the environment variable RONDO_WORKER must name a rondo program, or be unset"};
}

Finding database(const std::string& given) {
  const Result<std::string> path = given.empty() ? db::default_path() : Result<std::string>(given);
  if (!path) return {"database", Health::Limited, path.error().message, path.error().hint};
  Result<db::Database> opened = db::Database::open(*path, {db::Access::ReadOnly});
  if (!opened && opened.error().kind == ErrorKind::Missing)
    return {"database", Health::Limited, opened.error().message,
            "`rondo tune` makes it; until then choices are the model's"};
  if (!opened) return {"database", Health::Bad, opened.error().message, opened.error().hint};
  const Result<db::Stats> stats = opened->stats();
  if (!stats) return {"database", Health::Bad, stats.error().message, stats.error().hint};
  return {"database", Health::Good,
          fmt::format("'{}': {} problems, {} trials, {} best, {} kernels", *path, stats->problems,
                      stats->trials, stats->best, stats->cubins),
          ""};
}

constexpr EnumText<Health> kHealths[] = {
    {Health::Good, "ok"}, {Health::Limited, "missing"}, {Health::Bad, "broken"}};
static_assert(is_total(kHealths));

}  // namespace

const char* health_name(Health health) { return to_text(kHealths, health); }

std::vector<Finding> examine(const std::string& database_path) {
  std::vector<Finding> findings = {program(), driver()};
  if (findings.back().health == Health::Good) {
    const Result<int> count = runtime::device_count();
    for (int i = 0; count && i < *count; ++i) findings.push_back(gpu(i));
  }
  for (const backend::Backend* backend : backend::backends()) findings.push_back(compiler(*backend));
  findings.push_back(cpus());
  findings.push_back(workers());
  findings.push_back(database(database_path));
  return findings;
}

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8} {}: {}\n", health_name(finding.health), finding.subject, finding.found);
    if (!finding.advice.empty()) text += fmt::format("         {}\n", finding.advice);
  }
  return text;
}

}  // namespace rondo::engine
