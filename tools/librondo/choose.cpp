#include "tools/librondo/choose.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "compiler/backend/backends.h"
#include "compiler/target/target.h"
#include "engine/choice/shipped_layer.h"
#include "engine/machine/machine.h"
#include "engine/trust/trusted_plan.h"
#include "runtime/device/gpu_device.h"
#include "runtime/host/host_plan.h"
#include "tools/librondo/reference_plan.h"
#include "tuner/tune/tune.h"

namespace rondo::capi {

namespace {

using PlanResult = Result<std::unique_ptr<PlanObject>>;

// The device as the tuner's functions take it: a GPU with a second reference to its context, or the CPUs.
Result<engine::Machine> machine_of(const Device& device, db::Database* database) {
  if (!device.cuda) return engine::find_machine("cpu", database);
  Result<runtime::Context> context = device.cuda->again();
  if (!context) return context.error();
  return engine::gpu_machine(*device.info, std::move(context).value(), database);
}

Result<std::unique_ptr<Work>> cpu_work(const executable::Executable& executable) {
  Result<std::shared_ptr<runtime::HostKernels>> kernels = runtime::HostKernels::load(executable);
  if (!kernels) return kernels.error();
  return host_work(executable, std::move(*kernels));
}

PlanFacts facts_of(const engine::Choice& choice) {
  return {engine::origin_name(choice.origin), choice.note, choice.proven(), choice.expected_ms};
}

PlanResult recorded(const std::shared_ptr<const Device>& device, const step::Cell& cell,
                    const schedule::Problem& problem, const ChoosePlan& how) {
  db::Database* const database = how.database.get();
  if (how.how == RONDO_CHOOSE_RECORDED && database == nullptr && !how.lock)
    return Error{ErrorKind::Input, "a recorded choice needs a database", "set rondo_plan_options.database"};
  const Result<engine::Machine> machine = machine_of(*device, database);
  if (!machine) return machine.error();
  engine::TrustOptions trust;
  trust.database = database;
  trust.keep = database == nullptr || database->access() == db::Access::ReadWrite;
  trust.recorded = how.how != RONDO_CHOOSE_MODEL;
  trust.strict = how.strict;
  trust.note = device->note;
  trust.alignment = how.alignment;
  trust.pinned = how.lock.get();
  // Without a database what is shipped would be verified anew each time.
  if (database != nullptr) {
    const Result<engine::ShippedLayer>& shipped = engine::shipped_layer();
    if (!shipped) return shipped.error();
    trust.shipped = &*shipped;
  }
  Result<engine::ReadyPlan> ready =
      engine::trusted_plan({cell, problem, machine->profile}, *machine, how.overrides, trust);
  if (!ready) return ready.error();
  if (how.how == RONDO_CHOOSE_RECORDED && ready->choice.origin == engine::ChoiceOrigin::Model)
    return Error{ErrorKind::Missing, fmt::format("nothing that serves is recorded: {}", ready->choice.note),
                 "tune the problem (rondo tune, RONDO_CHOOSE_TUNE), or let the model choose"};
  Result<std::unique_ptr<Work>> work = device->cuda
                                           ? Result<std::unique_ptr<Work>>(cuda_work(
                                                 device, runtime::take_device_plan(std::move(ready->plan))))
                                           : cpu_work(ready->compiled.executable);
  if (!work) return work.error();
  return make_plan(device, ready->compiled.executable.identity, std::move(work).value(),
                   facts_of(ready->choice));
}

PlanResult tuned(const std::shared_ptr<const Device>& device, const step::Cell& cell,
                 const schedule::Problem& problem, const ChoosePlan& how) {
  const Result<engine::Machine> machine = machine_of(*device, how.database.get());
  if (!machine) return machine.error();
  std::atomic<bool> stopped{false};
  tuner::TuneOptions tuning;
  tuning.budget_s = how.budget_s;
  tuning.workers = how.workers;
  tuning.alignment = how.alignment;
  tuning.strategy = how.overrides.strategy;
  tuning.cancel = &stopped;
  tuning.database = how.database.get();
  const Result<engine::ShippedLayer>& shipped = engine::shipped_layer();
  if (!shipped) return shipped.error();
  const Result<engine::ShippedLayer> known = engine::known_choices(&*shipped, how.database.get());
  if (!known && device->note) device->note(engine::starts_without(known.error()));
  tuning.known = known ? &*known : &*shipped;
  tuning.worker = worker_program();
  if (how.progress)
    tuning.progress = [&](const tuner::Progress& progress) {
      if (!how.progress(progress)) stopped = true;
    };
  if (!how.overrides.parameters.empty())
    return Error{ErrorKind::Input, "parameters are given, and tuning is to find them",
                 "leave one of the two out"};
  Result<tuner::TuneResult> result = tuner::tune({cell, problem, machine->profile}, *machine, tuning);
  if (stopped)
    return Error{ErrorKind::Cancelled, "tuning was stopped by the caller",
                 how.database ? "what was measured is recorded" : "without a database nothing was recorded"};
  if (!result) return result.error();
  if (device->note) {
    if (!result->note.empty()) device->note(result->note);
    if (!result->database_trouble.empty())
      device->note("the database stopped recording: " + result->database_trouble);
  }
  if (!result->plan)
    return Error{ErrorKind::Internal, "tuning gave no code: " + result->summary(), "report this"};
  const executable::Executable& executable = result->plan->executable;
  Result<std::unique_ptr<Work>> work = device->cuda ? cuda_work(device, executable) : cpu_work(executable);
  if (!work) return work.error();
  const double ms = result->best()->timing.median_s * 1e3;
  return make_plan(device, result->plan->executable.identity, std::move(work).value(),
                   {engine::origin_name(engine::ChoiceOrigin::Tuned), result->summary(), true, ms});
}

PlanResult compiled(const std::shared_ptr<const Device>& device, const step::Cell& cell,
                    const schedule::Problem& problem, const ChoosePlan& how) {
  return how.how == RONDO_CHOOSE_TUNE ? tuned(device, cell, problem, how)
                                      : recorded(device, cell, problem, how);
}

// What makes calls of the driver current for a while: the caller's context stays his.
PlanResult on_gpu(const std::shared_ptr<const Device>& device, const step::Cell& cell,
                  const schedule::Problem& problem, const ChoosePlan& how) {
  const auto current = runtime::ScopedCurrent::enter(*device->cuda);
  if (!current) return current.error();
  return compiled(device, cell, problem, how);
}

// The reference in the place of a kernel, and why.
PlanResult reference_instead(const std::shared_ptr<const Device>& device,
                             const std::shared_ptr<const step::Cell>& cell, const schedule::Problem& problem,
                             const Error& why) {
  if (device->note) device->note(why.message + "; the plan is the reference executor, in fp64");
  return reference_plan(device, {*cell, problem, {}});
}

// Compiled for this machine's CPUs where LLVM is installed; else, and for what no strategy computes, the
// reference executor, unless kernels are asked for.
PlanResult on_cpus(const std::shared_ptr<const Device>& device, const std::shared_ptr<const step::Cell>& cell,
                   const schedule::Problem& problem, const ChoosePlan& how) {
  const std::string& strategy = how.overrides.strategy;
  if (strategy == "reference") {
    if (how.overrides.parameters.empty() && how.how != RONDO_CHOOSE_RECORDED)
      return reference_plan(device, {*cell, problem, {}});
    return Error{ErrorKind::Input, "the reference has no parameters, and none of it is recorded",
                 "leave out the strategy, or parameters and RONDO_CHOOSE_RECORDED"};
  }
  if (!strategy.empty() && strategy != "host")
    return Error{ErrorKind::Input, fmt::format("no strategy '{}' computes on CPUs", strategy),
                 "host, reference, or none for the library to choose"};
  const bool kernels = how.wants_kernel();
  const backend::Backend& compiler = backend::cpu_backend();
  if (!kernels && !compiler.looks_installed())
    if (const Status available = compiler.available(); !available)
      return reference_instead(device, cell, problem, available.error());
  PlanResult made = compiled(device, *cell, problem, how);
  if (made || kernels || how.strict) return made;
  const bool none_serves =
      made.error().kind == ErrorKind::Unsupported || made.error().kind == ErrorKind::Missing;
  return none_serves ? reference_instead(device, cell, problem, made.error()) : std::move(made);
}

}  // namespace

Result<std::unique_ptr<PlanObject>> plan_for(const std::shared_ptr<const Device>& device,
                                             const std::shared_ptr<const step::Cell>& cell,
                                             const schedule::Problem& problem, const ChoosePlan& how) {
  return device->cuda ? on_gpu(device, *cell, problem, how) : on_cpus(device, cell, problem, how);
}

std::string worker_program() {
  if (const char* named = std::getenv("RONDO_WORKER"); named != nullptr && *named != '\0') return named;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&worker_program), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code ignored;
    const std::filesystem::path folder =
        std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
    for (const char* place : {"rondo", "../bin/rondo", "../../bin/rondo"}) {
      const std::filesystem::path program = folder / place;
      if (std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0)
        return program.string();
    }
  }
  return "/no rondo program beside the library";
}

}  // namespace rondo::capi
