#include "runtime/plan/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <variant>

#include "compiler/schedule/plan/signature.h"

namespace rondo::runtime {

using schedule::Role;
using schedule::TensorRef;

namespace {

constexpr std::size_t kMaxTensors = 128;
constexpr std::size_t kMaxArguments = 256;
constexpr std::int64_t kMaxGrid =
    2147483647;                             // CUDA C++ Programming Guide, "Compute Capabilities": x of a grid
constexpr std::int64_t kMaxTime = 1 << 30;  // kernels add a stage to a step number in 32 bits
constexpr std::int64_t kMaxUnit = 2147483647;    // kernels number the elements of one step in 32 bits
constexpr std::int64_t kMaxStride = 2147483647;  // of T: kernels take it with 32 bits
constexpr std::int64_t kRegionAlignment = 256;

std::int64_t align_up(std::int64_t bytes) {
  return (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

schedule::Extent in_bytes(const schedule::Extent& elements, int element_bytes) {
  return {elements.fixed * element_bytes, elements.per_batch * element_bytes};
}

Error input_error(std::string message, std::string hint = "") {
  return {ErrorKind::Input, std::move(message), std::move(hint)};
}

}  // namespace

Result<PlanArguments> PlanArguments::make(const step::Cell& cell, const schedule::Problem& problem,
                                          const schedule::KernelPlan& plan) {
  PlanArguments result;
  result.plan_name_ = fmt::format("{} {}", plan.strategy, schedule::print(plan.parameters));
  result.alignment_ = std::max(plan.alignment, kernel::storage_bytes(problem.storage));
  result.own_bytes_fixed_ = plan.workspace_elements_fixed * 4;
  result.own_bytes_per_batch_ = plan.workspace_elements_per_batch * 4;
  result.exchange_ = plan.exchange;
  result.packed_ = in_bytes(plan.packed, kernel::storage_bytes(problem.storage));
  result.vectors_ = in_bytes(plan.vectors, kernel::storage_bytes(problem.storage));
  result.carries_ = in_bytes(plan.carries, 4);
  for (const int rows : plan.scratch_rows)
    result.scratch_units_.push_back(rows * problem.sizes.heads * problem.sizes.dim *
                                    kernel::storage_bytes(problem.storage));
  for (const schedule::Launch& launch : plan.launches)
    if (Status status = result.add_launch(launch, cell, problem); !status) return status.error();
  return result;
}

Status PlanArguments::add_launch(const schedule::Launch& launch, const step::Cell& cell,
                                 const schedule::Problem& problem) {
  const std::vector<kernel::Param>& params = launch.kernel.params;
  if (params.size() != launch.arguments.size() || params.size() > kMaxArguments)
    return Error{ErrorKind::Internal,
                 fmt::format("kernel {} has {} parameters and {} arguments (at most {})", launch.kernel.name,
                             params.size(), launch.arguments.size(), kMaxArguments),
                 ""};
  LaunchTable table;
  table.grid = {launch.blocks_fixed, launch.blocks_per_batch, launch.batch_tile, launch.time_tile,
                launch.tiles_together};
  table.each_step = launch.each_step;
  for (std::size_t i = 0; i < params.size(); ++i) {
    Slot slot{SlotKind::Batch, 0};
    if (std::holds_alternative<schedule::Time>(launch.arguments[i])) slot.kind = SlotKind::Time;
    if (std::holds_alternative<schedule::FirstTile>(launch.arguments[i])) slot.kind = SlotKind::FirstTile;
    if (std::holds_alternative<schedule::StepCount>(launch.arguments[i])) slot.kind = SlotKind::StepCount;
    auto of_tensor = [&](SlotKind kind, TensorRef ref, Access access) -> Status {
      const Result<std::uint8_t> index = index_of(ref, access, cell, problem);
      if (!index) return index.error();
      slot = {kind, *index};
      return success();
    };
    const Status status = std::visit(
        [&](const auto& argument) -> Status {
          using A = std::decay_t<decltype(argument)>;
          if constexpr (std::is_same_v<A, schedule::Pointer>)
            return of_tensor(SlotKind::Pointer, argument.tensor,
                             params[i].written ? Access::Writes : Access::Reads);
          else if constexpr (std::is_same_v<A, schedule::StrideB>)
            return of_tensor(SlotKind::StrideB, argument.tensor, Access::Names);
          else if constexpr (std::is_same_v<A, schedule::StrideT>)
            return of_tensor(SlotKind::StrideT, argument.tensor, Access::Names);
          else
            return success();
        },
        launch.arguments[i]);
    if (!status) return status.error();
    table.slots.push_back(slot);
  }
  launches_.push_back(std::move(table));
  return success();
}

Result<std::uint8_t> PlanArguments::index_of(TensorRef ref, Access access, const step::Cell& cell,
                                             const schedule::Problem& problem) {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].ref == ref) {
      // A result that a later launch of the plan reads cannot be thrown away.
      if (access == Access::Reads && tensors_[i].need == Need::Discard) tensors_[i].need = Need::Required;
      tensors_[i].written |= access == Access::Writes;
      return static_cast<std::uint8_t>(i);
    }
  if (tensors_.size() == kMaxTensors)
    return Error{ErrorKind::Unsupported,
                 fmt::format("cell {} needs more than {} tensors", cell.name, kMaxTensors),
                 "join tensors of the cell into rows of one: x[4, D]"};
  PlanTensor tensor;
  tensor.ref = ref;
  tensor.name = schedule::name_of(ref, cell);
  tensor.written = access == Access::Writes;
  if (ref.role == Role::Scratch) {
    tensor.element_bytes = kernel::storage_bytes(problem.storage);
    tensor.unit = scratch_units_.at(static_cast<std::size_t>(ref.tensor)) / tensor.element_bytes;
  } else if (!schedule::is_internal(ref.role)) {
    tensor.timed = schedule::has_time_axis(ref.role);
    tensor.need = need_of(ref.role);
    tensor.wide =
        tensor.timed || (ref.role == Role::Param &&
                         cell.tensors[static_cast<std::size_t>(ref.tensor)].tail == step::Tail::Matrix);
    tensor.element_bytes = kernel::storage_bytes(schedule::storage_of(ref, cell, problem));
    tensor.unit = unit_elements(ref, cell, problem.sizes);
    if (tensor.unit > kMaxUnit)
      return Error{ErrorKind::Unsupported,
                   fmt::format("tensor '{}' has {} elements a step; the limit is {}", tensor.name,
                               tensor.unit, kMaxUnit),
                   "split the heads over several calls"};
  }
  tensors_.push_back(std::move(tensor));
  return static_cast<std::uint8_t>(tensors_.size() - 1);
}

std::int64_t PlanArguments::Grid::blocks(std::int64_t batch, std::int64_t time) const {
  const std::int64_t rows = (batch + batch_tile - 1) / batch_tile;
  return fixed + per_batch * rows * (time_tile > 0 ? (time + time_tile - 1) / time_tile : 1);
}

// Where a Scratch tensor begins, relative to the first; with `scratch` past the last: where they end.
std::int64_t PlanArguments::scratch_offset(std::size_t scratch, std::int64_t batch, std::int64_t time) const {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < scratch; ++i) offset += align_up(scratch_units_[i] * batch * time);
  return offset;
}

