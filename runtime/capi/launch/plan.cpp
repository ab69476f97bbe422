#include "runtime/capi/launch/plan.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "runtime/capi/launch/call.h"

namespace rondo::capi {

namespace {

using executable::Role;
using executable::Tensor;
using scalar::Storage;

constexpr std::size_t kFirstPlanInfo = RONDO_SIZE_TO(rondo_plan_info, expected_ms);
constexpr std::size_t kFirstTensorInfo = RONDO_SIZE_TO(rondo_tensor_info, extents);

static_assert(RONDO_TYPE_F32 == static_cast<int>(Storage::F32) &&
              RONDO_TYPE_BF16 == static_cast<int>(Storage::BF16) &&
              RONDO_TYPE_F16 == static_cast<int>(Storage::F16) &&
              RONDO_TYPE_I32 == static_cast<int>(Storage::I32) &&
              RONDO_TYPE_U8 == static_cast<int>(Storage::U8) &&
              RONDO_TYPE_F64 == static_cast<int>(Storage::F64));
static_assert(RONDO_ROLE_INPUT == static_cast<int>(Role::Input) &&
              RONDO_ROLE_PARAM == static_cast<int>(Role::Param) &&
              RONDO_ROLE_INITIAL_STATE == static_cast<int>(Role::InitialState) &&
              RONDO_ROLE_OUTPUT == static_cast<int>(Role::Output) &&
              RONDO_ROLE_HISTORY == static_cast<int>(Role::History) &&
              RONDO_ROLE_LAST_STATE == static_cast<int>(Role::LastState) &&
              RONDO_ROLE_PRODUCTS == static_cast<int>(Role::Products) &&
              RONDO_ROLE_OUTPUT_GRADIENT == static_cast<int>(Role::OutputGradient) &&
              RONDO_ROLE_LAST_STATE_GRADIENT == static_cast<int>(Role::LastStateGradient) &&
              RONDO_ROLE_INPUT_GRADIENT == static_cast<int>(Role::InputGradient) &&
              RONDO_ROLE_PARAM_GRADIENT == static_cast<int>(Role::ParamGradient) &&
              RONDO_ROLE_INITIAL_STATE_GRADIENT == static_cast<int>(Role::InitialStateGradient) &&
              RONDO_ROLE_RESETS == static_cast<int>(Role::Resets) &&
              RONDO_ROLE_LENGTHS == static_cast<int>(Role::Lengths));
static_assert(RONDO_NEED_REQUIRED == static_cast<int>(executable::Need::Required) &&
              RONDO_NEED_ZERO == static_cast<int>(executable::Need::Zero) &&
              RONDO_NEED_DISCARD == static_cast<int>(executable::Need::Discard));

// "B", "T", "H", "D" or a number of at least 0.
std::optional<std::int64_t> extent_of(std::string_view word, std::int64_t heads, std::int64_t dim) {
  if (word == "B") return RONDO_EXTENT_BATCH;
  if (word == "T") return RONDO_EXTENT_TIME;
  if (word == "H") return heads;
  if (word == "D") return dim;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<TensorAxes> read_shape(std::string_view shape, std::int64_t heads, std::int64_t dim) {
  if (shape.size() < 2 || shape.front() != '[' || shape.back() != ']') return std::nullopt;
  shape = shape.substr(1, shape.size() - 2);
  TensorAxes axes;
  while (true) {
    const std::size_t comma = shape.find(", ");
    const auto extent = extent_of(shape.substr(0, comma), heads, dim);
    if (!extent || axes.rank == RONDO_MOST_AXES) return std::nullopt;
    axes.extents[static_cast<std::size_t>(axes.rank++)] = *extent;
    if (comma == std::string_view::npos) return axes;
    shape.remove_prefix(comma + 2);
  }
}

// Elements of a step, a batch row or the whole; B and T first where the role has them, and nowhere else.
bool agrees(const TensorAxes& axes, const Tensor& tensor) {
  const executable::RoleInfo& role = executable::role_info(tensor.ref.role);
  std::int64_t elements = 1;
  const int outer = (role.per_batch ? 1 : 0) + (role.timed ? 1 : 0);
  for (int i = 0; i < axes.rank; ++i) {
    const std::int64_t extent = axes.extents[static_cast<std::size_t>(i)];
    if (i < outer) {
      if (extent != (i == 0 ? RONDO_EXTENT_BATCH : RONDO_EXTENT_TIME)) return false;
    } else if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) {
      return false;
    }
  }
  return axes.rank >= outer && elements == tensor.unit;
}

rondo_plan_info describe(const PlanObject& plan) {
  rondo_plan_info info{};
  info.cell = plan.identity.cell_name.c_str();
  info.cell_hash = plan.identity.cell_hash.c_str();
  info.variant = plan.identity.variant.c_str();
  info.pass = plan.identity.pass.c_str();
  info.type = plan.identity.storage.c_str();
  info.math = plan.identity.math.c_str();
  info.strategy = plan.identity.strategy.c_str();
  info.parameters = plan.identity.parameters.c_str();
  info.origin = plan.facts.origin.c_str();
  info.note = plan.facts.note.c_str();
  info.producer = plan.identity.producer.c_str();
  info.batch = plan.identity.batch;
  info.time = plan.identity.time;
  info.heads = plan.identity.heads;
  info.dim = plan.identity.dim;
  info.tensors = static_cast<std::int32_t>(plan.bound.size());
  info.verified = plan.facts.verified ? 1 : 0;
  info.expected_ms = plan.facts.expected_ms;
  info.outline = plan.work->outline();
  return info;
}

rondo_tensor_info describe(const PlanObject& plan, std::size_t index) {
  const Tensor& tensor = plan.tensor(index);
  rondo_tensor_info info{};
  info.name = tensor.name.c_str();
  info.shape = tensor.shape.c_str();
  info.role = static_cast<std::int32_t>(tensor.ref.role);
  info.type = static_cast<std::int32_t>(tensor.storage);
  info.need = static_cast<std::int32_t>(tensor.need);
  info.written = tensor.written ? 1 : 0;
  info.strided = executable::has_time_axis(tensor.ref.role) ? 1 : 0;
  info.alignment = tensor.alignment;
  info.rank = plan.axes[index].rank;
  for (std::size_t i = 0; i < plan.axes[index].extents.size(); ++i)
    info.extents[i] = plan.axes[index].extents[i];
  info.first_value = double{tensor.first};
  return info;
}

Result<std::int32_t> find_tensor(const PlanObject& plan, std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < plan.bound.size(); ++i) {
    if (plan.tensor(i).name == name) return static_cast<std::int32_t>(i);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", plan.tensor(i).name);
  }
  return Error{ErrorKind::Missing, fmt::format("the plan has no tensor '{}'", name), "it has: " + known};
}

// More batch rows need more blocks of every kernel, so what does not fit ends where it begins.
Result<std::int64_t> largest_batch(const capi::Work& work, std::int64_t time) {
  if (Status status = work.check_fits(1, time); !status) return status.error();
  std::int64_t fits = 1, too_many = std::int64_t{1} << 31;
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (work.check_fits(middle, time) ? fits : too_many) = middle;
  }
  return fits;
}

}  // namespace

