#include "compiler/executable/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "compiler/support/integers.h"

namespace rondo::executable {

namespace {

constexpr std::int64_t kMaxGrid =
    2147483647;                             // CUDA C++ Programming Guide, "Compute Capabilities": x of a grid
constexpr std::int64_t kMaxTime = 1 << 30;  // kernels add a stage to a step number in 32 bits
constexpr std::int64_t kMaxStride = 2147483647;                // of T: kernels take it with 32 bits
constexpr std::int64_t kMaxWorkspace = std::int64_t{1} << 48;  // bytes: more than any device has

Error input_error(std::string message, std::string hint = "") {
  return {ErrorKind::Input, std::move(message), std::move(hint)};
}

Strides dense_strides(const Tensor& tensor, std::int64_t time) {
  Strides strides{0, tensor.unit};
  // What no memory could hold is refused by its footprint.
  if (__builtin_mul_overflow(tensor.unit, time, &strides.b)) strides.b = SizeRule::kMost;
  return strides;
}

std::string strides_text(const Tensor& tensor, const Strides& strides) {
  return has_time_axis(tensor.ref.role)
             ? fmt::format(" with strides of {} elements in B and {} in T", strides.b, strides.t)
             : "";
}

// The address of step T - 1.
Address last_step(const Tensor& tensor, Address first, const Strides& strides, std::int64_t time) {
  return first + static_cast<Address>((time - 1) * strides.t * scalar::storage_bytes(tensor.storage));
}

// Whether a call has nothing to compute.
bool is_empty(std::int64_t batch, std::int64_t time) { return batch == 0 || time == 0; }

// Past the launches that run together with `first`.
std::size_t section_end(const std::vector<Launch>& launches, std::size_t first) {
  const Repetition& repetition = launches[first].repetition;
  std::size_t end = first + 1;
  if (repetition.kind != Repetition::Kind::Once)
    while (end < launches.size() && launches[end].repetition == repetition) ++end;
  return end;
}

std::int64_t repetitions(const Repetition& repetition, std::int64_t time) {
  switch (repetition.kind) {
    case Repetition::Kind::Once: return 1;
    case Repetition::Kind::EachStep: return time;
    case Repetition::Kind::Until: return repetition.most;
  }
  return 1;
}

}  // namespace

Result<Launcher> Launcher::make(const Executable& executable) {
  if (Status status = check(executable); !status) return status.error();
  Launcher result;
  result.plan_name_ = executable.plan_name();
  result.tensors_ = executable.tensors;
  result.launches_ = executable.launches;
  result.workspace_ = WorkspaceRule(executable.tensors);
  for (std::size_t i = 0; i < executable.tensors.size(); ++i)
    result.from_end_[i] = is_walked_from_end(executable, i);
  return result;
}

std::int64_t Launcher::workspace_bytes(std::int64_t batch, std::int64_t time) const {
  if (is_empty(batch, time)) return 0;
  return workspace_.at(tensors_, batch, time).bytes;
}

bool Launcher::repeats() const {
  return std::ranges::any_of(
      launches_, [](const Launch& launch) { return launch.repetition.kind != Repetition::Kind::Once; });
}

std::int64_t Launcher::starts(std::int64_t batch, std::int64_t time) const {
  std::int64_t count = 0;
  for (const Launch& launch : launches_) {
    const std::int64_t together = launch.grid.tiles_together;
    const std::int64_t parts = together == 0 ? 1 : ceil_div(launch.grid.blocks.tiles(batch), together);
    count += parts * repetitions(launch.repetition, time);
  }
  return count;
}

Status Launcher::check_sizes(std::int64_t batch, std::int64_t time) const {
  if (batch < 0 || batch > kMaxGrid)
    return input_error(fmt::format("batch size B = {} is outside 0 ... {}", batch, kMaxGrid));
  if (time < 0 || time > kMaxTime)
    return input_error(fmt::format("number of steps T = {} is outside 0 ... {}", time, kMaxTime),
                       time < 0 ? "" : "cut the sequence and carry the states from one call to the next");
  for (const Launch& launch : launches_) {
    const std::int64_t blocks = launch.grid.blocks.at(batch, time), rows = launch.grid.blocks.rows(batch);
    if (rows > kMaxGrid)  // kernels number them in 32 bits
      return input_error(
          fmt::format("B = {} comes to {} rows; a launch has at most {}", batch, rows, kMaxGrid),
          fmt::format("split the batch into calls of at most B = {}",
                      kMaxGrid / launch.grid.blocks.batch_rows));
    if (blocks <= kMaxGrid) continue;
    const std::int64_t of_one = std::max<std::int64_t>(1, launch.grid.blocks.at(1, time));
    return input_error(
        fmt::format("B = {}, T = {} needs {} blocks; a grid has at most {}", batch, time, blocks, kMaxGrid),
        fmt::format("split the batch into calls of at most B = {}",
                    std::max<std::int64_t>(1, kMaxGrid / of_one)));
  }
  return success();
}

std::optional<Launcher::Region> Launcher::report(Address workspace, std::int64_t batch,
                                                 std::int64_t time) const {
  const Workspace regions = workspace_.at(tensors_, batch, time);
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].ref.role == Role::Report)
      return Region{workspace + static_cast<Address>(regions.offsets[i]),
                    region_bytes(tensors_[i], batch, time)};
  return std::nullopt;
}