PlanArguments::Regions PlanArguments::regions(std::int64_t batch, std::int64_t time) const {
  std::int64_t zero = 0;
  std::int64_t discard = 0;
  for (const PlanTensor& tensor : tensors_) {
    if (tensor.need == Need::Required) continue;
    // A tensor with a time axis gets one step, walked with strides of 0.
    const bool once = tensor.timed || tensor.ref.role == Role::ParamGradient;
    const std::int64_t bytes = tensor.unit * tensor.element_bytes * (once ? 1 : batch);
    std::int64_t& region = tensor.need == Need::Zero ? zero : discard;
    region = std::max(region, bytes);
  }
  Regions result;
  result.exchange = align_up(own_bytes_fixed_ + own_bytes_per_batch_ * batch);
  result.packed = result.exchange + align_up(exchange_.elements(batch, time) * 4);
  result.vectors = result.packed + align_up(packed_.elements(batch));
  result.carries = result.vectors + align_up(vectors_.elements(batch));
  result.scratch = result.carries + align_up(carries_.elements(batch));
  result.zero = result.scratch + scratch_offset(scratch_units_.size(), batch, time);
  result.zero_bytes = zero;
  result.discard = result.zero + align_up(zero);
  result.total = result.discard + align_up(discard);
  return result;
}

std::int64_t PlanArguments::workspace_bytes(std::int64_t batch, std::int64_t time) const {
  return regions(batch, time).total;
}

Status PlanArguments::check_sizes(std::int64_t batch, std::int64_t time) const {
  if (batch < 1 || batch > kMaxGrid)
    return input_error(fmt::format("batch size B = {} is outside 1 ... {}", batch, kMaxGrid));
  if (time < 1 || time > kMaxTime)
    return input_error(fmt::format("number of steps T = {} is outside 1 ... {}", time, kMaxTime),
                       time < 1 ? "" : "cut the sequence and carry the states from one call to the next");
  for (const LaunchTable& launch : launches_) {
    // The first product cannot overflow with T and B below 2^31 and blocks of one batch row below 2^31 / T.
    const bool fits = launch.grid.blocks(1, time) <= kMaxGrid && launch.grid.blocks(batch, time) <= kMaxGrid;
    if (!fits)
      return input_error(
          fmt::format("B = {}, T = {} needs {} blocks; a grid has at most {}", batch, time,
                      launch.grid.blocks(batch, time), kMaxGrid),
          fmt::format(
              "split the batch into calls of at most B = {}",
              std::max<std::int64_t>(1, kMaxGrid / std::max<std::int64_t>(1, launch.grid.blocks(1, time)))));
  }
  return success();
}

