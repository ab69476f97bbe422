#include "compiler/schedule/stream/rows_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/channelwise/legal.h"
#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/head_space.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/stream/threads.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

using namespace constraint;

constexpr int kMostLanes = 16;
constexpr int kWalkRegisters = 36;  // addresses and the walk
constexpr int kVectorBytes = 16;    // of a copy, and of an access
// Registers for a hundred values that are there at once: loads come early, and new values of a state stand
// beside the old ones. The delta rule of 64 keys, backward, on sm_90: 1.5 to 1.9 with 32 of the state's rows
// and channels in a thread, 1.2 to 1.6 with 16.
constexpr int kHeldOfLive = 160;

// Tensors that such a walk stages, as the kernels declare them (forward.cpp, backward.cpp).
std::vector<TensorRef> staged_tensors(const Task& task) {
  const auto of_kind = [&](TensorKind kind, Role role) {
    std::vector<TensorRef> refs;
    for (const step::TensorId id : task.cell.of_kind(kind)) refs.push_back({role, id});
    return refs;
  };
  if (task.problem.pass != Pass::Backward) return of_kind(TensorKind::Input, Role::Input);
  const BackwardNeeds needs = backward_needs(task.cell);
  std::vector<TensorRef> refs = needs.history_tensors;
  for (const step::TensorId id : needs.inputs) refs.push_back({Role::Input, id});
  const std::vector<TensorRef> gradients = of_kind(TensorKind::Output, Role::OutputGradient);
  refs.insert(refs.end(), gradients.begin(), gradients.end());
  return refs;
}

// Rows that a walk writes at each step, of tensors with channels.
int written_rows(const Task& task, const step::Cell& rows_of) {
  int rows = 0;
  const auto add = [&](TensorKind kind) {
    for (const step::TensorId id : rows_of.of_kind(kind))
      if (rows_of.tensor(id).tail == step::Tail::Vector) rows += rows_of.tensor(id).rows;
  };
  if (task.problem.pass == Pass::Backward) {
    add(TensorKind::Input);
    return rows;
  }
  add(TensorKind::Output);
  if (task.problem.pass == Pass::ForwardSave)
    for (const step::TensorId id : stored_histories(task.cell)) rows += rows_of.tensor(id).rows;
  return rows;
}

// The most values that are there at once, of channels and of the head. A state's row is there from the start,
// a root to the end.
std::pair<int, int> most_live(const Task& task, const step::StepGraph& step) {
  const step::Graph& graph = step.graph;
  const std::vector<NodeId> order = reachable(graph, step.roots);
  std::vector<NodeId> last(graph.nodes.size(), 0);
  for (const NodeId id : order)
    for (const NodeId operand : graph.at(id).operands) last[at(operand)] = id;
  const auto end = static_cast<NodeId>(graph.nodes.size());
  for (const NodeId root : step.roots)
    if (root != step::kNoNode) last[at(root)] = end;
  const auto carried = [&](const Node& node) {
    const bool gradient = node.kind == NodeKind::Gradient;
    if (gradient) return node.gradient.of == step::GradientRef::Of::NextState;
    return node.kind == NodeKind::Leaf && task.cell.tensor(node.tensor).kind == TensorKind::State &&
           task.problem.pass != Pass::Backward;
  };
  const auto computed = [](const Node& node) {
    return node.kind == NodeKind::Scalar || node.kind == NodeKind::SumRows;
  };
  std::vector<int> change(at(end) + 2, 0), of_head(at(end) + 2, 0);
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    if (!carried(node) && !computed(node)) continue;
    std::vector<int>& counted = node.extent == step::Extent::Vector ? change : of_head;
    ++counted[carried(node) ? 0 : at(id)];
    --counted[at(last[at(id)]) + (last[at(id)] == end ? 1 : 0)];
  }
  const auto most = [](const std::vector<int>& changes) {
    int now = 0, result = 0;
    for (const int change_here : changes) result = std::max(result, now += change_here);
    return result;
  };
  return {most(change), most(of_head)};
}

RowsShape shape_of(const Task& task, const DealtPass& pass, int lanes) {
  const step::Cell& cell = pass.task.cell;
  RowsShape shape;
  shape.lanes = lanes;
  shape.cost = cost_through(pass.task, pass.step);
  const HeadReductions sums = row_sums(pass.step);
  shape.levels = sums.levels;
  shape.words = static_cast<int>(sums.reductions.size());
  std::tie(shape.live, shape.live_head) = most_live(pass.task, pass.step);
  shape.kept = param_rows(cell) * (task.problem.pass == Pass::Backward ? 2 : 1);
  for (const TensorRef& ref : staged_tensors(task)) {
    const step::Tensor& tensor = cell.tensor(ref.tensor);
    (tensor.tail == step::Tail::Vector ? shape.staged : shape.head_rows) += tensor.rows;
  }
  shape.written = written_rows(task, cell);
  shape.all_written = written_rows(task, task.cell);
  if (task.problem.pass != Pass::Backward) return shape;
  shape.shares = head_value_rows(cell);
  shape.share_rows = head_value_rows(task.cell);
  shape.together = outer_rows(task.cell) / lanes % 4 == 0 ? 4 : 1;
  return shape;
}

