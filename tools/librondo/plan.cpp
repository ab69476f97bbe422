#include "runtime/capi/launch/call.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/outline.h"
#include "tools/librondo/reference_plan.h"

namespace rondo::capi {

namespace {

using MadePlan = Result<std::unique_ptr<PlanObject>>;

// `any`: the outline of any plan, for which `context` is not read.
MadePlan create_plan(rondo_context* context, bool any, const rondo_cell* cell, const rondo_problem* problem,
                     const Result<ChoosePlan>& how) {
  Result<AskedPlan> of = read_asked(context, any, cell, problem);
  if (!of) return of.error();
  if (of->given.every != 0)
    return Error{ErrorKind::Input, "rondo_problem.every is of training, and a plan is one pass",
                 "rondo_training_create() makes plans of parts"};
  const bool again = of->given.pass == RONDO_PASS_AGAIN;
  if (again && any)
    return Error{ErrorKind::Input, "whether there is a pass RONDO_PASS_AGAIN depends on what is chosen",
                 "make the outline with a context"};
  if (again) of->given.pass = RONDO_PASS_FORWARD_SAVE;
  const auto asked = problem_of(*of->cell, of->given);
  if (!asked) return asked.error();
  if (!how) return how.error();
  if (any) return outline_of_any({*of->cell, *asked, {}});
  return again ? again_for(of->device, of->cell, *asked, *how) : plan_for(of->device, of->cell, *asked, *how);
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_plan_create(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem,
                               const rondo_plan_options* options, rondo_plan** plan) {
  return capi::create<capi::PlanObject>(plan, "plan", [&] {
    return capi::create_plan(context, false, cell, problem, capi::choice_of(options));
  });
}

rondo_status rondo_plan_outline(rondo_context* context, const rondo_cell* cell, const rondo_problem* problem,
                                const rondo_plan_options* options, rondo_plan** plan) {
  return capi::create<capi::PlanObject>(plan, "plan", [&] {
    return capi::create_plan(context, context == nullptr, cell, problem, capi::outline_choice_of(options));
  });
}

}  // extern "C"
