#include "tools/librondo/choose.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "compiler/support/environment.h"
#include "compiler/support/strange_file.h"
#include "engine/machine/machine.h"
#include "engine/service/within.h"
#include "runtime/cuda/driver_graph.h"
#include "runtime/device/gpu_device.h"
#include "runtime/host/host_plan.h"
#include "tools/librondo/outline.h"
#include "tools/librondo/reference_plan.h"
#include "tuner/trial/verify_alone.h"

namespace rondo::capi {

namespace {

using PlanResult = Result<std::unique_ptr<PlanObject>>;

// The device as the tuner's functions take it: a GPU with a second reference to its context, or the CPUs.
Result<engine::Machine> machine_of(const Device& device, db::Database* database) {
  if (!device.cuda) return engine::cpu_machine(device.threads, database);
  Result<runtime::Context> context = device.cuda->again();
  if (!context) return context.error();
  return engine::gpu_machine(*device.info, std::move(context).value(), database);
}

Result<std::unique_ptr<Work>> cpu_work(const executable::Executable& executable, int threads) {
  Result<std::shared_ptr<runtime::HostKernels>> kernels =
      runtime::HostKernels::load(executable, runtime::ThreadPool::shared(threads));
  if (!kernels) return kernels.error();
  return host_work(executable, std::move(*kernels));
}

Result<std::unique_ptr<Work>> work_of(const std::shared_ptr<const Device>& device, engine::ReadyPlan& ready) {
  if (!device->cuda) return cpu_work(ready.compiled.executable, device->threads);
  return cuda_work(device, runtime::take_device_plan(std::move(ready.plan)));
}

PlanFacts facts_of(const engine::Choice& choice) {
  return {engine::origin_name(choice.origin), choice.note, choice.proven(), choice.expected_ms};
}

PlanResult plan_of(const std::shared_ptr<const Device>& device, const std::shared_ptr<const step::Cell>& cell,
                   engine::Answer answer) {
  if (!answer.kernel) return reference_plan(device, {*cell, answer.problem, {}});
  Result<std::unique_ptr<Work>> work = work_of(device, *answer.kernel);
  if (!work) return work.error();
  return make_plan(device, answer.kernel->compiled.executable.identity, std::move(work).value(),
                   facts_of(answer.kernel->choice));
}

PlanResult outline_of_answer(const std::shared_ptr<const Device>& device, const step::Cell& cell,
                             const engine::Answer& answer) {
  if (answer.kernel)
    return outline_of(device, answer.kernel->compiled.executable, facts_of(answer.kernel->choice));
  const Result<executable::Executable> executable = reference_executable({cell, answer.problem, {}});
  if (!executable) return executable.error();
  return outline_of(device, *executable, reference_facts());
}

// The caller's bound on workspace, at the sizes that he chooses for.
Status check_workspace(const PlanObject& plan, const step::Sizes& sizes, std::int64_t most) {
  const std::int64_t needed = plan.work->workspace_bytes(sizes.batch, sizes.time);
  if (most == 0 || needed <= most) return success();
  const Result<std::int64_t> fits = longest_time(*plan.work, sizes.batch, most);
  return Error{
      ErrorKind::Unsupported,
      fmt::format("pass {} of cell {} by {} needs a workspace of {} bytes at B = {}, T = {}, and {} are "
                  "allowed (rondo_plan_options.most_workspace)",
                  plan.identity.pass, plan.identity.cell_name, plan.identity.strategy, needed, sizes.batch,
                  sizes.time, most),
      fits ? fmt::format("{} steps fit: ask for T = {}, and work in parts of time (docs/c-api.md)", *fits,
                         *fits)
           : fits.error().message};
}

// A plan or an outline, whichever was asked for.
PlanResult made_of(const std::shared_ptr<const Device>& device, const std::shared_ptr<const step::Cell>& cell,
                   engine::Answer answer, const ChoosePlan& how) {
  const step::Sizes sizes = answer.problem.sizes;
  PlanResult made =
      how.outline ? outline_of_answer(device, *cell, answer) : plan_of(device, cell, std::move(answer));
  if (!made) return made;
  if (Status status = check_workspace(**made, sizes, how.most_workspace); !status) return status.error();
  return made;
}

PlanResult made_of(const std::shared_ptr<const Device>& device, engine::AgainAnswer again,
                   const ChoosePlan& how) {
  return made_of(device, {again.known, &again.known->cell}, std::move(again.answer), how);
}

// A tune that the caller's callback can stop.
Result<engine::Tuned> tuned(const engine::Request& request, const engine::Machine& machine,
                            const ChoosePlan& how) {
  std::atomic<bool> stopped{false};
  tuner::TuneOptions tuning = how.tuning;
  tuning.cancel = &stopped;
  tuning.worker = worker_program();
  if (how.progress)
    tuning.progress = [&](const tuner::Progress& progress) {
      if (!how.progress(progress)) stopped = true;
    };
  Result<engine::Tuned> found = tuner::tuned(request, machine, std::move(tuning));
  if (stopped)
    return Error{ErrorKind::Cancelled, "tuning was stopped by the caller",
                 how.database ? "what was measured is recorded" : "without a database nothing was recorded"};
  return found;
}

// Calls `body` with the request and the machine, whose context is current for as long: the caller's stays
// his.
template <class Body>
auto asked(const Device& device, const step::Cell& cell, const schedule::Problem& problem,
           const ChoosePlan& how, Body body)
    -> decltype(body(std::declval<const engine::Request&>(), std::declval<const engine::Machine&>())) {
  engine::Request request = how.request;
  request.cell = &cell;
  request.problem = problem;
  request.trust.note = device.note;
  Result<engine::Given> given = own_data(cell, problem, how.data);
  if (!given) return given.error();
  request.trust.given = std::move(given).value();
  request.trust.trial = [own = request.trust.given](const schedule::Task& task,
                                                    const executable::Executable& executable,
                                                    std::int64_t turn) {
    return tuner::verify_alone(task, executable, turn, worker_program(), own);
  };
  request.outline = how.outline;
  request.stand_in = device.cuda ? engine::StandIn::None : engine::StandIn::Reference;
  if (how.tunes)
    request.tune = [&how](const engine::Request& of, const engine::Machine& machine) {
      return tuned(of, machine, how);
    };
  std::optional<runtime::ScopedCurrent> current;
  const runtime::BesideCaptures beside;  // another thread may capture while this one makes a plan
  if (device.cuda) {
    auto entered = runtime::ScopedCurrent::enter(*device.cuda);
    if (!entered) return entered.error();
    current.emplace(std::move(entered).value());
  }
  const Result<engine::Machine> machine = machine_of(device, how.database.get());
  if (!machine) return machine.error();
  return body(request, *machine);
}

// What training saves, and the request for its plans.
struct Way {
  engine::Request request;
  engine::Save save;
  std::int64_t every;
};

// As asked for, but for a bound on memory. Where no kernels compute it there is nothing to bound.
Result<Way> way_of(const engine::Request& request, const engine::Machine& machine, const ChoosePlan& how,
                   engine::Save save, std::int64_t every) {
  Way way{request, save, every};
  if (how.most_memory > 0) {
    const Result<engine::FittingWays> ways = engine::ways_within(request, machine, how.most_memory);
    if (!ways) return ways.error();
    const engine::SavingWay* best = ways->best();
    way.save = best == nullptr ? engine::Save::States : best->save;
    way.every = best == nullptr ? 0 : best->every;
  }
  way.request.problem = problem_of_part(request.problem, way.every);
  return way;
}

}  // namespace

namespace {

Result<TrainingPlans> plans_of(const std::shared_ptr<const Device>& device,
                               const std::shared_ptr<const step::Cell>& cell, engine::TrainingAnswer answer,
                               const ChoosePlan& how, std::int64_t every) {
  PlanResult forward = made_of(device, cell, std::move(answer.forward), how);
  if (!forward) return forward.error();
  PlanResult backward = made_of(device, cell, std::move(answer.backward), how);
  if (!backward) return backward.error();
  TrainingPlans plans{answer.save, std::move(forward).value(), std::move(backward).value(), every};
  if (!answer.again) return plans;
  PlanResult again = made_of(device, {std::move(*answer.again), answer.known}, how);
  if (!again) return again.error();
  plans.again = std::move(again).value();
  plans.again_of = answer.known->tensors;
  return plans;
}

}  // namespace

Result<std::unique_ptr<PlanObject>> plan_for(const std::shared_ptr<const Device>& device,
                                             const std::shared_ptr<const step::Cell>& cell,
                                             const schedule::Problem& problem, const ChoosePlan& how) {
  return asked(*device, *cell, problem, how,
               [&](const engine::Request& request, const engine::Machine& machine) -> PlanResult {
                 Result<engine::Answer> answer = engine::answer(request, machine);
                 if (!answer) return answer.error();
                 return made_of(device, cell, std::move(answer).value(), how);
               });
}

PlanResult again_for(const std::shared_ptr<const Device>& device,
                     const std::shared_ptr<const step::Cell>& cell, const schedule::Problem& problem,
                     const ChoosePlan& how) {
  if (how.tunes)
    return Error{ErrorKind::Input, "RONDO_CHOOSE_TUNE is of a cell's own passes, and not of RONDO_PASS_AGAIN",
                 "take another way to choose"};
  return asked(*device, *cell, problem, how,
               [&](const engine::Request& request, const engine::Machine& machine) -> PlanResult {
                 Result<engine::AgainAnswer> again = engine::answer_again(request, machine);
                 if (!again) return again.error();
                 return made_of(device, std::move(again).value(), how);
               });
}

schedule::Problem problem_of_part(schedule::Problem problem, std::int64_t every) {
  if (every > 0) problem.sizes.time = std::min(problem.sizes.time, every);
  return problem;
}

Result<TrainingPlans> training_for(const std::shared_ptr<const Device>& device,
                                   const std::shared_ptr<const step::Cell>& cell,
                                   const schedule::Problem& problem, const ChoosePlan& how, engine::Save save,
                                   std::int64_t every) {
  return asked(*device, *cell, problem_of_part(problem, every), how,
               [&](const engine::Request& request, const engine::Machine& machine) -> Result<TrainingPlans> {
                 const Result<Way> way = way_of(request, machine, how, save, every);
                 if (!way) return way.error();
                 Result<engine::TrainingAnswer> answer =
                     engine::answer_training(way->request, machine, way->save);
                 if (!answer) return answer.error();
                 if (way->every > 0) {
                   answer->parts = {problem.sizes.time, way->every, answer->parts.reversed};
                   if (Status status = engine::add_again(way->request, *answer); !status)
                     return status.error();
                 }
                 return plans_of(device, cell, std::move(answer).value(), how, way->every);
               });
}

std::string worker_program() {
  if (std::string named = environment("RONDO_WORKER"); !named.empty()) return named;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&worker_program), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code ignored;
    const std::filesystem::path folder =
        std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
    for (const char* place : {"rondo", "../bin/rondo", "../../bin/rondo"}) {
      const std::filesystem::path program = folder / place;
      if (std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0 &&
          !others_may_change(program.string()))
        return program.string();
    }
  }
  return "/no rondo program beside the library";
}

}  // namespace rondo::capi