Status Launcher::find_workspace(const Bindings& bindings, Call& call) const {
  call.regions = workspace_.at(tensors_, call.batch, call.time);
  if (call.regions.bytes > kMaxWorkspace)
    return input_error(fmt::format("B = {}, T = {} needs more than {} bytes of workspace", call.batch,
                                   call.time, kMaxWorkspace),
                       "split the batch or the sequence into several calls");
  const Binding* bound = bindings.find({Role::Workspace, -1});
  if (bound != nullptr) {
    call.workspace = bound->pointer;
    call.workspace_bytes = bound->bytes;
  }
  if (call.regions.bytes == 0) return success();
  if (call.workspace % static_cast<Address>(kRegionAlignment) != 0)
    return input_error(
        fmt::format("the workspace at 0x{:x} is not aligned to {} bytes", call.workspace, kRegionAlignment),
        "pass what the allocator returned, without an offset");
  return success();
}

Status Launcher::place_in_workspace(const Tensor& tensor, std::int64_t offset, std::int64_t bytes, Call& call,
                                    Place& place) const {
  if (call.workspace == 0 && bytes > 0)
    return input_error(
        fmt::format("no workspace is bound; '{}' needs {} bytes of it", tensor.name, bytes),
        fmt::format("allocate workspace_bytes(B = {}, T = {}) = {} bytes, and pass them as the workspace",
                    call.batch, call.time, call.regions.bytes));
  if (call.workspace_bytes && offset + bytes > *call.workspace_bytes)
    return input_error(fmt::format("the workspace has {} bytes; '{}' needs those from {} to {}",
                                   *call.workspace_bytes, tensor.name, offset, offset + bytes),
                       fmt::format("allocate workspace_bytes(B = {}, T = {}) = {} bytes", call.batch,
                                   call.time, call.regions.bytes));
  call.workspace_used = std::max(call.workspace_used, offset + bytes);
  place.pointer = call.workspace + static_cast<Address>(offset);
  return success();
}

