// Requests of the C interface to the service that makes plans (engine/service/service.h), and its answers.
#pragma once

#include <rondo/rondo.h>

#include <functional>
#include <memory>
#include <vector>

#include "compiler/schedule/problem/problem.h"
#include "engine/service/service.h"
#include "runtime/capi/launch/plan.h"
#include "tuner/tune/tune.h"

namespace rondo::capi {

// Errors: Input (an unknown value, a size below 1, a constant that the cell has not), Unsupported.
Result<schedule::Problem> problem_of(const step::Cell& cell, const rondo_problem& given);

// rondo_plan_options, read and checked: a request without cell and problem.
struct ChoosePlan {
  engine::Request request;
  std::shared_ptr<db::Database> database;         // that the request asks; may be null
  std::shared_ptr<const db::PinnedChoices> lock;  // the same
  bool tunes = false;
  bool outline = false;             // what would be chosen, without its code (outline.h)
  std::int64_t most_workspace = 0;  // bytes; 0: any
  std::int64_t most_memory = 0;     // of training, bytes; 0: any
  tuner::TuneOptions tuning;
  std::vector<rondo_array> data;  // of the caller, whose numbers are read during his call
  // False: stop.
  std::function<bool(const tuner::Progress&)> progress;
};
// `given` may be null. Errors: Input.
Result<ChoosePlan> choice_of(const rondo_plan_options* given);
// The same of an outline, which measures nothing.
Result<ChoosePlan> outline_choice_of(const rondo_plan_options* given);

// The caller's arrays as data of the cell. None: null. Errors (Input): those of the command's own data
// (engine/arrays/run_arrays.h), or H or D of another problem.
Result<engine::Given> own_data(const step::Cell& cell, const schedule::Problem& problem,
                               const std::vector<rondo_array>& arrays);

// The plan of the problem on the device, which is a CPU or a GPU. Errors: those of rondo_plan_create().
Result<std::unique_ptr<PlanObject>> plan_for(const std::shared_ptr<const Device>& device,
                                             const std::shared_ptr<const step::Cell>& cell,
                                             const schedule::Problem& problem, const ChoosePlan& how);

// The plan that saves again what that of the problem saves, given its outputs. Errors: Input (it is to be
// tuned), those of engine::answer_again().
Result<std::unique_ptr<PlanObject>> again_for(const std::shared_ptr<const Device>& device,
                                              const std::shared_ptr<const step::Cell>& cell,
                                              const schedule::Problem& problem, const ChoosePlan& how);

// Both plans of training, whatever the problem's pass, and what is saved: of parts of `every` steps, or, 0,
// in one piece.
struct TrainingPlans {
  engine::Save save;
  std::unique_ptr<PlanObject> forward, backward;
  std::int64_t every = 0;
  std::unique_ptr<PlanObject> again = {};  // of parts: saves again, given the outputs; may be none
  std::vector<schedule::KnownOutputs::Of> again_of = {};  // what its tensors stand for
};
// Of all steps' problem the one that plans of parts of `every` steps are chosen for; 0: the same.
schedule::Problem problem_of_part(schedule::Problem problem, std::int64_t every);
// The problem is of all steps. With `how.most_memory` the way is chosen.
Result<TrainingPlans> training_for(const std::shared_ptr<const Device>& device,
                                   const std::shared_ptr<const step::Cell>& cell,
                                   const schedule::Problem& problem, const ChoosePlan& how, engine::Save save,
                                   std::int64_t every);

// What a caller asks for, with his problem read, whatever version he was compiled with. What is behind the
// handles is held.
struct AskedPlan {
  std::shared_ptr<const Device> device;  // none for `any` device, where the context is not read
  std::shared_ptr<const step::Cell> cell;
  bool saves_products = false;  // CellObject's
  rondo_problem given{};
};
Result<AskedPlan> read_asked(const rondo_context* context, bool any, const rondo_cell* cell,
                             const rondo_problem* problem);

// The `rondo` program that belongs to this library, which compiles and tries kernels in processes of its own
// when it tunes: that of RONDO_WORKER, else the one beside the library or in bin/ of its installation. Never
// the calling program, which knows nothing of workers. Where there is none, a path that says so: the work is
// done in this process then, and a note tells why.
std::string worker_program();

}  // namespace rondo::capi
