#include "compiler/schedule/plan/signature.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

bool is_summed_over_batch_rows(TensorRef ref, const Task& task) {
  return (ref.role == Role::Output || ref.role == Role::InputGradient) && task.cell.tensor(ref.tensor).summed;
}

kernel::Storage storage_of(TensorRef ref, const Task& task) {
  if (ref.role == Role::Exchange || ref.role == Role::Status || ref.role == Role::Lengths)
    return kernel::Storage::I32;
  if (ref.role == Role::Resets) return kernel::Storage::U8;
  const kernel::Storage computed = scalar::computed_in(task.problem.storage);
  if (ref.role == Role::Scratch && ref.tensor >= kShares && ref.tensor <= kChosen) return computed;
  if (ref.role == Role::History) return task.history_storage(ref.tensor);
  if (is_summed_over_batch_rows(ref, task)) return computed;
  const bool matrix = ref.role == Role::Param && task.cell.tensor(ref.tensor).tail == step::Tail::Matrix;
  const bool rounded = has_time_axis(ref.role) || ref.role == Role::Packed || ref.role == Role::Vectors;
  return rounded || matrix ? task.problem.storage : computed;
}

std::string name_of(TensorRef ref, const step::Cell& cell) {
  const char* pattern = executable::role_info(ref.role).name;
  if (ref.role == Role::Scratch) return fmt::format(fmt::runtime(pattern), ref.tensor);
  if (is_internal(ref.role)) return pattern;
  return fmt::format(fmt::runtime(pattern), cell.tensor(ref.tensor).name);
}

std::string shape_of(TensorRef ref, const step::Cell& cell) {
  const step::Tensor tensor = tensor_in_role(ref, cell);
  const executable::RoleInfo& role = executable::role_info(ref.role);
  if (step::is_flag(tensor.kind)) return role.timed ? "[B, T]" : "[B]";
  const auto text = [](const step::InnerExtent& extent) {
    return extent ? fmt::format(", {}", extent.size) : std::string(", D");
  };
  std::string tail = tensor.tail == step::Tail::Matrix ? text(tensor.outer) : "";
  if (tensor.tail != step::Tail::Scalar) tail += text(tensor.inner);
  return fmt::format("[{}H, {}{}]", role.timed ? "B, T, " : role.per_batch ? "B, " : "", tensor.rows, tail);
}

std::int64_t columns_of(TensorRef ref, const Task& task) {
  return is_internal(ref.role) ? task.problem.sizes.dim
                               : step::columns(tensor_in_role(ref, task.cell), task.problem.sizes);
}

bool lies_in_order_of_time(TensorRef ref) { return has_time_axis(ref.role) && !is_internal(ref.role); }

Value KernelTensor::row_of_call(Value batch_row) const {
  return batch_rows == 1 ? batch_row : batch_row / batch_rows;
}

Value KernelTensor::row_begin(Value batch_row) const {
  kernel::Builder& b = *batch_row.builder();
  Value begin = b.wide(row_of_call(batch_row)) * stride_b;
  if (own_of_batch_row)
    begin = begin + b.wide(batch_row % batch_rows * static_cast<int>(rows * (per_head ? 1 : columns)));
  return origin.valid() ? begin + origin : begin;
}

// What launches leave for each other, states at both ends of the walk and sums have a row for each of the
// walk's batch, so their places stay as they are. Tensors with a time axis and lengths lie as the caller has
// them.
void Signature::place_batch_rows(KernelTensor& tensor) const {
  const TensorRef ref = tensor.ref;
  if (task_.batch_rows.count == 1 || is_internal(ref.role) || is_summed_over_batch_rows(ref, task_)) return;
  if (!has_time_axis(ref.role) && ref.role != Role::Lengths) return;
  tensor.batch_rows = task_.batch_rows.count;
  tensor.own_of_batch_row = task_.batch_rows.has_own(ref.tensor);
}

KernelTensor Signature::between_launches(const WideTensor& tensor, const std::string& name, bool written) {
  KernelTensor result;
  result.ref = tensor.ref;
  result.name = name;
  result.storage = tensor.storage;
  result.memory =
      written ? builder_.output(name, tensor.storage, "wide") : builder_.input(name, tensor.storage, "wide");
  arguments_.push_back(Pointer{tensor.ref});
  if (!has_time_axis(tensor.ref.role)) return result;
  result.stride_b = builder_.argument(name + "_stride_b", Type::I64);
  result.stride_t = builder_.argument(name + "_stride_t", Type::I64);
  arguments_.push_back(StrideB{tensor.ref});
  arguments_.push_back(StrideT{tensor.ref});
  return result;
}