Status Launcher::place(std::size_t index, const Bindings& bindings, Call& call, Place& place) const {
  const Tensor& tensor = tensors_[index];
  if (tensor.ref.role == Role::Status) {
    place.pointer = status_;
    return success();
  }
  if (is_internal(tensor.ref.role)) {
    if (has_time_axis(tensor.ref.role)) place.strides = {tensor.unit * call.time, tensor.unit};
    return place_in_workspace(tensor, call.regions.offsets[index],
                              region_bytes(tensor, call.batch, call.time), call, place);
  }
  const Binding* bound = bindings.find(tensor.ref);
  if (bound == nullptr) {
    if (tensor.need == Need::Required)
      return input_error(fmt::format("tensor '{}' is not bound", tensor.name),
                         "bind every input, parameter and output, and what one pass saves for the other");
    const std::int64_t bytes = region_bytes(tensor, call.batch, call.time);
    if (has_region(tensor))
      return place_in_workspace(tensor, call.regions.offsets[index], bytes, call, place);
    const bool zero = tensor.need == Need::Zero;
    call.zero_needed |= zero;
    if (zero) return place_in_workspace(tensor, call.regions.zero, call.regions.zero_bytes, call, place);
    return place_in_workspace(tensor, call.regions.discard, bytes, call, place);
  }
  place.pointer = bound->pointer;
  place.strides = bound->strides.value_or(dense_strides(tensor, call.time));
  if (Status status = check_place(tensor, place, call); !status) return status;
  return check_reach(tensor, *bound, call, place);
}

Status Launcher::check_place(const Tensor& tensor, const Place& place, const Call& call) const {
  if (place.pointer == 0)
    return input_error(fmt::format("tensor '{}' is bound to a null pointer", tensor.name),
                       tensor.need == Need::Required ? "" : "leave it unbound if it is not wanted");
  if (place.pointer % static_cast<Address>(tensor.alignment) != 0)
    return input_error(
        fmt::format("tensor '{}' lies at 0x{:x}; plan '{}' needs it aligned to {} bytes", tensor.name,
                    place.pointer, plan_name_, tensor.alignment),
        "align the tensor, or choose a plan for the alignment it has (its option `alignment`)");
  if (!has_time_axis(tensor.ref.role)) return success();
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

Status Launcher::check_stride(const Tensor& tensor, const char* axis, std::int64_t stride) const {
  const int element = scalar::storage_bytes(tensor.storage);
  if (stride % (tensor.alignment / element) != 0)
    return input_error(
        fmt::format("tensor '{}' has a stride of {} elements in {} ({} bytes each); plan '{}' needs a "
                    "multiple of {} bytes",
                    tensor.name, stride, axis, element, plan_name_, tensor.alignment),
        "pad the tensor, or choose a plan for the alignment it has (its option `alignment`)");
  if (tensor.written && std::abs(stride) < tensor.unit)
    return input_error(
        fmt::format("tensor '{}' is written with a stride of {} elements in {}, less than the {} of one step",
                    tensor.name, stride, axis, tensor.unit),
        "results must not overlap; only tensors that are read may be broadcast");
  return success();
}

Status Launcher::check_reach(const Tensor& tensor, const Binding& bound, const Call& call,
                             Place& place) const {
  place.footprint = footprint_of(tensor, place.pointer, place.strides, call.batch, call.time);
  if (!place.footprint)
    return input_error(
        fmt::format("tensor '{}' would reach past the end of memory: B = {}, T = {}{}, from "
                    "0x{:x}",
                    tensor.name, call.batch, call.time, strides_text(tensor, place.strides), place.pointer),
        "check strides and sizes");
  const Footprint& reach = *place.footprint;
  if (tensor.written && meets_itself(reach))
    return input_error(fmt::format("tensor '{}' is written{}: two of its steps share memory", tensor.name,
                                   strides_text(tensor, place.strides)),
                       "results must not overlap; only tensors that are read may be broadcast");
  if (!bound.bytes) return success();
  if (reach.begin < place.pointer)
    return input_error(
        fmt::format("tensor '{}' reaches {} bytes below its pointer{}; its memory begins there", tensor.name,
                    place.pointer - reach.begin, strides_text(tensor, place.strides)),
        "leave its size in bytes unknown where strides are negative");
  const auto needed = static_cast<std::int64_t>(reach.end - place.pointer);
  if (needed > *bound.bytes)
    return input_error(
        fmt::format("tensor '{}' needs {} bytes at B = {}, T = {}{}; it is bound to {}", tensor.name, needed,
                    call.batch, call.time, strides_text(tensor, place.strides), *bound.bytes),
        "allocate more, or call with a smaller batch or fewer steps");
  return success();
}

Status Launcher::check_apart(std::span<const Place> places, const Call& call) const {
  const Address workspace_end = call.workspace + static_cast<Address>(call.workspace_used);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!places[i].footprint) continue;
    const Footprint& reach = *places[i].footprint;
    if (call.workspace_used > 0 && reach.begin < workspace_end && call.workspace < reach.end)
      return input_error(fmt::format("tensor '{}', at 0x{:x} to 0x{:x}, and the workspace, at 0x{:x} to "
                                     "0x{:x}, share memory",
                                     tensors_[i].name, reach.begin, reach.end, call.workspace, workspace_end),
                         "give the workspace memory of its own");
    if (!tensors_[i].written) continue;
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      // Of two that are written, the earlier one has seen the other.
      if (k != i && places[k].footprint && !(k < i && tensors_[k].written) &&
          meet(reach, *places[k].footprint))
        return input_error(
            fmt::format("tensor '{}', which is written, and '{}' share memory: they lie at 0x{:x} to 0x{:x} "
                        "and at 0x{:x} to 0x{:x}",
                        tensors_[i].name, tensors_[k].name, reach.begin, reach.end,
                        places[k].footprint->begin, places[k].footprint->end),
            "give each result memory of its own; slices of one buffer need equal strides");
  }
  return success();
}