Status check_index(const PlanObject& plan, std::int32_t index) {
  if (index >= 0 && static_cast<std::size_t>(index) < plan.bound.size()) return success();
  return Error{ErrorKind::Input,
               fmt::format("there is no tensor {}: the plan has {} of them", index, plan.bound.size()),
               "they count from 0 to rondo_plan_info.tensors - 1"};
}

Status check_sizes(std::int64_t batch, std::int64_t time) {
  if (batch >= 0 && time >= 0) return success();
  return Error{ErrorKind::Input, fmt::format("B = {}, T = {}: none may be negative", batch, time)};
}

// More steps need no less workspace, so what does not fit ends where it begins.
Result<std::int64_t> longest_time(const Work& work, std::int64_t batch, std::int64_t workspace_bytes) {
  if (Status status = work.check_workspace(); !status) return status.error();
  if (const std::int64_t least = work.workspace_bytes(batch, 1); least > workspace_bytes)
    return Error{ErrorKind::Unsupported,
                 fmt::format("a single step of B = {} needs a workspace of {} bytes, and {} are allowed",
                             batch, least, workspace_bytes),
                 "allow more, or take fewer rows at once"};
  std::int64_t fits = 1, too_many = std::int64_t{1} << 31;
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (work.workspace_bytes(batch, middle) <= workspace_bytes ? fits : too_many) = middle;
  }
  return fits;
}

