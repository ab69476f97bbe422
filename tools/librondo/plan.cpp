#include "runtime/capi/launch/status.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/reference_plan.h"

namespace rondo::capi {

namespace {

// Of the CPU's reference, with nothing rounded.
Result<std::unique_ptr<PlanObject>> unrounded_plan(const std::shared_ptr<const Device>& device,
                                                   const step::Cell& cell, rondo_problem given,
                                                   const ChoosePlan& how) {
  const std::string& strategy = how.request.overrides.strategy;
  if (device->cuda || how.tunes || how.lock || how.request.only_recorded ||
      !how.request.overrides.parameters.empty() || (!strategy.empty() && strategy != "reference"))
    return Error{ErrorKind::Unsupported, "no kernel computes RONDO_TYPE_F64",
                 "take a context of the CPU, and let nothing choose: the reference computes it"};
  given.type = RONDO_TYPE_F32;
  const auto asked = problem_of(cell, given);
  if (!asked) return asked.error();
  return reference_plan(device, {cell, *asked, {}}, Stored::Unrounded);
}

Status create_plan(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem,
                   const rondo_plan_options* options, rondo_plan** plan) {
  const auto where = object_of<ContextObject>(context);
  if (!where) return where.error();
  const auto what = object_of<CellObject>(cell);
  if (!what) return what.error();
  // Held for the length of the call.
  const std::shared_ptr<const Device> device = (*where)->device;
  const std::shared_ptr<const step::Cell> step_cell = (*what)->cell;
  const auto given = read_problem(problem);
  if (!given) return given.error();
  const auto how = choice_of(options);
  if (!how) return how.error();
  if (given->type == RONDO_TYPE_F64) {
    auto made = unrounded_plan(device, *step_cell, *given, *how);
    if (!made) return made.error();
    *plan = new_handle(std::move(made).value());
    return success();
  }
  const auto asked = problem_of(*step_cell, *given);
  if (!asked) return asked.error();
  auto made = plan_for(device, step_cell, *asked, *how);
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
    return capi::create_plan(context, cell, problem, options, plan);
  });
}

}  // extern "C"