Status PlanArguments::find_workspace(const Bindings& bindings, Call& call) const {
  call.regions = regions(call.batch, call.time);
  const Binding* bound = bindings.find({Role::Workspace, -1});
  if (bound != nullptr) call.workspace = bound->pointer;
  if (call.regions.total == 0) return success();
  if (call.workspace % static_cast<DeviceAddress>(kRegionAlignment) != 0)
    return input_error(
        fmt::format("the workspace at 0x{:x} is not aligned to {} bytes", call.workspace, kRegionAlignment),
        "pass what the allocator returned, without an offset");
  return success();
}

Status PlanArguments::place(const PlanTensor& tensor, const Bindings& bindings, Call& call,
                            Place& place) const {
  auto in_workspace = [&](std::int64_t offset, std::int64_t bytes) -> Status {
    if (call.workspace == 0 && bytes > 0)
      return input_error(
          fmt::format("no workspace is bound; '{}' needs {} bytes of it", tensor.name, bytes),
          fmt::format("allocate workspace_bytes(B = {}, T = {}) = {} bytes and pass it with set_workspace()",
                      call.batch, call.time, call.regions.total));
    place = {call.workspace + static_cast<DeviceAddress>(offset), {0, 0}};
    return success();
  };
  if (tensor.ref.role == Role::Status) {
    place.pointer = status_;
    return success();
  }
  if (tensor.ref.role == Role::Workspace)
    return in_workspace(0, own_bytes_fixed_ + own_bytes_per_batch_ * call.batch);
  if (tensor.ref.role == Role::Exchange)
    return in_workspace(call.regions.exchange, 4 * exchange_.elements(call.batch, call.time));
  if (schedule::is_kept(tensor.ref.role)) {
    const bool packed = tensor.ref.role == Role::Packed, vectors = tensor.ref.role == Role::Vectors;
    const schedule::Extent& extent = packed ? packed_ : vectors ? vectors_ : carries_;
    return in_workspace(packed    ? call.regions.packed
                        : vectors ? call.regions.vectors
                                  : call.regions.carries,
                        extent.elements(call.batch));
  }
  if (tensor.ref.role == Role::Scratch) {
    const auto index = static_cast<std::size_t>(tensor.ref.tensor);
    Status status = in_workspace(call.regions.scratch + scratch_offset(index, call.batch, call.time),
                                 scratch_units_[index]);
    place.strides = {tensor.unit * call.time, tensor.unit};
    return status;
  }
  const Binding* bound = bindings.find(tensor.ref);
  if (bound == nullptr) {
    if (tensor.need == Need::Required)
      return input_error(fmt::format("tensor '{}' is not bound", tensor.name),
                         "bind every input, parameter and output, and what one pass saves for the other");
    call.zero_needed |= tensor.need == Need::Zero;
    return in_workspace(tensor.need == Need::Zero ? call.regions.zero : call.regions.discard, tensor.unit);
  }
  place.pointer = bound->pointer;
  place.strides = bound->strides.value_or(Strides{tensor.unit * call.time, tensor.unit});
  return check(tensor, place, call);
}

Status PlanArguments::check(const PlanTensor& tensor, const Place& place, const Call& call) const {
  if (place.pointer == 0)
    return input_error(fmt::format("tensor '{}' is bound to a null pointer", tensor.name),
                       tensor.need == Need::Required ? "" : "leave it unbound if it is not wanted");
  const int alignment = tensor.wide ? alignment_ : tensor.element_bytes;
  if (place.pointer % static_cast<DeviceAddress>(alignment) != 0)
    return input_error(
        fmt::format("tensor '{}' lies at 0x{:x}; plan '{}' needs it aligned to {} bytes", tensor.name,
                    place.pointer, plan_name_, alignment),
        "align the tensor, or choose a plan for the alignment it has (ChooseOptions::alignment)");
  if (!tensor.timed) return success();
  // A stride that only ever multiplies 0 may be anything.
  if (call.batch > 1)
    if (Status status = check_stride(tensor, "B", place.strides.b); !status) return status;
  if (call.time > 1) {
    if (std::abs(place.strides.t) > kMaxStride)
      return input_error(
          fmt::format("tensor '{}' has a stride of {} elements in T; kernels count those with 32 "
                      "bits, so at most {} fit",
                      tensor.name, place.strides.t, kMaxStride),
          "copy it to a dense layout, [B, T, ...] or [T, B, ...]");
    if (Status status = check_stride(tensor, "T", place.strides.t); !status) return status;
  }
  return success();
}

