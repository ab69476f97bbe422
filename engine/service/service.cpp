#include "engine/service/service.h"

#include <fmt/format.h>

#include "compiler/backend/backends.h"
#include "compiler/schedule/strategies.h"
#include "engine/trust/trusted_plan.h"

namespace rondo::engine {

namespace {

void note(const Request& request, const std::string& text) {
  if (request.trust.note) request.trust.note(text);
}

Result<Answer> tuned(const Request& request, const Machine& machine) {
  Result<Tuned> found = request.tune(request, machine);
  if (!found) return found.error();
  if (Status status = machine.need_device(); !status) return status.error();
  Result<std::unique_ptr<runtime::LoadedPlan>> plan = machine.device->load(found->code.executable);
  if (!plan) return plan.error();
  return Answer{machine, request.problem,
                ReadyPlan{std::move(found->choice), std::move(found->code), std::move(plan).value()}};
}

Result<ReadyPlan> outlined(const Request& request, const Machine& machine) {
  const schedule::Task task{*request.cell, request.problem, machine.profile};
  ChooseOptions choosing = request.trust;
  choosing.platform = &machine.platform;
  Result<Choice> choice = choose_with(task, request.overrides, choosing);
  if (!choice) return choice.error();
  return outline_of(task, std::move(choice).value());
}

Result<Answer> known(const Request& request, const Machine& machine) {
  if (request.only_recorded && request.trust.database == nullptr && request.trust.pinned == nullptr)
    return Error{ErrorKind::Input, "a recorded choice needs a database",
                 "name the database that holds it: --db, or rondo_plan_options.database"};
  Result<ReadyPlan> ready = request.outline ? outlined(request, machine)
                                            : trusted_plan({*request.cell, request.problem, machine.profile},
                                                           machine, request.overrides, request.trust);
  if (!ready) return ready.error();
  if (request.only_recorded && ready->choice.origin == ChoiceOrigin::Model)
    return Error{ErrorKind::Missing, fmt::format("nothing that serves is recorded: {}", ready->choice.note),
                 "tune the problem (rondo tune, RONDO_CHOOSE_TUNE), or let the model choose"};
  return Answer{machine, request.problem, std::move(ready).value()};
}

Result<Answer> with_kernel(const Request& request, const Machine& machine) {
  return request.tune ? tuned(request, machine) : known(request, machine);
}

// On a GPU, at the request's own B and T.
Result<Answer> with_kernel_that_fits(const Request& request, const Machine& gpu) {
  Result<Answer> made = with_kernel(request, gpu);
  const step::Sizes& sizes = request.problem.sizes;
  if (!made || made->kernel->plan == nullptr) return made;
  if (Status fits = made->kernel->plan->check_fits(sizes.batch, sizes.time); !fits) return fits.error();
  return made;
}

Result<Answer> by_reference(const Request& request) {
  Answer answer;
  if (const auto cpus = target::host_target()) answer.machine.profile = target::host_profile(*cpus);
  answer.problem = request.problem;
  return answer;
}

Result<Answer> reference_asked_for(const Request& request) {
  if (request.overrides.parameters.empty() && !request.only_recorded) return by_reference(request);
  return Error{ErrorKind::Input, "the reference has no parameters, and none of it is recorded",
               "leave out the strategy, or the parameters and RONDO_CHOOSE_RECORDED"};
}

Result<Answer> reference_instead(const Request& request, const Error& why) {
  note(request, why.message + "; the plan is the reference executor, in fp64");
  return by_reference(request);
}

Status check_strategy(const std::string& name, const Machine& cpus) {
  if (name.empty()) return success();
  const schedule::Strategy* strategy = schedule::find_strategy(name);
  if (strategy != nullptr && strategy->serves(cpus.profile).legal) return success();
  return Error{ErrorKind::Input, fmt::format("no strategy '{}' computes on CPUs", name),
               "host, reference, or none for the library to choose"};
}

Result<Answer> on_cpus(const Request& request, const Machine& cpus) {
  if (Status status = check_strategy(request.overrides.strategy, cpus); !status) return status.error();
  const bool kernels = request.wants_kernel();
  const backend::Backend& compiler = backend::cpu_backend();
  if (!kernels && !compiler.looks_installed())
    if (const Status available = compiler.available(); !available)
      return reference_instead(request, available.error());
  Result<Answer> made = with_kernel(request, cpus);
  if (made || kernels || (request.trust.strict && !request.outline)) return made;
  const bool none_serves =
      made.error().kind == ErrorKind::Unsupported || made.error().kind == ErrorKind::Missing;
  return none_serves ? reference_instead(request, made.error()) : std::move(made);
}

}  // namespace

std::string Answer::where() const {
  if (!kernel) return "CPU, reference executor in fp64";
  const Choice& choice = kernel->choice;
  const std::string& origin = kernel->compiled.origin;  // of code of others
  return fmt::format("{}{}, {} {} ({}{})", machine.profile.is_cpu() ? "CPU " : "", machine.profile.name,
                     choice.strategy, schedule::print(choice.parameters), label(choice),
                     origin.empty() ? "" : ", code " + origin);
}

Result<Answer> answer(const Request& request, const Machine& machine) {
  if (request.stand_in == StandIn::None) return with_kernel(request, machine);
  if (request.overrides.strategy == kReference) return reference_asked_for(request);
  const bool cpus = machine.profile.is_cpu();
  // Who names CPUs of another kind wants their code, which runs nowhere here.
  if (cpus && machine.device == nullptr) return machine.need_device().error();
  if (cpus || request.stand_in == StandIn::Reference) return on_cpus(request, machine);
  if (machine.device != nullptr) {
    Result<Answer> made = with_kernel_that_fits(request, machine);
    if (made || request.wants_kernel() || made.error().kind != ErrorKind::Unsupported) return made;
    note(request, made.error().message + "; running on CPUs");
  }
  Result<Machine> here = find_machine("cpu", request.trust.database);
  if (!here) return here.error();
  return on_cpus(request, *here);
}

}  // namespace rondo::engine
