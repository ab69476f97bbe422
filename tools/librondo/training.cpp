#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/capi/launch/call.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/outline.h"
#include "tools/librondo/training.h"

namespace rondo::capi {

namespace {

constexpr std::size_t kFirstTrainingInfo = RONDO_SIZE_TO(rondo_training_info, shared);
constexpr std::size_t kFirstShared = RONDO_SIZE_TO(rondo_shared_tensor, role);
constexpr std::size_t kFirstSizes = RONDO_SIZE_TO(rondo_training_sizes, backward_workspace_bytes);

std::vector<Shared> shared_tensors(const PlanObject& forward, const PlanObject& backward) {
  std::vector<Shared> shared;
  for (std::size_t f = 0; f < forward.bound.size(); ++f)
    for (std::size_t b = 0; b < backward.bound.size(); ++b)
      if (forward.tensor(f).ref == backward.tensor(b).ref)
        shared.push_back({forward.tensor(f).name, static_cast<std::int32_t>(f), static_cast<std::int32_t>(b),
                          forward.tensor(f).written, static_cast<std::int32_t>(forward.tensor(f).ref.role)});
  return shared;
}

// Outlines of any plans: what is saved is what the problem says.
Result<TrainingPlans> any_training(const step::Cell& cell, const schedule::Problem& all, engine::Save save,
                                   std::int64_t every) {
  if (save == engine::Save::Faster)
    return Error{ErrorKind::Input, "RONDO_SAVE_AUTO depends on what is chosen",
                 "make the outline with a context, or say what is saved"};
  schedule::Problem problem = problem_of_part(all, every);
  auto forward = outline_of_any({cell, problem, {}});
  if (!forward) return forward.error();
  problem.pass = schedule::Pass::Backward;
  auto backward = outline_of_any({cell, problem, {}});
  if (!backward) return backward.error();
  return TrainingPlans{save, std::move(forward).value(), std::move(backward).value(), every};
}

rondo_training_sizes sizes_of(const TrainingObject& training, std::int64_t batch, std::int64_t time) {
  rondo_training_sizes sizes{};
  sizes.parts = 1;
  if (training.every > 0) {
    const engine::PartBindings parts = parts_of(training, batch, time);
    sizes.parts = parts.parts().count();
    sizes.saved_bytes = parts.region_bytes();
    time = parts.parts().part(0).steps;
  }
  for (const Shared& shared : training.shared) {
    const executable::Tensor& tensor = training.forward->tensor(static_cast<std::size_t>(shared.forward));
    if (training.every == 0 && executable::is_saved(tensor.ref.role))
      sizes.saved_bytes += tensor.size.at(batch, time) * scalar::storage_bytes(tensor.storage);
  }
  // Outlines of any plans have none that is known: 0. The last part of several is the shorter one.
  const auto workspace = [&](const PlanObject& plan) {
    return plan.work->check_workspace() ? plan.work->workspace_bytes(batch, time) : 0;
  };
  sizes.forward_workspace_bytes = workspace(*training.forward);
  if (training.again)
    sizes.forward_workspace_bytes = std::max(sizes.forward_workspace_bytes, workspace(*training.again));
  sizes.backward_workspace_bytes = workspace(*training.backward);
  return sizes;
}

// Whether plans need what was chosen for: they may have become others.
Status check_memory(const TrainingObject& training, std::int64_t most, const step::Sizes& at) {
  if (most == 0) return success();
  const rondo_training_sizes sizes = sizes_of(training, at.batch, at.time);
  const std::int64_t needed =
      sizes.saved_bytes + std::max(sizes.forward_workspace_bytes, sizes.backward_workspace_bytes);
  const bool kernels = training.backward->identity.strategy != "reference";
  if (!kernels || needed <= most) return success();
  return Error{
      ErrorKind::Unsupported,
      fmt::format("the plans need {} bytes, and {} are allowed (rondo_plan_options.most_memory): other "
                  "plans were chosen, and are not what they were taken for",
                  needed, most),
      "try again, which takes what is recorded now, or allow more"};
}

Status check_parts(const rondo_problem& given, const step::Cell& cell) {
  if (given.every == 0) return success();
  if (given.every < 0)
    return Error{ErrorKind::Input,
                 fmt::format("rondo_problem.every is {}: parts have a step at least", given.every),
                 "0 stands for all steps in one piece"};
  if (given.save != RONDO_SAVE_STATES)
    return Error{ErrorKind::Input, "rondo_problem.every keeps states, and another way to save is asked for",
                 "take RONDO_SAVE_STATES"};
  return engine::check_parts_of_time(cell);
}

// `any`: outlines of any plans, for which `context` is not read.
Result<std::unique_ptr<TrainingObject>> create_training(rondo_context* context, bool any,
                                                        const rondo_cell* cell, const rondo_problem* problem,
                                                        Result<ChoosePlan> how) {
  Result<AskedPlan> of = read_asked(context, any, cell, problem);
  if (!of) return of.error();
  if (!how) return how.error();
  const rondo_problem given = of->given;
  const bool faster = given.save == RONDO_SAVE_AUTO;
  of->given.pass = RONDO_PASS_FORWARD_SAVE;
  if (faster) of->given.save = RONDO_SAVE_STATES;
  auto asked = problem_of(*of->cell, of->given);
  if (!asked) return asked.error();
  if (Status status = check_parts(given, *of->cell); !status) return status.error();
  if (how->most_memory > 0 && (!faster || any))
    return Error{ErrorKind::Input, "rondo_plan_options.most_memory decides what is saved",
                 "take RONDO_SAVE_AUTO, and a context"};
  const engine::Save save = faster                 ? engine::Save::Faster
                            : asked->save_products ? engine::Save::Products
                                                   : engine::Save::States;
  how->tuning.budget_s /= faster && of->saves_products && how->most_memory == 0 ? 4 : 2;
  auto plans = any ? any_training(*of->cell, *asked, save, given.every)
                   : training_for(of->device, of->cell, *asked, *how, save, given.every);
  if (!plans) return plans.error();
  auto made = make_training(*of->cell, std::move(plans).value());
  // The pass that makes states again of outputs may need more than the cell's own.
  if (made->again && !check_memory(*made, how->most_memory, asked->sizes)) {
    made->again.reset();
    made->again_of.clear();
  }
  if (Status status = check_memory(*made, how->most_memory, asked->sizes); !status) return status.error();
  return made;
}

Result<const PlanObject*> plan_of(const TrainingObject& training, std::int32_t pass) {
  if (pass == RONDO_PASS_FORWARD_SAVE) return training.forward.get();
  if (pass == RONDO_PASS_BACKWARD) return training.backward.get();
  return Error{ErrorKind::Input, fmt::format("training has no pass {}", pass),
               "it has RONDO_PASS_FORWARD_SAVE and RONDO_PASS_BACKWARD"};
}

}  // namespace

std::unique_ptr<TrainingObject> make_training(const step::Cell& cell, TrainingPlans plans) {
  auto made = std::make_unique<TrainingObject>();
  made->every = plans.every;
  made->reversed = cell.direction == step::Direction::Reversed;
  made->save = plans.save == engine::Save::Products ? RONDO_SAVE_PRODUCTS : RONDO_SAVE_STATES;
  made->shared = shared_tensors(*plans.forward, *plans.backward);
  made->forward = std::move(plans.forward);
  made->backward = std::move(plans.backward);
  made->again = std::move(plans.again);
  made->again_of = std::move(plans.again_of);
  return made;
}

}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface
using capi::TrainingObject;

