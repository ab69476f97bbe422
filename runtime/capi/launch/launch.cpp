#include "runtime/capi/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "compiler/executable/footprint.h"
#include "compiler/executable/workspace.h"
#include "compiler/support/integers.h"
#include "runtime/capi/launch/call.h"

namespace rondo::capi {

namespace {

using executable::Address;
using executable::Binding;
using executable::Bindings;
using executable::Role;
using executable::Tensor;

constexpr std::size_t kFirstArgs = RONDO_SIZE_TO(rondo_launch_args, stream);
constexpr std::size_t kFirstTensor = RONDO_SIZE_TO(rondo_tensor, strides);

// The caller's strides against those of a dense row-major tensor, from the innermost axis outwards up to
// axis `outer`.
Status check_inner_strides(const Tensor& tensor, const rondo_tensor& given, int outer) {
  std::int64_t dense = 1;
  for (int i = given.rank - 1; i >= outer; --i) {
    const std::int64_t extent = given.extents[i];
    if (extent > 1 && given.strides[i] != dense)
      return wrong(tensor,
                   fmt::format("has a stride of {} elements in axis {}; a dense one has {}", given.strides[i],
                               i, dense),
                   outer > 0 ? "only B and T, its first two axes, take strides" : "it must be dense");
    if (__builtin_mul_overflow(dense, extent, &dense)) dense = executable::SizeRule::kMost;
  }
  return success();
}

Status check_shape(const Tensor& tensor, const TensorAxes& axes, const rondo_tensor& given,
                   const rondo_launch_args& args) {
  if (given.rank != axes.rank)
    return wrong(tensor,
                 fmt::format("has rank {}; the plan's has {}: {}", given.rank, axes.rank, tensor.shape),
                 "rank 0 stands for a dense tensor of the plan's shape");
  for (int i = 0; i < axes.rank; ++i) {
    const std::int64_t extent = axes.extents[static_cast<std::size_t>(i)];
    const std::int64_t wanted = extent == RONDO_EXTENT_BATCH  ? args.batch
                                : extent == RONDO_EXTENT_TIME ? args.time
                                                              : extent;
    if (given.extents[i] != wanted)
      return wrong(tensor, fmt::format("has extent {} in axis {}; the plan's {} has {} at B = {}, T = {}",
                                       given.extents[i], i, tensor.shape, wanted, args.batch, args.time));
  }
  return check_inner_strides(tensor, given, executable::has_time_axis(tensor.ref.role) ? 2 : 0);
}

Result<Binding> binding_of(const PlanObject& plan, const rondo_tensor& given, const rondo_launch_args& args) {
  if (Status status = check_index(plan, given.index); !status) return status.error();
  const auto index = static_cast<std::size_t>(given.index);
  const Tensor& tensor = plan.tensor(index);
  if (given.type != static_cast<std::int32_t>(tensor.storage))
    return wrong(tensor, fmt::format("is given with type {}; the plan's has type {}, {}", given.type,
                                     static_cast<int>(tensor.storage), scalar::storage_name(tensor.storage)));
  if (given.bytes < 0 && given.bytes != RONDO_BYTES_UNKNOWN)
    return wrong(tensor, fmt::format("is given {} bytes", given.bytes),
                 "RONDO_BYTES_UNKNOWN stands for a size that is not known");
  Binding binding{tensor.ref, address_of(given.data), {}, {}};
  if (given.bytes >= 0) binding.bytes = given.bytes;
  if (given.rank == 0) return binding;
  if (Status status = check_shape(tensor, plan.axes[index], given, args); !status) return status.error();
  if (executable::has_time_axis(tensor.ref.role))
    binding.strides = executable::Strides{given.strides[0], given.strides[1]};
  return binding;
}

}  // namespace

Error wrong(const Tensor& tensor, std::string what, std::string hint) {
  return {ErrorKind::Input, fmt::format("tensor '{}' {}", tensor.name, what), std::move(hint)};
}

Address address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

Result<rondo_launch_args> read_args(const rondo_launch_args* args) {
  return read_struct(args, kFirstArgs, "rondo_launch_args");
}

Status bind(const PlanObject& plan, const rondo_launch_args& args, Bindings& bindings) {
  if (args.tensor_count > kMostGiven)
    return Error{ErrorKind::Input, fmt::format("{} tensors are given; no plan has more than {}",
                                               args.tensor_count, kMostGiven)};
  if (args.tensor_count > 0) {
    if (Status status = not_null(args.tensors, "rondo_launch_args.tensors"); !status) return status;
    if (Status status = check_size(args.tensor_size, kFirstTensor, "rondo_tensor"); !status) return status;
  }
  const auto* at = reinterpret_cast<const unsigned char*>(args.tensors);
  rondo_tensor copy{};
  for (std::size_t i = 0; i < args.tensor_count; ++i, at += args.tensor_size) {
    const bool same_size = args.tensor_size == sizeof copy;  // as for all callers of this version
    if (!same_size) {
      std::memcpy(&copy, at, std::min(args.tensor_size, sizeof copy));
      if (Status status = check_rest(at, args.tensor_size, sizeof copy, "rondo_tensor"); !status)
        return status;
    }
    const rondo_tensor& given = same_size ? args.tensors[i] : copy;
    const Result<Binding> binding = binding_of(plan, given, args);
    if (!binding) return binding.error();
    if (bindings.find(binding->tensor) != nullptr)
      return wrong(plan.tensor(static_cast<std::size_t>(given.index)), "is given twice");
    bindings.set(*binding);
  }
  if (args.workspace_bytes < 0)
    return Error{ErrorKind::Input, fmt::format("the workspace has {} bytes", args.workspace_bytes)};
  if (args.workspace != nullptr) bindings.set_workspace(address_of(args.workspace), args.workspace_bytes);
  return success();
}

namespace {

// Of a launch with these tensors. Of no rows or no steps nothing is launched.
std::int64_t workspace_of(const PlanObject& plan, const Bindings& bindings, std::int64_t batch,
                          std::int64_t time) {
  const std::int64_t of_any = plan.work->workspace_bytes(batch, time);
  if (of_any == 0) return 0;
  return std::min(of_any, executable::used_workspace_bytes(plan.work->tensors(), bindings, batch, time));
}

// One state of a step that is updated in place: where the kernels leave it, and where it goes then.
struct InPlace {
  Address result = 0, state = 0;
  std::int64_t bytes = 0;
};

std::int64_t align_up(std::int64_t bytes) { return round_up(bytes, executable::kRegionAlignment); }

std::int64_t state_bytes(const Tensor& tensor, std::int64_t batch) {
  return tensor.size.at(batch, 1) * scalar::storage_bytes(tensor.storage);
}

const Tensor* last_of(const PlanObject& plan, const Tensor& initial) {
  for (std::size_t i = 0; i < plan.bound.size(); ++i)
    if (plan.tensor(i).ref == executable::TensorRef{Role::LastState, initial.ref.tensor})
      return &plan.tensor(i);
  return nullptr;
}

Status check_step(const PlanObject& plan) {
  for (std::size_t i = 0; i < plan.bound.size(); ++i)
    if (plan.tensor(i).ref.role == Role::LastState) return success();
  return Error{ErrorKind::Unsupported,
               fmt::format("plan '{}' of pass {} has no last state to step to", plan.identity.strategy,
                           plan.identity.pass),
               "step with a forward plan of a cell that has a state"};
}

std::int64_t step_workspace(const PlanObject& plan, std::int64_t batch) {
  std::int64_t bytes = align_up(plan.work->workspace_bytes(batch, 1));
  for (std::size_t i = 0; i < plan.bound.size(); ++i)
    if (plan.tensor(i).ref.role == Role::LastState) bytes += align_up(state_bytes(plan.tensor(i), batch));
  return bytes;
}

// Whether the state, which is written after the launch, lies apart from all else that is given.
Status check_apart(const PlanObject& plan, const Tensor& state, const Binding& bound,
                   const Bindings& bindings, const rondo_launch_args& args) {
  const auto reach = executable::footprint_of(state, bound.pointer, {}, args.batch, 1);
  if (!reach) return success();  // the launch refuses it
  for (const Binding& other : bindings.entries()) {
    if (other.tensor == bound.tensor || other.tensor.role == Role::Workspace) continue;
    for (std::size_t i = 0; i < plan.bound.size(); ++i) {
      const Tensor& tensor = plan.tensor(i);
      if (tensor.ref != other.tensor) continue;
      const executable::Strides strides =
          other.strides.value_or(executable::Strides{tensor.unit, tensor.unit});
      const auto place = executable::footprint_of(tensor, other.pointer, strides, args.batch, 1);
      if (place && executable::meet(*reach, *place))
        return wrong(state, fmt::format("is updated in place and shares memory with '{}'", tensor.name),
                     "give each state memory of its own");
    }
  }
  return success();
}

// Binds the results of states that are updated in place to the end of the workspace.
Status bind_in_place(const PlanObject& plan, const rondo_launch_args& args, Bindings& bindings,
                     std::array<InPlace, kMostGiven>& states, std::size_t& count) {
  std::int64_t next = align_up(plan.work->workspace_bytes(args.batch, 1));
  const std::int64_t needed = step_workspace(plan, args.batch);
  for (std::size_t i = 0; i < plan.bound.size(); ++i) {
    const Tensor& initial = plan.tensor(i);
    if (initial.ref.role != Role::InitialState) continue;
    const Binding* given = bindings.find(initial.ref);
    const Tensor* last = last_of(plan, initial);
    if (given == nullptr || last == nullptr) continue;
    const Binding* result = bindings.find(last->ref);
    if (result != nullptr && result->pointer != given->pointer) continue;
    const std::int64_t all = state_bytes(*last, args.batch);
    if (result != nullptr && result->bytes && *result->bytes < all)
      return wrong(*last,
                   fmt::format("needs {} bytes at B = {}; it is given {}", all, args.batch, *result->bytes));
    if (args.workspace == nullptr || args.workspace_bytes < needed)
      return Error{ErrorKind::Input,
                   fmt::format("a step of B = {} needs {} bytes of workspace; it is given {}", args.batch,
                               needed, args.workspace == nullptr ? 0 : args.workspace_bytes),
                   "rondo_plan_step_workspace_bytes() says how much"};
    InPlace& state = states[count++];
    state = {address_of(args.workspace) + static_cast<Address>(next), given->pointer, all};
    if (given->bytes && *given->bytes < state.bytes)
      return wrong(initial, fmt::format("needs {} bytes at B = {}; it is given {}", state.bytes, args.batch,
                                        *given->bytes));
    next += align_up(state.bytes);
    const Binding own = *given;
    bindings.set(last->ref, state.result, std::nullopt, state.bytes);
    if (Status status = check_apart(plan, initial, own, bindings, args); !status) return status;
  }
  // What the launch uses itself ends where the states begin.
  if (count > 0)
    bindings.set_workspace(address_of(args.workspace), align_up(plan.work->workspace_bytes(args.batch, 1)));
  return success();
}

Status step(const PlanObject& plan, rondo_launch_args args, Bindings& bindings) {
  if (Status status = check_step(plan); !status) return status;
  if (args.time != 0 && args.time != 1)
    return Error{ErrorKind::Input, fmt::format("a step has T = 1, not {}", args.time), "see rondo_launch()"};
  args.time = 1;
  if (args.batch < 0) return Error{ErrorKind::Input, fmt::format("B = {}: it is not negative", args.batch)};
  if (Status status = bind(plan, args, bindings); !status) return status;
  if (args.batch == 0) return plan.work->launch(args.stream, bindings, 0, 1);
  std::array<InPlace, kMostGiven> states;
  std::size_t count = 0;
  if (Status status = bind_in_place(plan, args, bindings, states, count); !status) return status;
  if (Status status = plan.work->launch(args.stream, bindings, args.batch, 1); !status) return status;
  for (std::size_t i = 0; i < count; ++i)
    if (Status status = plan.work->copy(args.stream, states[i].state, states[i].result, states[i].bytes);
        !status)
      return status;
  return success();
}

// What a thread's calls bind, kept so that a launch allocates nothing.
Bindings& bindings_of_thread() {
  thread_local Bindings bindings;
  bindings.clear();
  return bindings;
}

// A lambda that captures one reference is held without an allocation.
using WithArgs = std::function<Status(const PlanObject&, const rondo_launch_args&, Bindings&)>;

rondo_status with_args(const rondo_plan* plan, const rondo_launch_args* args, const WithArgs& body) {
  return with<PlanObject>(plan, [&](const auto& object) -> Status {
    const Result<rondo_launch_args> given = read_args(args);
    if (!given) return given.error();
    return body(object, *given, bindings_of_thread());
  });
}

}  // namespace
}  // namespace rondo::capi

