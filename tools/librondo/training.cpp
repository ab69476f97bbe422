#include <fmt/format.h>

#include <vector>

#include "runtime/capi/launch/status.h"
#include "tools/librondo/cell.h"
#include "tools/librondo/choose.h"
#include "tools/librondo/outline.h"

namespace rondo::capi {

namespace {

constexpr std::size_t kFirstTrainingInfo = RONDO_SIZE_TO(rondo_training_info, shared);
constexpr std::size_t kFirstShared = RONDO_SIZE_TO(rondo_shared_tensor, role);
constexpr std::size_t kFirstSizes = RONDO_SIZE_TO(rondo_training_sizes, backward_workspace_bytes);

// A tensor that both passes have.
struct Shared {
  std::string name;
  std::int32_t forward = 0, backward = 0;
  bool saved = false;
  std::int32_t role = 0;
};

struct TrainingObject {
  std::int32_t save = RONDO_SAVE_STATES;
  std::unique_ptr<PlanObject> forward, backward;
  std::vector<Shared> shared;
};

}  // namespace

template <>
struct HandleOf<TrainingObject> {
  using Handle = rondo_training;
  static constexpr HandleKind kind = HandleKind::Training;
};

namespace {

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
Result<TrainingPlans> any_training(const step::Cell& cell, schedule::Problem problem, engine::Save save) {
  if (save == engine::Save::Faster)
    return Error{ErrorKind::Input, "RONDO_SAVE_AUTO depends on what is chosen",
                 "make the outline with a context, or say what is saved"};
  auto forward = outline_of_any({cell, problem, {}});
  if (!forward) return forward.error();
  problem.pass = schedule::Pass::Backward;
  auto backward = outline_of_any({cell, problem, {}});
  if (!backward) return backward.error();
  return TrainingPlans{save, std::move(forward).value(), std::move(backward).value()};
}

// `any`: outlines of any plans, for which `context` is not read.
Status create_training(rondo_context* context, bool any, const rondo_cell* cell, const rondo_problem* problem,
                       Result<ChoosePlan> how, rondo_training** training) {
  std::shared_ptr<const Device> device;
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
  if (!how) return how.error();
  const bool faster = given->save == RONDO_SAVE_AUTO;
  given->pass = RONDO_PASS_FORWARD_SAVE;
  if (faster) given->save = RONDO_SAVE_STATES;
  const auto asked = problem_of(*step_cell, *given);
  if (!asked) return asked.error();
  const engine::Save save = faster                 ? engine::Save::Faster
                            : asked->save_products ? engine::Save::Products
                                                   : engine::Save::States;
  how->tuning.budget_s /= faster && (*what)->saves_products ? 4 : 2;
  auto plans =
      any ? any_training(*step_cell, *asked, save) : training_for(device, step_cell, *asked, *how, save);
  if (!plans) return plans.error();
  auto made = std::make_unique<TrainingObject>();
  made->save = plans->save == engine::Save::Products ? RONDO_SAVE_PRODUCTS : RONDO_SAVE_STATES;
  made->shared = shared_tensors(*plans->forward, *plans->backward);
  made->forward = std::move(plans->forward);
  made->backward = std::move(plans->backward);
  *training = new_handle(std::move(made));
  return success();
}

Status sizes_of(const TrainingObject& training, std::int64_t batch, std::int64_t time,
                rondo_training_sizes* into) {
  if (batch < 0 || time < 0)
    return Error{ErrorKind::Input, fmt::format("B = {}, T = {}: none may be negative", batch, time), ""};
  rondo_training_sizes sizes{};
  for (const Shared& shared : training.shared) {
    const executable::Tensor& tensor = training.forward->tensor(static_cast<std::size_t>(shared.forward));
    if (tensor.ref.role == executable::Role::History || tensor.ref.role == executable::Role::Products)
      sizes.saved_bytes += tensor.size.at(batch, time) * scalar::storage_bytes(tensor.storage);
  }
  // Outlines of any plans have none that is known: 0.
  const auto workspace = [&](const PlanObject& plan) {
    return plan.work->check_workspace() ? plan.work->workspace_bytes(batch, time) : 0;
  };
  sizes.forward_workspace_bytes = workspace(*training.forward);
  sizes.backward_workspace_bytes = workspace(*training.backward);
  return write_struct(sizes, into, kFirstSizes, "rondo_training_sizes");
}

Result<const PlanObject*> plan_of(const TrainingObject& training, std::int32_t pass) {
  if (pass == RONDO_PASS_FORWARD_SAVE) return training.forward.get();
  if (pass == RONDO_PASS_BACKWARD) return training.backward.get();
  return Error{ErrorKind::Input, fmt::format("training has no pass {}", pass),
               "it has RONDO_PASS_FORWARD_SAVE and RONDO_PASS_BACKWARD"};
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface
using capi::TrainingObject;

extern "C" {

rondo_status rondo_training_create(rondo_context* context, const rondo_cell* cell,
                                   const rondo_problem* problem, const rondo_plan_options* options,
                                   rondo_training** training) {
  return capi::guarded([&]() -> Status {
    if (Status status = capi::not_null(training, "training"); !status) return status;
    *training = nullptr;
    return capi::create_training(context, false, cell, problem, capi::choice_of(options), training);
  });
}

rondo_status rondo_training_outline(rondo_context* context, const rondo_cell* cell,
                                    const rondo_problem* problem, const rondo_plan_options* options,
                                    rondo_training** training) {
  return capi::guarded([&]() -> Status {
    if (Status status = capi::not_null(training, "training"); !status) return status;
    *training = nullptr;
    return capi::create_training(context, context == nullptr, cell, problem, capi::outline_choice_of(options),
                                 training);
  });
}

rondo_status rondo_training_destroy(rondo_training* training) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::taken_object<TrainingObject>(training);
    return object ? success() : Status(object.error());
  });
}

rondo_status rondo_training_get_info(const rondo_training* training, rondo_training_info* info) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::object_of<TrainingObject>(training);
    if (!object) return object.error();
    rondo_training_info result{};
    result.save = (*object)->save;
    result.shared = static_cast<std::int32_t>((*object)->shared.size());
    return capi::write_struct(result, info, capi::kFirstTrainingInfo, "rondo_training_info");
  });
}

rondo_status rondo_training_get_plan(const rondo_training* training, int32_t pass, rondo_plan** plan) {
  return capi::guarded([&]() -> Status {
    if (Status status = capi::not_null(plan, "plan"); !status) return status;
    *plan = nullptr;
    const auto object = capi::object_of<TrainingObject>(training);
    if (!object) return object.error();
    const auto found = capi::plan_of(**object, pass);
    if (!found) return found.error();
    *plan = capi::new_handle(std::make_unique<capi::PlanObject>(**found));
    return success();
  });
}

rondo_status rondo_training_get_shared(const rondo_training* training, int32_t index,
                                       rondo_shared_tensor* tensor) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::object_of<TrainingObject>(training);
    if (!object) return object.error();
    const auto& shared = (*object)->shared;
    if (index < 0 || static_cast<std::size_t>(index) >= shared.size())
      return Error{ErrorKind::Input,
                   fmt::format("there is no shared tensor {}: there are {}, from 0", index, shared.size()),
                   ""};
    const capi::Shared& found = shared[static_cast<std::size_t>(index)];
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
  return capi::guarded([&]() -> Status {
    const auto object = capi::object_of<TrainingObject>(training);
    if (!object) return object.error();
    return capi::sizes_of(**object, batch, time, sizes);
  });
}

}  // extern "C"