extern "C" {

rondo_status rondo_training_create(rondo_context* context, const rondo_cell* cell,
                                   const rondo_problem* problem, const rondo_plan_options* options,
                                   rondo_training** training) {
  return capi::create<TrainingObject>(training, "training", [&] {
    return capi::create_training(context, false, cell, problem, capi::choice_of(options));
  });
}

rondo_status rondo_training_outline(rondo_context* context, const rondo_cell* cell,
                                    const rondo_problem* problem, const rondo_plan_options* options,
                                    rondo_training** training) {
  return capi::create<TrainingObject>(training, "training", [&] {
    return capi::create_training(context, context == nullptr, cell, problem,
                                 capi::outline_choice_of(options));
  });
}

rondo_status rondo_training_destroy(rondo_training* training) {
  return capi::destroy<TrainingObject>(training);
}

rondo_status rondo_training_get_info(const rondo_training* training, rondo_training_info* info) {
  return capi::with<TrainingObject>(training, [&](const auto& object) -> Status {
    rondo_training_info result{};
    result.save = object.save;
    result.every = object.every;
    result.shared = static_cast<std::int32_t>(object.shared.size());
    return capi::write_struct(result, info, capi::kFirstTrainingInfo, "rondo_training_info");
  });
}

rondo_status rondo_training_get_plan(const rondo_training* training, int32_t pass, rondo_plan** plan) {
  return capi::create<capi::PlanObject>(plan, "plan", [&]() -> Result<std::unique_ptr<capi::PlanObject>> {
    const auto object = capi::object_of<TrainingObject>(training);
    if (!object) return object.error();
    const auto found = capi::plan_of(**object, pass);
    if (!found) return found.error();
    return std::make_unique<capi::PlanObject>(**found);
  });
}

rondo_status rondo_training_get_shared(const rondo_training* training, int32_t index,
                                       rondo_shared_tensor* tensor) {
  return capi::with<TrainingObject>(training, [&](const auto& object) -> Status {
    const auto element = capi::element_of(object.shared, index, "shared tensor");
    if (!element) return element.error();
    const capi::Shared& found = **element;
    rondo_shared_tensor result{};
    result.name = found.name.c_str();
    result.forward = found.forward;
    result.backward = found.backward;
    result.saved = found.saved ? 1 : 0;
    result.role = found.role;
    return capi::write_struct(result, tensor, capi::kFirstShared, "rondo_shared_tensor");
  });
}

rondo_status rondo_training_get_sizes(const rondo_training* training, int64_t batch, int64_t time,
                                      rondo_training_sizes* sizes) {
  return capi::with<TrainingObject>(training, [&](const auto& object) -> Status {
    if (Status status = capi::check_sizes(batch, time); !status) return status;
    return capi::write_struct(capi::sizes_of(object, batch, time), sizes, capi::kFirstSizes,
                              "rondo_training_sizes");
  });
}

}  // extern "C"