Status Launcher::place_all(const Bindings& bindings, Call& call, std::span<Place> places) const {
  if (Status status = check_sizes(call.batch, call.time); !status) return status;
  if (is_empty(call.batch, call.time)) return place_of_nothing(bindings, call, places);
  if (Status status = find_workspace(bindings, call); !status) return status;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].lies_in < 0)
      if (Status status = place(i, bindings, call, places[i]); !status) return status;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (const std::int32_t result = tensors_[i].lies_in; result >= 0)
      places[i] = place_in(tensors_[i], places[static_cast<std::size_t>(result)], call);
  return check_apart(places, call);
}

// Its steps are those of the walk.
Launcher::Place Launcher::place_in(const Tensor& tensor, const Place& result, const Call& call) const {
  if (!from_end_[static_cast<std::size_t>(tensor.lies_in)])
    return {result.pointer, result.strides, std::nullopt};
  return {last_step(tensor, result.pointer, result.strides, call.time),
          {result.strides.b, -result.strides.t},
          std::nullopt};
}

// Without rows or without steps most tensors have no element, and lie nowhere.
Status Launcher::place_of_nothing(const Bindings& bindings, Call& call, std::span<Place> places) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    if (is_internal(tensor.ref.role) || tensor.size.at(call.batch, call.time) == 0) continue;
    if (bindings.find(tensor.ref) == nullptr && tensor.need != Need::Required) continue;
    if (Status status = place(i, bindings, call, places[i]); !status) return status;
  }
  return check_apart(places, call);
}

// What no step makes: the last state is the first, given or not, and its gradient the first one's; sums of
// gradients are zero.
Status Launcher::answer_nothing(LaunchSink& sink, std::span<const Place> places, const Call& call) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    if (!tensor.written || places[i].pointer == 0) continue;
    const Role from = tensor.ref.role == Role::LastState              ? Role::InitialState
                      : tensor.ref.role == Role::InitialStateGradient ? Role::LastStateGradient
                                                                      : tensor.ref.role;
    Address source = 0;
    for (std::size_t k = 0; k < tensors_.size() && from != tensor.ref.role; ++k)
      if (tensors_[k].ref == TensorRef{from, tensor.ref.tensor}) source = places[k].pointer;
    const std::int64_t bytes = region_bytes(tensor, call.batch, call.time);
    const Status status = source == 0 ? sink.fill(places[i].pointer, bytes, tensor.first, tensor.storage)
                                      : sink.copy(places[i].pointer, source, bytes);
    if (!status) return status;
  }
  return success();
}

