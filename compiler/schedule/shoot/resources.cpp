#include "compiler/schedule/shoot/resources.h"

#include <algorithm>

#include "compiler/scalar/roundoff.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/channelwise/cluster_transforms.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/shoot/sweep.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// Measured on what the compiler does without spilling: addresses and the walk; special functions that are
// written out.
constexpr int kWalkRegisters = 30, kFunctionRegisters = 12;
constexpr int kMostBlocks = 4, kMostRegisters = 255;
constexpr int kMostNarrowCopies = 96;
// What a kernel with a scan warp needs without spilling as CUDA 13 compiles it for sm_100 and later, where
// ptxas has more loads under way: with the 128 that 512 threads have, lif and paralstm put 800 bytes into
// memory. For sm_90 the estimate is enough.
constexpr int kTeamRegistersOf10 = 136;

int rows_of(const step::Cell& cell, const std::vector<step::TensorId>& tensors,
            step::Tail tail = step::Tail::Vector) {
  int sum = 0;
  for (const step::TensorId id : tensors)
    if (const step::Tensor& tensor = cell.tensor(id); tensor.tail == tail) sum += tensor.rows;
  return sum;
}

}  // namespace

ShootTraffic shoot_traffic(const Task& task) {
  const step::Cell& cell = task.cell;
  ShootTraffic t;
  t.read = rows_of(cell, cell.of_kind(TensorKind::Input));
  t.written = rows_of(cell, cell.of_kind(TensorKind::Output));
  if (task.problem.pass == Pass::ForwardSave)
    for (const step::TensorId id : stored_histories(cell))
      if (rows_of(cell, {id}) > 0) t.written += history_rows(task, id);
  return t;
}

StepCost shoot_cost(const Task& task, bool newton) {
  const step::StepGraph step = shoot_step(task, newton);
  StepCost cost = step_cost(task, step.graph, step.roots);
  const int states = static_cast<int>(task.cell.next.size());
  if (newton) {
    const TransformPattern pattern = shoot_pattern(task);
    cost.alu += pattern.products() - pattern.coefficients();
  }
  cost.alu += 2 * states;
  return cost;
}

namespace {

// Of a value, and of 1: more than that a function's fast form errs by says that a start need be no better.
// That of an exponential, a quotient or a root is within it, those of tanh and of what is made by it are not.
constexpr double kCoarse = 0x1p-20;

bool is_coarse(const step::Node& node) {
  if (node.kind != step::NodeKind::Scalar) return false;
  const scalar::Roundoff error = scalar::roundoff(node.op, true);
  return error.value > kCoarse || error.scaled > kCoarse || error.absolute > kCoarse ||
         error.operand > kCoarse;
}

}  // namespace

bool shoot_is_accurate(const Task& task) {
  if (task.problem.math != kernel::Math::Fast) return true;
  if (task.structure.affine) return false;
  const step::StepGraph step = shoot_step(task, false);
  return std::ranges::none_of(reachable(step.graph, step.roots),
                              [&](step::NodeId id) { return is_coarse(step.graph.at(id)); });
}

ShootShape shoot_shape(const Task& task) {
  return {static_cast<int>(task.cell.next.size()),
          shoot_pattern(task),
          param_rows(task.cell),
          rows_of(task.cell, task.cell.of_kind(TensorKind::Input)),
          kernel::storage_bytes(task.problem.storage),
          task.problem.math != kernel::Math::Fast && shoot_cost(task, false).special > 0,
          task.problem.math != kernel::Math::Tf32 && shoot_is_accurate(task),
          task.cell.first_of_kind(TensorKind::Reset).has_value(),
          rows_of(task.cell, task.cell.of_kind(TensorKind::Input), step::Tail::Scalar)};
}

int shoot_registers(const ShootShape& shape, int per_thread, int unroll, bool newton, int kept_steps) {
  const int each = shape.params + 5 * shape.states + (newton ? 2 * shape.pattern.coefficients() : 0) +
                   (shape.inputs + shape.head_values) * unroll + shape.inputs * kept_steps +
                   (shoot_remembers(shape, newton) ? RememberedRounding::entries(shape.states) : 0);
  return kWalkRegisters + shape.head_values + per_thread * each + (shape.functions ? kFunctionRegisters : 0);
}

bool shoot_remembers(const ShootShape& shape, bool newton) {
  return newton && shape.accurate && RememberedRounding::known(shape.states);
}

bool may_spill(const ShootShape& shape, const ShootParameters& p) {
  const int copies = p.steps * shape.inputs * p.per_thread;
  return p.vector * shape.element < 4 && copies > kMostNarrowCopies;
}

int team_registers(const target::Target& target) { return target.major() >= 10 ? kTeamRegistersOf10 : 0; }

std::int64_t shoot_map_bytes(const TransformPattern& pattern) {
  return ScanWarp::kSlots * TransformTable::bytes(pattern);
}
std::int64_t shoot_channel_bytes(int states) { return std::int64_t{4} * states * (1 + ScanWarp::kSlots); }
std::int64_t shoot_head_value_bytes(const ShootShape& shape) {
  return std::int64_t{4} * SharedValues::kStages * (shape.head_values + (shape.resets ? 1 : 0));
}
std::int64_t shoot_team_bytes(const TransformPattern& pattern) {
  return ClusterTransforms::slots(false) * TransformTable::bytes(pattern);
}

std::int64_t shoot_shared_bytes(const ShootShape& shape, const ShootParameters& p) {
  const std::int64_t ring = std::int64_t{p.stages} * p.steps * shape.inputs * shape.element;
  std::int64_t bytes =
      p.channels * (p.segments * (ring + shoot_map_bytes(shape.pattern)) + shoot_channel_bytes(shape.states));
  if (p.among_blocks() && shoot_remembers(shape, p.newton))
    bytes += p.channels * ScanWarp::rounding_bytes(shape.states);
  if (p.among_blocks() && !p.through_global())
    bytes += p.time_split * (p.channels * shoot_team_bytes(shape.pattern) + 2 * shoot_team_bytes(1));
  return bytes + shoot_head_value_bytes(shape) * p.warps() * p.steps + kShootFixedBytes;
}

namespace {

int scan_warp_registers(const ShootShape& shape, const ShootParameters& p) {
  const int least = ScanWarp::least_registers(shape.pattern, p.channels);
  if (!p.through_global()) return least;
  const int words = p.time_split * ceil_div(p.channels, 64) * 2 * shape.pattern.entries();
  return std::max(least, std::min(words + kScanWarpRegisters, kMostRegisters));
}

}  // namespace

int blocks_of_sm(const ShootShape& shape, const ShootParameters& p, const target::Profile& profile) {
  const target::Limits& limits = profile.limits;
  const int threads = round_up(p.threads(), 128);
  int registers = round_up(shoot_registers(shape, p.per_thread, p.unroll, p.newton, p.kept_steps()), 8);
  if (p.among_blocks())
    registers = std::max({registers, team_registers(profile.target), scan_warp_registers(shape, p)});
  const std::int64_t shared = shoot_shared_bytes(shape, p) + kShootReserved;
  const std::int64_t least =
      std::min<std::int64_t>({limits.registers_per_sm / (registers * threads),
                              limits.threads_per_sm / threads, limits.shared_per_sm / shared});
  return static_cast<int>(std::clamp<std::int64_t>(least, 1, kMostBlocks));
}

}  // namespace rondo::schedule
