#include "compiler/schedule/plan/signature.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

kernel::Storage storage_of(TensorRef ref, const Task& task) {
  if (ref.role == Role::Exchange || ref.role == Role::Status || ref.role == Role::Lengths)
    return kernel::Storage::I32;
  if (ref.role == Role::Resets) return kernel::Storage::U8;
  if (ref.role == Role::Scratch && (ref.tensor == kShares || ref.tensor == kHeadValues))
    return kernel::Storage::F32;
  if (ref.role == Role::History) return task.history_storage(ref.tensor);
  const bool matrix = ref.role == Role::Param && task.cell.tensor(ref.tensor).tail == step::Tail::Matrix;
  const bool rounded = has_time_axis(ref.role) || ref.role == Role::Packed || ref.role == Role::Vectors;
  return rounded || matrix ? task.problem.storage : kernel::Storage::F32;
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
  const char* tail = tensor.tail == step::Tail::Scalar   ? ""
                     : tensor.tail == step::Tail::Matrix ? ", D, D"
                                                         : ", D";
  return fmt::format("[{}H, {}{}]", role.timed ? "B, T, " : role.per_batch ? "B, " : "", tensor.rows, tail);
}

KernelTensor Signature::declare(TensorRef ref, bool written) {
  KernelTensor result;
  result.ref = ref;
  result.name = name_of(ref, task_.cell);
  std::string shape = ref.role == Role::Status ? "set to 1 by who has waited in vain" : "scratch";
  if (ref.role == Role::Scratch) {
    result.rows = scratch_rows_.at(static_cast<std::size_t>(ref.tensor));
    result.per_head = ref.tensor == kHeadValues;
    shape = result.per_head                        ? fmt::format("[B, T, H, {}]", result.rows)
            : shares_ > 0 && ref.tensor == kShares ? fmt::format("[B, T, H, {}, {}]", result.rows, shares_)
                                                   : fmt::format("[B, T, H, {}, D]", result.rows);
  } else if (!is_internal(ref.role)) {
    const step::Tensor tensor = tensor_in_role(ref, task_.cell);
    result.rows = tensor.rows;
    result.per_head = tensor.tail == step::Tail::Scalar;
    shape = shape_of(ref, task_.cell);
  }
  result.storage = storage_of(ref, task_);
  result.memory = written ? builder_.output(result.name, result.storage, shape)
                          : builder_.input(result.name, result.storage, shape);
  arguments_.push_back(Pointer{ref});
  if (has_time_axis(ref.role)) {
    result.stride_b = builder_.argument(result.name + "_stride_b", Type::I64);
    arguments_.push_back(StrideB{ref});
    const std::string stride_t = result.name + "_stride_t";
    result.stride_t = narrow_strides_ ? builder_.wide(builder_.argument(stride_t, Type::I32))
                                      : builder_.argument(stride_t, Type::I64);
    arguments_.push_back(StrideT{ref});
  }
  return result;
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
  arguments_.push_back(Time{});
  return builder_.argument("time", Type::I32, "T");
}

}  // namespace rondo::schedule