std::map<int, RowsShape> make_shapes(const Task& task) {
  std::map<int, RowsShape> shapes;
  if (!channels_alone(task, HeadValues::StatesToo).legal) return shapes;
  for (int lanes = 1; lanes <= kMostLanes; lanes *= 2) {
    const auto pass = dealt_pass(task, lanes);
    if (!*pass && lanes > 1) break;
    shapes.emplace(lanes, shape_of(task, **pass, lanes));
  }
  if (shapes.size() == 1) shapes.clear();
  return shapes;
}

}  // namespace

std::map<int, RowsShape> rows_shapes(const Task& task) {
  if (outer_rows(task.cell) < kLeastRowsDealt) return {};
  return *task.fact<std::map<int, RowsShape>>(fmt::format("rows of {} by lanes", pass_key(task.problem)),
                                              [&] { return make_shapes(task); });
}

RowsStaging rows_staging(const Task& task) {
  const auto dealt = dealt_pass(task, 2);
  RowsStaging staging;
  for (const TensorRef& ref : staged_tensors(task)) {
    const step::Tensor& tensor = task.cell.tensor(ref.tensor);
    const std::int64_t bytes = kernel::storage_bytes(storage_of(ref, task)) * tensor.rows;
    const bool of_lanes = (*dealt)->dealt[at(ref.tensor)];
    if (tensor.tail == step::Tail::Vector) staging.by_channel += bytes;
    if (tensor.tail == step::Tail::Scalar && of_lanes) staging.of_head += bytes;
    if (tensor.tail == step::Tail::Vector && of_lanes) staging.by_lane += kVectorBytes;
  }
  return staging;
}

int rows_registers(const StreamParameters& p, const RowsShape& shape) {
  const int held = ceil_div(kHeldOfLive * shape.live, 100) + shape.kept;
  const int ahead = p.unroll * shape.head_rows + (p.unroll - 1) * p.per_thread * shape.staged;
  return kWalkRegisters + p.per_thread * held + shape.live_head + ahead;
}

bool rows_may_spill(const StreamParameters& p, const RowsShape& shape, const target::Limits& limits) {
  const std::int64_t most = std::min<std::int64_t>(kMostRegisters, limits.registers_per_sm / p.threads());
  return rows_registers(p, shape) > most;
}

int rows_blocks_by_registers(const StreamParameters& p, const RowsShape& shape,
                             const target::Limits& limits) {
  const int registers = std::min(kMostRegisters, round_up(rows_registers(p, shape), 8));
  return std::max(1, limits.registers_per_sm / (registers * round_up(p.threads(), kWarpLanes)));
}

std::int64_t rows_shared_bytes(const StreamParameters& p, const RowsStaging& staging,
                               std::int64_t head_values) {
  const std::int64_t of_step =
      p.channels * staging.by_channel + staging.of_head + p.row_lanes * staging.by_lane;
  return std::int64_t{p.stages} * p.steps * of_step + p.steps * head_values;
}

double rows_port_slots(const StreamParameters& p, const RowsShape& shape) {
  const double in_warp = std::log2(kWarpLanes / p.row_lanes), in_channel = std::log2(p.row_lanes);
  const double rows_together = 4;  // of values of the head, in an access
  return shape.staged + shape.head_rows / rows_together + shape.written + shape.shares +
         p.per_thread * shape.words * in_channel + shape.shares * in_warp;
}

double rows_slots(const StreamParameters& p, const RowsShape& shape) {
  const double in_warp = std::log2(kWarpLanes / p.row_lanes), in_channel = std::log2(p.row_lanes);
  const double sums = p.per_thread * shape.words * in_channel + shape.shares * (in_warp + p.per_thread);
  const double conversions = p.per_thread * (shape.staged + shape.written) + shape.head_rows;
  const double walk = 12;
  return p.per_thread * (shape.cost.alu + shape.cost.special) + sums + conversions + walk +
         rows_port_slots(p, shape);
}

double rows_chain_cycles(const StreamParameters& p, const RowsShape& shape) {
  return shape.cost.chain + shape.levels * std::log2(p.row_lanes) * kShuffleCycles;
}

namespace {

class RowsSpace {
  using P = StreamParameters;

 public:
  RowsSpace(const Task& task, const target::Limits& limits)
      : task_(task), limits_(limits), shapes_(rows_shapes(task)) {}