Status Launcher::check_call(const Bindings& bindings, std::int64_t batch, std::int64_t time) const {
  Call call;
  call.batch = batch;
  call.time = time;
  std::array<Place, kMaxTensors> places;
  return place_all(bindings, call, places);
}

Status Launcher::launch(LaunchSink& sink, const Bindings& bindings, std::int64_t batch,
                        std::int64_t time) const {
  Call call;
  call.batch = batch;
  call.time = time;
  std::array<Place, kMaxTensors> places;
  if (Status status = place_all(bindings, call, places); !status) return status;
  if (is_empty(batch, time)) return answer_nothing(sink, places, call);
  if (call.zero_needed)
    if (Status status = sink.fill(call.workspace + static_cast<Address>(call.regions.zero),
                                  call.regions.zero_bytes, 0, scalar::Storage::F32);
        !status)
      return status;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (has_region(tensors_[i]) && !places[i].footprint)
      if (Status status = sink.fill(places[i].pointer, region_bytes(tensors_[i], batch, time),
                                    tensors_[i].first, tensors_[i].storage);
          !status)
        return status;
  for (std::size_t first = 0; first < launches_.size();) {
    const std::size_t end = section_end(launches_, first);
    if (Status status = run_section(sink, first, end, places, call); !status) return status;
    first = end;
  }
  return success();
}

Status Launcher::run_section(LaunchSink& sink, std::size_t first, std::size_t end,
                             std::span<const Place> places, const Call& call) const {
  const Repetition& repetition = launches_[first].repetition;
  const std::int64_t times = repetitions(repetition, call.time);
  for (std::int64_t step = 0; step < times; ++step) {
    for (std::size_t k = first; k < end; ++k)
      if (Status status = start(sink, k, places, call, step); !status) return status;
    if (repetition.kind == Repetition::Kind::Until && sink.holds(places[repetition.condition].pointer)) break;
  }
  return success();
}

Status Launcher::start(LaunchSink& sink, std::size_t index, std::span<const Place> places, const Call& call,
                       std::int64_t step) const {
  std::array<std::int64_t, kMaxArguments> values;
  std::array<void*, kMaxArguments> pointers;
  const Launch& launch = launches_[index];
  std::int64_t* first_tile = nullptr;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const Place& at = places[argument.tensor];
    pointers[i] = &values[i];
    switch (argument.kind) {
      case Argument::Kind::Pointer: std::memcpy(&values[i], &at.pointer, sizeof at.pointer); break;
      case Argument::Kind::StrideB: values[i] = at.strides.b; break;
      case Argument::Kind::StrideT: values[i] = at.strides.t; break;
      // Parameters of 4 bytes are read from the low half: CUDA hosts are little-endian.
      case Argument::Kind::Batch: values[i] = launch.grid.blocks.rows(call.batch); break;
      case Argument::Kind::Time: values[i] = call.time; break;
      case Argument::Kind::FirstTile:
        values[i] = 0;
        first_tile = &values[i];
        break;
      case Argument::Kind::StepCount: values[i] = step; break;
      case Argument::Kind::LastStep: {
        const Address last = last_step(tensors_[argument.tensor], at.pointer, at.strides, call.time);
        values[i] = static_cast<std::int64_t>(last);
        break;
      }
      case Argument::Kind::StrideTBack: values[i] = -at.strides.t; break;
    }
  }
  const std::span<void* const> arguments(pointers.data(), launch.arguments.size());
  const Grid& grid = launch.grid;
  if (grid.tiles_together == 0) return sink.launch(index, grid.blocks.at(call.batch, call.time), arguments);
  const std::int64_t tiles = grid.blocks.tiles(call.batch);
  for (std::int64_t first = 0; first < tiles; first += grid.tiles_together) {
    if (first_tile != nullptr) *first_tile = first;
    const std::int64_t part = std::min(grid.tiles_together, tiles - first);
    if (Status status = sink.launch(index, grid.blocks.of_tiles(part, call.time), arguments); !status)
      return status;
  }
  return success();
}

}  // namespace rondo::executable
