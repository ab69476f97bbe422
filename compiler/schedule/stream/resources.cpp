#include "compiler/schedule/stream/resources.h"

#include <algorithm>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/channelwise/cluster_transforms.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/rewrite/fold_parameters.h"
#include "compiler/schedule/stream/segment_step.h"
#include "compiler/schedule/stream/strategy.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// Addresses and the walk; transforms, carries and temporaries of a channel (measured).
constexpr int kSegmentRegisters = 24, kChannelRegisters = 16;
// The same where blocks split time, and the threads of an SM leave no more: of a channel, and of a row of
// parameters, forward, and backward with its gradient's sum. Measured by what the compiler does without
// spilling: affine and mingru; rglru for rows.
constexpr int kTeamChannelRegisters = 2, kTeamParamRegisters = 6, kTeamGradientRegisters = 30;
// Of a row of values that all channels share, resets too; of lengths, and where a walk starts late (measured
// likewise: a masked gated cell, backward, and hgrn).
constexpr int kHeadValueRegisters = 4, kLengthRegisters = 4, kLateRegisters = 6;
constexpr int kTurnedRegisters = 4;  // of turned strides, in two directions (mingru and hgrn, at least)
constexpr int kShortestSegment = 4, kRegistersOfThread = 255;  // steps; of a thread, of every architecture
constexpr int kSlackRegisters = 24;    // that no cell's arithmetic is known to exceed without tuning
constexpr int kRegistersOfSm = 65536;  // of every architecture that has clusters (CUDA guide, 16.2)
constexpr int kMostBlocksOfSm = 4;     // that are of use: enough for some to wait while others work

}  // namespace

StreamTraffic stream_traffic(const Task& task) {
  const step::Cell& cell = task.cell;
  const auto of_history = [&](step::TensorId id) {
    return cell.tensor(id).tail == step::Tail::Vector ? history_rows(task, id) : 0;
  };
  auto rows = [&](const std::vector<step::TensorId>& tensors) {
    int sum = 0;
    for (const step::TensorId id : tensors)
      if (const step::Tensor& tensor = cell.tensor(id); tensor.tail == step::Tail::Vector) sum += tensor.rows;
    return sum;
  };
  StreamTraffic t;
  if (task.problem.pass != Pass::Backward) {
    t.staged = rows(cell.of_kind(TensorKind::Input));
    t.moved = t.staged + rows(cell.of_kind(TensorKind::Output));
    if (task.problem.pass == Pass::ForwardSave)
      for (const step::TensorId id : stored_histories(cell)) t.moved += of_history(id);
    return t;
  }
  const BackwardNeeds needs = backward_needs(cell);
  t.staged = rows(needs.inputs) + rows(cell.of_kind(TensorKind::Output));
  for (const TensorRef& ref : needs.history_tensors)
    t.staged += ref.role == Role::History ? of_history(ref.tensor) : rows({ref.tensor});
  t.moved = t.staged + rows(cell.of_kind(TensorKind::Input));
  return t;
}

step::StepGraph stream_step(const Task& task) {
  if (task.problem.pass != Pass::Backward) return forward_step(task.cell);
  BackwardNeeds needs = backward_needs(task);
  const std::vector<step::NodeId> roots = roots_of(needs.step);
  return {std::move(needs.step.graph), roots};
}

StepCost stream_cost(const Task& task) {
  const step::StepGraph step = stream_step(task);
  return step_cost(task, step.graph, step.roots);
}

StepCost scan_cost(const Task& task) {
  const auto cut = segments_of_step(task);
  if (!*cut || !(*cut)->again) return {};
  const step::StepGraph& carry_free = (*cut)->linear.carry_free;
  return step_cost(task, carry_free.graph, carry_free.roots);
}

int stream_instructions_folded(const Task& task) {
  return instructions_folded(task, pass_key(task.problem), [&] { return stream_step(task); });
}