  System build() {
    variable<P, &P::producer_warps>(s_, values({0}));
    variable<P, &P::rewrite>(s_, up_to(Rewrite::None));
    variable<P, &P::exchange>(s_, up_to(Exchange::Cluster));
    variable<P, &P::interleaved_copies>(s_, if_so(false));
    variable<P, &P::segments>(s_, values({1}));
    variable<P, &P::time_split>(s_, values({1}));
    variable<P, &P::pipeline_depth>(s_, values({1}));
    require_copies();
    require_resources();
    return std::move(s_);
  }

 private:
  int element() const { return kernel::storage_bytes(task_.problem.storage); }
  int dim() const { return static_cast<int>(task_.problem.sizes.dim); }
  bool passes_l2() const { return compulsory_bytes(task_) > kTimesL2 * limits_.l2_bytes; }
  Domain lanes() const {
    std::vector<std::int64_t> all;
    for (const auto& [lanes, shape] : shapes_)
      if (lanes > 1) all.push_back(lanes);
    return values(std::move(all));
  }
  // Tiles of a head: one at least that all its channels have room in.
  Domain tiles() const {
    std::vector<std::int64_t> all;
    for (const std::int64_t tile : {2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256})
      if (tile < std::max(2 * dim(), kWarpLanes + 1)) all.push_back(tile);
    return values(std::move(all));
  }
  void require_copies();
  void require_resources();
  Expr registers_of_thread();

  const Task& task_;
  const target::Limits& limits_;
  const std::map<int, RowsShape> shapes_;
  System s_;
  const Var channels = variable<P, &P::channels>(s_, tiles());
  const Var per_thread = variable<P, &P::per_thread>(s_, powers_of_two(1, 4));
  const Var row_lanes = variable<P, &P::row_lanes>(s_, lanes());
  const Var steps = variable<P, &P::steps>(s_, powers_of_two(1, 32));
  const Var stages = variable<P, &P::stages>(s_, values({2, 3, 4}));
  const Var unroll = variable<P, &P::unroll>(s_, values({1, 2, 4}));
  const Var vector = variable<P, &P::vector>(s_);
  const Var stream_stores = variable<P, &P::stream_stores>(s_, if_so(passes_l2()));
};

void RowsSpace::require_copies() {
  s_.require(divides(vector, dim()), "alignment of rows: a copy may not straddle two rows of D channels");
  s_.require(vector * element() <= kVectorBytes, "a copy moves at most 16 bytes");
  s_.require(divides(vector, channels), "copies a block's row");
  s_.require(per_thread <= vector, "alignment of stores");
  s_.require(divides(per_thread, channels), "channels a thread");
  s_.require(unroll <= steps, "unrolling");
  // Tensors that are not aligned to more.
  std::int64_t widest = kVectorBytes / element();
  while (dim() % widest != 0) widest /= 2;
  s_.require(implies(vector < widest, steps <= 8 && stages == 2 && unroll == 1), "narrow copies");
}

// As rows_registers() has it.
Expr RowsSpace::registers_of_thread() {
  Expr result = 0;
  for (const auto& [dealt_to, shape] : shapes_) {
    StreamParameters p;
    const auto count = [&, &shape = shape](int each, int unrolled) {
      p.per_thread = each;
      p.unroll = unrolled;
      return rows_registers(p, shape);
    };
    const int fixed = count(0, 1), each = count(1, 1) - fixed, ahead = count(0, 2) - fixed,
              each_ahead = count(1, 2) - fixed - each - ahead;
    result = when(row_lanes == dealt_to,
                  fixed + per_thread * each + (unroll - 1) * (ahead + per_thread * each_ahead), result);
  }
  return result;
}

void RowsSpace::require_resources() {
  const Expr threads = s_.define("threads", floor_div(channels, per_thread) * row_lanes, "threads a block");
  s_.require(mod(threads, kWarpLanes) == 0, "lanes of a channel and channels of whole warps");
  s_.require(threads <= limits_.threads_per_block, "threads a block");
  const RowsStaging staging = rows_staging(task_);
  const Expr of_step = channels * staging.by_channel + row_lanes * staging.by_lane + staging.of_head;
  const Expr shared =
      s_.define("shared_bytes", stages * steps * of_step + steps * head_value_bytes(task_.cell),
                "bytes of shared memory a block");
  s_.require(shared <= limits_.shared_per_block, "shared memory");
  const Expr registers = s_.define("registers", registers_of_thread(), "registers a thread");
  s_.require(registers <= kMostRegisters, "registers a thread");
  s_.require(registers * threads <= limits_.registers_per_sm, "registers a block");
}

}  // namespace

System rows_space(const Task& task) { return RowsSpace(task, task.profile.limits).build(); }

}  // namespace rondo::schedule