KernelTensor Signature::declare(TensorRef ref, bool written) {
  KernelTensor result;
  result.ref = ref;
  result.name = name_of(ref, task_.cell);
  result.columns = columns_of(ref, task_);
  std::string shape = ref.role == Role::Status ? "set to 1 by who has waited in vain" : "scratch";
  if (ref.role == Role::Scratch) {
    result.rows = scratch_rows_.at(static_cast<std::size_t>(ref.tensor));
    result.per_head = ref.tensor == kHeadValues;
    shape = result.per_head                        ? fmt::format("[B, T, H, {}]", result.rows)
            : shares_ > 0 && ref.tensor == kShares ? fmt::format("[B, T, H, {}, {}]", shares_, result.rows)
                                                   : fmt::format("[B, T, H, {}, D]", result.rows);
  } else if (!is_internal(ref.role)) {
    const step::Tensor tensor = tensor_in_role(ref, task_.cell);
    result.rows = tensor.rows;
    result.per_head = tensor.tail == step::Tail::Scalar;
    if (!dealt_.empty() && dealt_[static_cast<std::size_t>(ref.tensor)]) result.row_lanes = row_lanes_;
    shape = shape_of(ref, task_.cell);
  }
  place_batch_rows(result);
  result.storage = storage_of(ref, task_);
  result.memory = written ? builder_.output(result.name, result.storage, shape)
                          : builder_.input(result.name, result.storage, shape);
  arguments_.push_back(Pointer{ref});
  if (has_time_axis(ref.role)) {
    result.stride_b = builder_.argument(result.name + "_stride_b", Type::I64);
    arguments_.push_back(StrideB{ref});
    const Value stride =
        builder_.argument(result.name + "_stride_t", narrow_strides_ ? Type::I32 : Type::I64);
    result.stride_t = builder_.wide(stride);
    arguments_.push_back(StrideT{ref});
    if (task_.cell.direction == step::Direction::Halves && lies_in_order_of_time(ref)) turn(result, stride);
  }
  return result;
}

// The kernel's head is known only after its tensors are declared, so what depends on it are variables.
void Signature::turn(KernelTensor& tensor, Value stride) {
  if (!way_.valid()) {
    way_ = builder_.variable("way", builder_.constant(1));
    first_step_ = builder_.variable("first_of_walk", builder_.constant(0));
  }
  tensor.stride_t = builder_.wide(stride * way_);
  tensor.origin = builder_.wide(first_step_) * builder_.wide(stride);
}

void Signature::set_head(Value head) {
  if (task_.cell.direction != step::Direction::Halves) return;
  if (walks_back_.valid()) throw std::logic_error("a kernel whose head is set twice");
  builder_.comment("the second half of the heads walks back");
  walks_back_ = builder_.let("walks_back", head >= task_.problem.sizes.heads / 2);
  if (!way_.valid()) return;
  builder_.assign(way_, builder_.select(walks_back_, builder_.constant(-1), builder_.constant(1)));
  builder_.assign(first_step_, builder_.select(walks_back_, time() - 1, builder_.constant(0)));
}

Value Signature::by_direction(const Make& forward, const Make& reversed) const {
  switch (task_.cell.direction) {
    case step::Direction::Forward: return forward();
    case step::Direction::Reversed: return reversed();
    case step::Direction::Halves: break;
  }
  const Value back = reversed();
  return back.builder()->select(walks_back_, back, forward());
}

std::vector<LaunchArgument> Signature::arguments() const {
  if (way_.valid() && !walks_back_.valid())
    throw std::logic_error("a kernel that does not say which head it is of");
  return arguments_;
}

kernel::Value Signature::batch() {
  arguments_.push_back(Batch{});
  return builder_.argument("batch", Type::I32, "B");
}

kernel::Value Signature::among_all_parts(kernel::Value team, std::int64_t each_tile) {
  arguments_.push_back(FirstTile{});
  return team + builder_.argument("first_tile", Type::I32, "batch tiles before this launch's") * each_tile;
}

kernel::Value Signature::step_count(const std::string& name, const std::string& comment) {
  arguments_.push_back(StepCount{});
  return builder_.argument(name, Type::I32, comment);
}

void Signature::watch_waits() {
  if (builder_.kernel().mbarriers.empty() && !builder_.kernel().cooperative) return;
  builder_.set_status(writes({Role::Status, -1}).memory);
}

Launch Signature::finish(std::int64_t blocks_per_batch) {
  watch_waits();
  return {builder_.kernel(), arguments(), 0, blocks_per_batch};
}

kernel::Value Signature::time() {
  if (time_.valid()) return time_;
  arguments_.push_back(Time{});
  return time_ = builder_.argument("time", Type::I32, "T");
}

}  // namespace rondo::schedule