std::int64_t segment_exchange_bytes(const Task& task, const TransformPattern& pattern, bool among_blocks) {
  const std::int64_t transforms = (among_blocks ? ScanWarp::kSlots : 1) * TransformTable::bytes(pattern);
  const std::int64_t marks = among_blocks ? 4 : 0;  // of a thread, which has a channel at least
  return transforms + marks + (task.problem.pass == Pass::Backward ? 4 * param_rows(task.cell) : 0);
}

std::int64_t team_exchange_bytes(const TransformPattern& pattern, int cluster, bool grid, bool pipelined) {
  return std::int64_t{ScanWarp::kSlots} * 4 * pattern.states() +
         (grid ? 0 : ClusterTransforms::slots(pipelined) * cluster * TransformTable::bytes(pattern));
}

std::int64_t head_value_bytes(const step::Cell& cell) {
  int rows = cell.first_of_kind(TensorKind::Reset) ? 1 : 0;
  for (const step::Tensor& tensor : cell.tensors)
    if (tensor.tail == step::Tail::Scalar &&
        (tensor.kind == TensorKind::Input || tensor.kind == TensorKind::State ||
         tensor.kind == TensorKind::Output))
      rows += tensor.rows;
  return std::int64_t{SharedValues::kStages} * kernel::storage_bytes(kernel::Storage::F32) * rows;
}

namespace {

int shared_registers(const step::Cell& cell) {
  const bool lengths = cell.first_of_kind(TensorKind::Length).has_value();
  const auto rows = static_cast<int>(head_value_bytes(cell) / (SharedValues::kStages * 4));
  return kHeadValueRegisters * rows + (lengths ? kLengthRegisters : 0) +
         (lengths && cell.direction != step::Direction::Forward ? kLateRegisters : 0) +
         (cell.direction == step::Direction::Halves ? kTurnedRegisters : 0);
}

}  // namespace

SegmentShape segment_shape(const Task& task) {
  const auto fact = segments_of_step(task);
  const std::optional<SegmentStep>& cut = *fact;
  return {segment_parts(task),
          cut && cut->again,
          cut ? cut->pattern : TransformPattern(static_cast<int>(task.cell.next.size())),
          param_rows(task.cell),
          task.problem.pass == Pass::Backward,
          task.problem.math != kernel::Math::Fast && stream_cost(task).special > 0,
          shared_registers(task.cell)};
}

bool keeps_parts(const step::Cell& cell, int parts) {
  SegmentShape shape;
  shape.parts = parts;
  shape.shared = shared_registers(cell);
  return segment_registers(false, false, 1, kShortestSegment, shape) <= kRegistersOfThread;
}

int segment_registers(bool among_blocks, bool pipelined, int per_thread, int unroll,
                      const SegmentShape& shape) {
  const int of_row = shape.gradients ? kTeamGradientRegisters : kTeamParamRegisters;
  const int entries = shape.pattern.entries();
  const int channel =
      among_blocks ? kTeamChannelRegisters + of_row * shape.params + entries : kChannelRegisters;
  if (shape.again) {
    const int map = among_blocks ? 0 : entries;
    return kSegmentRegisters + shape.shared + per_thread * (channel + map + shape.parts);
  }
  return kSegmentRegisters + shape.shared +
         per_thread * (channel + (pipelined ? 2 : 1) * shape.parts * unroll);
}

int blocks_by_registers(const StreamParameters& p, const SegmentShape& shape) {
  const int kept = segment_registers(p.among_blocks(), p.pipelined(), p.per_thread, p.unroll, shape);
  const int registers = round_up(kept + shape.function_registers(), 8);
  const int blocks = kRegistersOfSm / (registers * round_up(p.threads(), kThreadsOfAllSchedulers));
  return std::clamp(blocks, 1, p.through_global() ? kMostBlocksOfGrid : kMostBlocksOfSm);
}

bool may_spill(const StreamParameters& p, const SegmentShape& shape) {
  const int available =
      kRegistersOfSm / (blocks_by_registers(p, shape) * round_up(p.threads(), kThreadsOfAllSchedulers));
  return segment_registers(p.among_blocks(), p.pipelined(), p.per_thread, p.unroll, shape) + kSlackRegisters >
         available;
}

}  // namespace rondo::schedule