Status PlanArguments::check_stride(const PlanTensor& tensor, const char* axis, std::int64_t stride) const {
  if (stride % (alignment_ / tensor.element_bytes) != 0)
    return input_error(
        fmt::format("tensor '{}' has a stride of {} elements in {} ({} bytes each); plan '{}' needs a "
                    "multiple of {} bytes",
                    tensor.name, stride, axis, tensor.element_bytes, plan_name_, alignment_),
        "pad the tensor, or choose a plan for the alignment it has (ChooseOptions::alignment)");
  if (tensor.written && std::abs(stride) < tensor.unit)
    return input_error(
        fmt::format("tensor '{}' is written with a stride of {} elements in {}, less than the {} of one step",
                    tensor.name, stride, axis, tensor.unit),
        "results must not overlap; only tensors that are read may be broadcast");
  return success();
}

bool PlanArguments::has_steps() const {
  return std::any_of(launches_.begin(), launches_.end(),
                     [](const LaunchTable& launch) { return launch.each_step; });
}

std::int64_t PlanArguments::starts(std::int64_t time) const {
  std::int64_t count = 0;
  for (const LaunchTable& launch : launches_) count += launch.each_step ? time : 1;
  return count;
}

Status PlanArguments::launch_parts(LaunchSink& sink, std::size_t k, std::span<void* const> arguments,
                                   std::int64_t* first_tile, const Call& call) const {
  const Grid& grid = launches_[k].grid;
  if (grid.tiles_together == 0) return sink.launch(k, grid.blocks(call.batch, call.time), arguments);
  const std::int64_t tiles = (call.batch + grid.batch_tile - 1) / grid.batch_tile;
  for (std::int64_t first = 0; first < tiles; first += grid.tiles_together) {
    if (first_tile != nullptr) *first_tile = first;
    const std::int64_t rows = std::min(grid.tiles_together, tiles - first) * grid.batch_tile;
    if (Status status = sink.launch(k, grid.blocks(rows, call.time), arguments); !status) return status;
  }
  return success();
}

Status PlanArguments::launch(LaunchSink& sink, const Bindings& bindings, std::int64_t batch,
                             std::int64_t time) const {
  if (Status status = check_sizes(batch, time); !status) return status;
  Call call;
  call.batch = batch;
  call.time = time;
  if (Status status = find_workspace(bindings, call); !status) return status;
  std::array<Place, kMaxTensors> places;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (Status status = place(tensors_[i], bindings, call, places[i]); !status) return status;
  if (call.zero_needed)
    if (Status status = sink.zero(call.workspace + static_cast<DeviceAddress>(call.regions.zero),
                                  call.regions.zero_bytes);
        !status)
      return status;

  for (std::size_t first = 0; first < launches_.size();) {
    const std::size_t end = schedule::section_end(launches_, first);
    const std::int64_t steps = launches_[first].each_step ? time : 1;
    for (std::int64_t step = 0; step < steps; ++step)
      for (std::size_t k = first; k < end; ++k)
        if (Status status = start(sink, k, places, call, step); !status) return status;
    first = end;
  }
  return success();
}

Status PlanArguments::start(LaunchSink& sink, std::size_t k, std::span<const Place> places, const Call& call,
                            std::int64_t step) const {
  std::array<std::int64_t, kMaxArguments> values;
  std::array<void*, kMaxArguments> pointers;
  const LaunchTable& launch = launches_[k];
  std::int64_t* first_tile = nullptr;
  for (std::size_t i = 0; i < launch.slots.size(); ++i) {
    const Place& at = places[launch.slots[i].tensor];
    pointers[i] = &values[i];
    switch (launch.slots[i].kind) {
      case SlotKind::Pointer: std::memcpy(&values[i], &at.pointer, sizeof at.pointer); break;
      case SlotKind::StrideB: values[i] = at.strides.b; break;
      case SlotKind::StrideT: values[i] = at.strides.t; break;
      // 32-bit parameters are read from the low half: CUDA hosts are little-endian.
      case SlotKind::Batch: values[i] = call.batch; break;
      case SlotKind::Time: values[i] = call.time; break;
      case SlotKind::FirstTile: first_tile = &values[i]; break;
      case SlotKind::StepCount: values[i] = step; break;
    }
  }
  return launch_parts(sink, k, {pointers.data(), launch.slots.size()}, first_tile, call);
}

}  // namespace rondo::runtime