TensorAxes axes_of(const Tensor& tensor, std::int64_t heads, std::int64_t dim) {
  const std::optional<TensorAxes> read = read_shape(tensor.shape, heads, dim);
  if (read && agrees(*read, tensor)) return *read;
  const executable::RoleInfo& role = executable::role_info(tensor.ref.role);
  TensorAxes axes;
  const auto add = [&](std::int64_t extent) { axes.extents[static_cast<std::size_t>(axes.rank++)] = extent; };
  if (role.per_batch) add(RONDO_EXTENT_BATCH);
  if (role.timed) add(RONDO_EXTENT_TIME);
  add(tensor.unit);
  return axes;
}

std::unique_ptr<PlanObject> make_plan(std::shared_ptr<const Device> device, executable::Identity identity,
                                      std::unique_ptr<Work> work, PlanFacts facts) {
  auto plan = std::make_unique<PlanObject>();
  plan->device = std::move(device);
  plan->identity = std::move(identity);
  plan->facts = std::move(facts);
  plan->work = std::move(work);
  const std::vector<Tensor>& tensors = plan->work->tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (executable::is_internal(tensors[i].ref.role)) continue;
    plan->bound.push_back(i);
    plan->axes.push_back(axes_of(tensors[i], plan->identity.heads, plan->identity.dim));
  }
  return plan;
}

Result<std::unique_ptr<PlanObject>> load_plan(std::shared_ptr<const Device> device,
                                              const executable::Executable& executable, PlanFacts facts) {
  Result<std::unique_ptr<Work>> work = cuda_work(device, executable);
  if (!work) return work.error();
  return make_plan(std::move(device), executable.identity, std::move(work).value(), std::move(facts));
}

}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface
using capi::PlanObject;

extern "C" {

rondo_status rondo_plan_get_info(const rondo_plan* plan, rondo_plan_info* info) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    return capi::write_struct(capi::describe(object), info, capi::kFirstPlanInfo, "rondo_plan_info");
  });
}

rondo_status rondo_plan_destroy(rondo_plan* plan) { return capi::destroy<PlanObject>(plan); }

rondo_status rondo_plan_get_tensor(const rondo_plan* plan, int32_t index, rondo_tensor_info* info) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::check_index(object, index); !status) return status;
    return capi::write_struct(capi::describe(object, static_cast<std::size_t>(index)), info,
                              capi::kFirstTensorInfo, "rondo_tensor_info");
  });
}

rondo_status rondo_plan_find_tensor(const rondo_plan* plan, const char* name, int32_t* index) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(name, "name"); !status) return status;
    if (Status status = capi::not_null(index, "index"); !status) return status;
    return capi::give(capi::find_tensor(object, name), index);
  });
}

rondo_status rondo_plan_tensor_bytes(const rondo_plan* plan, int32_t index, int64_t batch, int64_t time,
                                     int64_t* bytes) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(bytes, "bytes"); !status) return status;
    if (Status status = capi::check_index(object, index); !status) return status;
    if (Status status = capi::check_sizes(batch, time); !status) return status;
    const executable::Tensor& tensor = object.tensor(static_cast<std::size_t>(index));
    *bytes = tensor.size.at(batch, time) * scalar::storage_bytes(tensor.storage);
    return success();
  });
}

rondo_status rondo_plan_workspace_bytes(const rondo_plan* plan, int64_t batch, int64_t time, int64_t* bytes) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(bytes, "bytes"); !status) return status;
    if (Status status = capi::check_sizes(batch, time); !status) return status;
    if (Status status = object.work->check_workspace(); !status) return status;
    *bytes = object.work->workspace_bytes(batch, time);
    return success();
  });
}

rondo_status rondo_plan_longest_time(const rondo_plan* plan, int64_t batch, int64_t workspace_bytes,
                                     int64_t* time) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(time, "time"); !status) return status;
    if (Status status = capi::check_sizes(batch, 1); !status) return status;
    return capi::give(capi::longest_time(*object.work, batch, workspace_bytes), time);
  });
}

rondo_status rondo_plan_largest_batch(const rondo_plan* plan, int64_t time, int64_t* batch) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(batch, "batch"); !status) return status;
    return capi::give(capi::largest_batch(*object.work, time), batch);
  });
}

rondo_status rondo_plan_check_stream(const rondo_plan* plan, void* stream, int32_t* ended) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(ended, "ended"); !status) return status;
    *ended = 0;
    const Result<bool> found = object.work->has_ended(stream);
    if (!found) return found.error();
    if (!*found) return success();
    *ended = 1;
    return object.work->check();
  });
}

rondo_status rondo_plan_check(const rondo_plan* plan) {
  return capi::with<PlanObject>(plan, [&](const auto& object) -> Status { return object.work->check(); });
}

}  // extern "C"
