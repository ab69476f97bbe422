// From a problem of the C interface to a plan: by the database, by the model, or tuned now.
#pragma once

#include <rondo/rondo.h>

#include <functional>
#include <memory>

#include "compiler/schedule/problem/problem.h"
#include "engine/commands/emit_stages.h"
#include "runtime/capi/launch/plan.h"
#include "tuner/search/search.h"
#include "tuning_db/lock_file.h"

namespace rondo::capi {

// Errors: Input (an unknown value, a size below 1, a constant that the cell has not), Unsupported. `arch`:
// "sm_90".
Result<schedule::Problem> problem_of(const step::Cell& cell, const rondo_problem& given);

// rondo_plan_options, read and checked.
struct ChoosePlan {
  int how = RONDO_CHOOSE_DEFAULT;
  bool strict = false;
  std::shared_ptr<db::Database> database;  // may be null
  int alignment = engine::kFullAlignment;
  int workers = 0;
  double budget_s = 60;
  // False: stop.
  std::function<bool(const tuner::Progress&)> progress;
  engine::Overrides overrides;
  std::shared_ptr<const db::PinnedChoices> lock;  // may be null
  // Must there be a kernel, on a CPU too? Else the reference may stand in for one.
  bool wants_kernel() const {
    return !overrides.strategy.empty() || !overrides.parameters.empty() || lock != nullptr ||
           how == RONDO_CHOOSE_RECORDED;
  }
};
// `given` may be null. Errors: Input.
Result<ChoosePlan> choice_of(const rondo_plan_options* given);

// The plan of the problem on the device, which is a CPU or a GPU. Errors: those of rondo_plan_create().
Result<std::unique_ptr<PlanObject>> plan_for(const std::shared_ptr<const Device>& device,
                                             const std::shared_ptr<const step::Cell>& cell,
                                             const schedule::Problem& problem, const ChoosePlan& how);

// Reads the caller's problem, whatever version he was compiled with.
Result<rondo_problem> read_problem(const rondo_problem* given);

// The `rondo` program that belongs to this library, which compiles and tries kernels in processes of its own
// when it tunes: that of RONDO_WORKER, else the one beside the library or in bin/ of its installation. Never
// the calling program, which knows nothing of workers. Where there is none, a path that says so: the work is
// done in this process then, and a note tells why.
std::string worker_program();

}  // namespace rondo::capi
