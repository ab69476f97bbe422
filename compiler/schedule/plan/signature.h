// A kernel's parameter list and the launch arguments that fill it, declared together so that they cannot
// drift apart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// A tensor as a kernel sees it, in the order of the walk. Strides are valid only for tensors with a time
// axis.
struct KernelTensor {
  // Element of a batch row at the walk's first step. Of a tensor with a time axis.
  kernel::Value row_begin(kernel::Value batch_row) const;
  // The caller's batch row that a row of the walk's batch belongs to.
  kernel::Value row_of_call(kernel::Value batch_row) const;
  int own_rows() const { return rows / row_lanes; }  // of a lane
  // Rows of the tensor from one head to the next: those of all rows of the walk's batch that lie in one batch
  // row, if each has its own.
  int head_rows() const { return own_of_batch_row ? rows * batch_rows : rows; }

  TensorRef ref;
  kernel::Memory memory;
  kernel::Value stride_b;
  kernel::Value stride_t;
  kernel::Value origin;  // element of batch row 0 at the walk's first step; invalid: 0
  kernel::Storage storage = kernel::Storage::F32;
  int rows = 1;
  std::int64_t columns = 1;  // elements of a row that lie side by side: D, or an extent of its own
  int row_lanes = 1;         // each of so many lanes of a warp has rows / row_lanes neighbouring ones
  bool per_head = false;     // one value a head: no axis of channels
  // So many rows of the walk's batch share one batch row of the tensor (Task::batch_rows).
  // `own_of_batch_row`: each has `rows` of its own there, one after the other within a head; otherwise all
  // use the same.
  int batch_rows = 1;
  bool own_of_batch_row = false;
  std::string name;
};

class Signature {
 public:
  Signature(kernel::Builder& builder, const Task& task) : builder_(builder), task_(task) {}
  // Rows of the plan's Scratch tensors, if the kernel uses any; KernelPlan::shares.
  void set_scratch(std::vector<int> rows, int shares = 0) {
    scratch_rows_ = std::move(rows);
    shares_ = shares;
  }

  // The tensors of the cell, by id, whose rows are dealt to so many lanes. Before they are declared.
  void deal_rows(std::vector<bool> dealt, int lanes) {
    dealt_ = std::move(dealt);
    row_lanes_ = lanes;
  }

  // Strides in T come with 32 bits (compiler/executable/launcher.cpp refuses more), so that a step's place
  // takes one multiply-add. Only for kernels with registers to spare: widening takes one a tensor.
  void narrow_strides() { narrow_strides_ = true; }

  // Declares a tensor the kernel only reads, or one it writes.
  KernelTensor reads(TensorRef ref) { return declare(ref, false); }
  KernelTensor writes(TensorRef ref) { return declare(ref, true); }
  // The same of what launches of one plan leave for each other in the place of the caller's.
  KernelTensor between_launches(const WideTensor& tensor, const std::string& name, bool written);
  kernel::Value batch();
  kernel::Value time();  // the same value each time
  // Where heads walk in two directions: says which head all that follows is of, the same in all threads that
  // share a walk. Called once, outside any condition, before a place in a tensor with a time axis is worked
  // out. Every kernel with such tensors calls it, whatever the cell's direction.
  void set_head(kernel::Value head);
  // Pred: the head that was set walks back; invalid where all heads walk the same way.
  kernel::Value walks_back() const { return walks_back_; }
  // What a head has that walks forward, or one that is reversed; where heads walk in two directions both are
  // made, and the head that was set chooses.
  using Make = std::function<kernel::Value()>;
  kernel::Value by_direction(const Make& forward, const Make& reversed) const;
  // The number among the teams of all parts of the launch, of a team of blocks that is `team` in its own part
  // (Launch:: tiles_together); `each_tile`: teams of a batch tile.
  kernel::Value among_all_parts(kernel::Value team, std::int64_t each_tile);
  // Repetitions of the launch before this one.
  kernel::Value step_count(const std::string& name = "step",
                           const std::string& comment = "time steps done before this one");
  // Gives a kernel whose threads wait for mbarriers or flags a status. Once, when all of it is built.
  void watch_waits();
  // The launch of such a kernel, so many blocks for each batch tile.
  Launch finish(std::int64_t blocks_per_batch);

  std::vector<LaunchArgument> arguments() const;

 private:
  KernelTensor declare(TensorRef ref, bool written);
  void place_batch_rows(KernelTensor& tensor) const;
  void turn(KernelTensor& tensor, kernel::Value stride);

  kernel::Builder& builder_;
  const Task& task_;
  std::vector<LaunchArgument> arguments_;
  std::vector<int> scratch_rows_;
  int shares_ = 0;
  std::vector<bool> dealt_;
  int row_lanes_ = 1;
  bool narrow_strides_ = false;
  kernel::Value time_;
  // Where heads walk in two directions: variables, of the head that was set. `way_`: 1, or -1 where it walks
  // back. `first_step_`: the step where its walk begins.
  kernel::Value way_, first_step_, walks_back_;
};

// Whether steps of the tensor lie in the order of time, as all do that a caller sees; others lie in the order
// of the walk.
bool lies_in_order_of_time(TensorRef ref);
// Whether the walk's rows of the batch each add something to a result that the caller has once for all of
// them: an output, or the gradient of an input that they share (step::Tensor::summed).
bool is_summed_over_batch_rows(TensorRef ref, const Task& task);
// Storage of a tensor's elements, e.g. fp32 for vector parameters and state boundaries, unless
// all is fp64.
kernel::Storage storage_of(TensorRef ref, const Task& task);
// Its name in emitted text: "x", "grad_x", "h_last" ...
std::string name_of(TensorRef ref, const step::Cell& cell);
// Elements of a row that lie side by side: D, or an extent of its own; 1 of one value a head.
std::int64_t columns_of(TensorRef ref, const Task& task);
// "[B, T, H, 4, D]". Not of internal roles.
std::string shape_of(TensorRef ref, const step::Cell& cell);

}  // namespace rondo::schedule