using namespace rondo;  // NOLINT: a source of the C interface

extern "C" {

rondo_status rondo_launch(const rondo_plan* plan, const rondo_launch_args* args) {
  return capi::with_args(plan, args, [](const auto& object, const auto& given, auto& bindings) -> Status {
    if (Status status = capi::bind(object, given, bindings); !status) return status;
    return object.work->launch(given.stream, bindings, given.batch, given.time);
  });
}

rondo_status rondo_step(const rondo_plan* plan, const rondo_launch_args* args) {
  return capi::with_args(plan, args, capi::step);
}

rondo_status rondo_plan_prepare(const rondo_plan* plan, const rondo_launch_args* args) {
  return capi::with_args(plan, args, [](const auto& object, const auto& given, auto& bindings) -> Status {
    if (Status status = capi::bind(object, given, bindings); !status) return status;
    return object.work->prepare(bindings, given.batch, given.time);
  });
}

rondo_status rondo_plan_launch_workspace_bytes(const rondo_plan* plan, const rondo_launch_args* args,
                                               int64_t* bytes) {
  return capi::with_args(plan, args, [&](const auto& object, const auto& given, auto& bindings) -> Status {
    if (Status status = capi::not_null(bytes, "bytes"); !status) return status;
    if (Status status = capi::check_sizes(given.batch, given.time); !status) return status;
    if (Status status = object.work->check_workspace(); !status) return status;
    if (Status status = capi::bind(object, given, bindings); !status) return status;
    *bytes = capi::workspace_of(object, bindings, given.batch, given.time);
    return success();
  });
}

rondo_status rondo_plan_step_workspace_bytes(const rondo_plan* plan, int64_t batch, int64_t* bytes) {
  return capi::with<capi::PlanObject>(plan, [&](const auto& object) -> Status {
    if (Status status = capi::not_null(bytes, "bytes"); !status) return status;
    if (batch < 0) return Error{ErrorKind::Input, fmt::format("B = {}: it is not negative", batch)};
    if (Status status = capi::check_step(object); !status) return status;
    if (Status status = object.work->check_workspace(); !status) return status;
    *bytes = capi::step_workspace(object, batch);
    return success();
  });
}

}  // extern "C"
