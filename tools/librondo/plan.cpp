#include "runtime/capi/launch/status.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/outline.h"
#include "tools/librondo/reference_plan.h"

namespace rondo::capi {

namespace {

using MadePlan = Result<std::unique_ptr<PlanObject>>;

// Of the CPU's reference, with nothing rounded.
MadePlan unrounded_plan(const std::shared_ptr<const Device>& device, const schedule::Task& task,
                        const ChoosePlan& how) {
  const std::string& strategy = how.request.overrides.strategy;
  if (device->cuda || how.tunes || how.lock || how.request.only_recorded ||
      !how.request.overrides.parameters.empty() || (!strategy.empty() && strategy != "reference"))
    return Error{ErrorKind::Unsupported, "no kernel computes RONDO_TYPE_F64",
                 "take a context of the CPU, and let nothing choose: the reference computes it"};
  if (!how.outline) return reference_plan(device, task, Stored::Unrounded);
  const Result<executable::Executable> executable = reference_executable(task, Stored::Unrounded);
  if (!executable) return executable.error();
  return outline_of(device, *executable, reference_facts());
}

// `any`: the outline of any plan, for which `context` is not read.
Status create_plan(rondo_context* context, bool any, const rondo_cell* cell, const rondo_problem* problem,
                   const Result<ChoosePlan>& how, rondo_plan** plan) {
  std::shared_ptr<const Device> device;  // held for the length of the call
  if (!any) {
    const auto where = object_of<ContextObject>(context);
    if (!where) return where.error();
    device = (*where)->device;
  }
  const auto what = object_of<CellObject>(cell);
  if (!what) return what.error();
  const std::shared_ptr<const step::Cell> step_cell = (*what)->cell;
  auto given = read_problem(problem);
  if (!given) return given.error();
  const bool unrounded = given->type == RONDO_TYPE_F64;
  if (unrounded) given->type = RONDO_TYPE_F32;
  const auto asked = problem_of(*step_cell, *given);
  if (!asked) return asked.error();
  if (!how) return how.error();
  const schedule::Task task{*step_cell, *asked, {}};
  MadePlan made = any         ? outline_of_any(task, unrounded ? Stored::Unrounded : Stored::AsOnGpus)
                  : unrounded ? unrounded_plan(device, task, *how)
                              : plan_for(device, step_cell, *asked, *how);
  if (!made) return made.error();
  *plan = new_handle(std::move(made).value());
  return success();
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_plan_create(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem,
                               const rondo_plan_options* options, rondo_plan** plan) {
  return capi::guarded([&]() -> Status {
    if (Status status = capi::not_null(plan, "plan"); !status) return status;
    *plan = nullptr;
    return capi::create_plan(context, false, cell, problem, capi::choice_of(options), plan);
  });
}

rondo_status rondo_plan_outline(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem,
                                const rondo_plan_options* options, rondo_plan** plan) {
  return capi::guarded([&]() -> Status {
    if (Status status = capi::not_null(plan, "plan"); !status) return status;
    *plan = nullptr;
    return capi::create_plan(context, context == nullptr, cell, problem, capi::outline_choice_of(options),
                             plan);
  });
}

}  // extern "C"
