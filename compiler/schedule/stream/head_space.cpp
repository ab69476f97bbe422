#include "compiler/schedule/stream/head_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/stream/head_exchange.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

using namespace constraint;

constexpr int kMostHeads = 16;    // of a block
constexpr int kMostChannels = 8;  // of a thread
// Addresses, the walk and the exchange; and of a channel beside what it has to keep. Measured as what the
// compiler needs without spilling, of cells that normalise (sm_90).
constexpr int kFixedRegisters = 24, kTemporaries = 3;
constexpr int kOfFunctions = 12;      // special functions that are written out, as in SegmentShape
constexpr double kSharedCycles = 30;  // latency with the store
// What a word of a warp takes of the way between SMs, as bytes that go in one piece (assumed: two cycles).
constexpr double kBytesOfWord = 64;

// Elements of the widest copy that rows of D channels allow.
int widest_vector(const Problem& problem) {
  std::int64_t widest = 16 / kernel::storage_bytes(problem.storage);
  while (problem.sizes.dim % widest != 0) widest /= 2;
  return static_cast<int>(widest);
}

// Warps of a head, of all its blocks.
int warps_of(const StreamParameters& p) { return std::max(1, p.lanes() / kWarpLanes * p.head_split); }

int turns_of(const StreamParameters& p) { return ceil_div(warps_of(p), kWarpLanes); }

// Values of a channel that are computed before an exchange and read after it: of all exchanges the most.
int kept_values(const HeadReductions& of) {
  const step::Graph& graph = of.step.graph;
  const std::vector<NodeId> order = reachable(graph, of.step.roots);
  std::vector<int> level(graph.nodes.size(), 0);
  std::vector<int> last(graph.nodes.size(), 0);
  std::map<int, int> of_result;
  for (std::size_t i = 0; i < of.reductions.size(); ++i)
    for (const int which : {0, 1})
      of_result[HeadReductions::place(static_cast<int>(i), which)] = of.reductions[i].level + 1;
  for (const NodeId id : order) {
    const Node& node = graph.at(id);
    if (node.kind == NodeKind::MatVec) level[at(id)] = of_result.at(node.row);
    for (const NodeId operand : node.operands) level[at(id)] = std::max(level[at(id)], level[at(operand)]);
    for (const NodeId operand : node.operands) last[at(operand)] = std::max(last[at(operand)], level[at(id)]);
  }
  int most = 0;
  for (int exchange = 1; exchange <= of.levels; ++exchange) {
    int kept = 0;
    for (const NodeId id : order) {
      const Node& node = graph.at(id);
      if (node.kind == NodeKind::Scalar && node.extent == step::Extent::Vector && level[at(id)] < exchange &&
          last[at(id)] >= exchange)
        ++kept;
    }
    most = std::max(most, kept);
  }
  return most;
}

// Channels of a thread: they exist together, so their number divides that of the head.
int most_channels(const Problem& problem) {
  int most = kMostChannels;
  while (problem.sizes.dim % most != 0) most /= 2;
  return most;
}

// Channels that the threads of a head take: those of whole warps, or of a part of one if the block has
// several heads.
std::int64_t channels_of_warps(const Problem& problem, int each) {
  const std::int64_t turn = std::int64_t{kWarpLanes} * each;
  return round_up(problem.sizes.dim, turn);
}
std::int64_t channels_of_lanes(const Problem& problem, int each) {
  const std::int64_t lanes = ceil_div(problem.sizes.dim, each);
  if (lanes > kWarpLanes) return channels_of_warps(problem, each);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(lanes))) * each;
}

// Channels of each of `blocks` blocks that hold a head: whole warps. 0 where fewer blocks would do.
std::int64_t channels_of_block(const Problem& problem, int each, int blocks) {
  const std::int64_t turn = std::int64_t{kWarpLanes} * each;
  const std::int64_t channels = ceil_div(channels_of_warps(problem, each) / turn, blocks) * turn;
  return (blocks - 1) * channels < problem.sizes.dim ? channels : 0;
}

}  // namespace

Legality head_fits(const Task& task) {
  if (task.structure.has_matrix) return {false, "the step multiplies by a matrix: channels see each other"};
  if (passes_products(task.problem))
    return {false, "the step multiplies by no matrix: there are no products to save"};
  const std::int64_t dim = task.problem.sizes.dim;
  const std::int64_t most =
      kMostBlocksOfHead * std::min(kMostOfBlock, kLargestBlock * most_channels(task.problem));
  if (dim <= most) return {};
  const std::string why = fmt::format(
      "the step reduces over the head, or has one value a head: a cluster of {} blocks must hold all {} "
      "channels of it",
      kMostBlocksOfHead, dim);
  if (dim > kMostBlocksOfHead * kMostOfBlock)
    return {false, fmt::format("{}, and holds at most {}", why, most)};
  return {false, fmt::format("{}; their {} threads have {} each, the largest power of two that divides them: "
                             "at most {}",
                             why, kLargestBlock, most_channels(task.problem), most)};
}

StepCost cost_through(const Task& task, step::StepGraph step) {
  for (Node& node : step.graph.nodes) {
    const bool reduces = node.kind == NodeKind::ReduceSum || node.kind == NodeKind::ReduceMax ||
                         node.kind == NodeKind::SumRows;
    if (!reduces && !step::is_along_head(node)) continue;
    node.kind = NodeKind::Scalar;
    node.op = scalar::Op::Neg;
  }
  return step_cost(task, step.graph, step.roots);
}

HeadShape head_shape(const Task& task) {
  const bool backward = task.problem.pass == Pass::Backward;
  const step::StepGraph step = stream_step(task);
  const HeadReductions of = head_reductions(task, step);
  HeadShape shape;
  shape.cost = cost_through(task, step);
  shape.levels = of.levels;
  for (const HeadReduction& reduction : of.reductions) {
    shape.words += reduction.kind == HeadReduction::Kind::Moments ? 2 : 1;
    shape.moments += reduction.kind == HeadReduction::Kind::Moments ? 1 : 0;
    shape.moves += reduction.kind == HeadReduction::Kind::Move ? 1 : 0;
  }
  for (const step::TensorKind kind : {step::TensorKind::State, step::TensorKind::Param})
    for (const step::TensorId id : task.cell.of_kind(kind))
      if (const step::Tensor& tensor = task.cell.tensor(id); tensor.tail == step::Tail::Vector)
        shape.carried += tensor.rows;
  if (backward) shape.carried += param_rows(task.cell);
  shape.staged = stream_traffic(task).staged;
  shape.kept = kept_values(of);
  shape.head_values = static_cast<int>(head_value_bytes(task.cell) / (SharedValues::kStages * 4));
  shape.accurate = task.problem.math != kernel::Math::Fast && shape.cost.special > 0;
  return shape;
}

double head_exchange_seconds(const StreamParameters& p, const HeadShape& shape,
                             const target::Speeds& speeds) {
  const int warps = warps_of(p);
  const double through_lanes = 5 * kShuffleCycles;
  const double of_warps = warps == 1 ? 0
                          : warps <= kWordsOfAll
                              ? 2 * kSharedCycles + 4.0 * warps
                              : 2 * kSharedCycles + through_lanes + 4.0 * (turns_of(p) - 1);
  const double twice = shape.moments > 0 ? through_lanes : 0;
  if (p.head_split > 1) {
    const double words = static_cast<double>(shape.words) / std::max(1, shape.levels) * warps;
    const double way = target::cluster_exchange_cycles(p.head_split, kBytesOfWord * words);
    return (shape.levels * (through_lanes + of_warps - kSharedCycles + way) + twice) / speeds.clock_hz;
  }
  const double barrier = warps == 1 ? 0 : speeds.barrier_s;
  return shape.levels * ((through_lanes + of_warps) / speeds.clock_hz + barrier) + twice / speeds.clock_hz;
}

double head_exchange_slots(const StreamParameters& p, const HeadShape& shape) {
  const int warps = warps_of(p);
  const double of_warps = warps == 1 ? 0 : warps <= kWordsOfAll ? 1.5 * warps : 11 + 3.0 * turns_of(p);
  return shape.words * (p.per_thread + 10 + of_warps);
}

int head_registers(int per_thread, int unroll, const HeadShape& shape) {
  return kFixedRegisters + per_thread * (shape.carried + unroll * shape.staged);
}

bool head_may_spill(const StreamParameters& p, const HeadShape& shape, const target::Limits& limits) {
  const int values = std::max(p.unroll * shape.staged, shape.kept) + kTemporaries;
  const int wanted = kFixedRegisters + shape.words + (shape.accurate ? kOfFunctions : 0) +
                     p.per_thread * (shape.carried + values) +
                     shape.head_values * p.heads * ceil_div(p.steps, p.threads());
  return wanted > std::min<std::int64_t>(kMostRegisters, limits.registers_per_sm / p.threads());
}

int head_blocks_by_registers(const StreamParameters& p, const HeadShape& shape,
                             const target::Limits& limits) {
  const int registers = head_registers(p.per_thread, p.unroll, shape);
  return std::max(1, static_cast<int>(limits.registers_per_sm / (registers * p.threads())));
}

namespace {

class HeadSpace {
  using P = StreamParameters;

 public:
  HeadSpace(const Task& task, const target::Limits& limits)
      : task_(task), limits_(limits), shape_(head_shape(task)) {}

  System build() {
    // Of cells whose channels do not see each other.
    variable<P, &P::producer_warps>(s_, values({0}));
    variable<P, &P::rewrite>(s_, up_to(Rewrite::None));
    variable<P, &P::exchange>(s_, up_to(Exchange::Cluster));
    variable<P, &P::interleaved_copies>(s_, if_so(false));
    variable<P, &P::segments>(s_, values({1}));
    variable<P, &P::time_split>(s_, values({1}));
    variable<P, &P::pipeline_depth>(s_, values({1}));
    require_copies();
    require_heads();
    require_blocks();
    require_resources();
    return std::move(s_);
  }

 private:
  std::int64_t element() const { return kernel::storage_bytes(task_.problem.storage); }
  bool passes_l2() const { return compulsory_bytes(task_) > kTimesL2 * limits_.l2_bytes; }
  Domain channel_domain() const {
    std::set<std::int64_t> known;
    for (int each = 1; each <= most_channels(task_.problem); each *= 2)
      known.insert({channels_of_warps(task_.problem, each), channels_of_lanes(task_.problem, each)});
    for (int each = 1; each <= most_channels(task_.problem); each *= 2)
      for (int blocks = 2; blocks <= kMostBlocksOfHead; blocks *= 2)
        if (const std::int64_t some = channels_of_block(task_.problem, each, blocks); some > 0)
          known.insert(some);
    return values({known.begin(), known.end()});
  }
  void require_copies();
  void require_heads();
  void require_blocks();
  void require_resources();

  const Task& task_;
  const target::Limits& limits_;
  const HeadShape shape_;
  System s_;
  const Var channels = variable<P, &P::channels>(s_, channel_domain());
  const Var per_thread = variable<P, &P::per_thread>(s_, powers_of_two(1, most_channels(task_.problem)));
  const Var heads =
      variable<P, &P::heads>(s_, powers_of_two(1, task_.problem.sizes.heads == 1 ? 1 : kMostHeads));
  const Var head_split = variable<P, &P::head_split>(s_, powers_of_two(1, kMostBlocksOfHead));
  const Var steps = variable<P, &P::steps>(s_, powers_of_two(1, 32));
  const Var stages = variable<P, &P::stages>(s_, values({2, 3, 4}));
  const Var unroll = variable<P, &P::unroll>(s_, values({1, 2, 4}));
  const Var vector = variable<P, &P::vector>(s_);
  const Var stream_stores = variable<P, &P::stream_stores>(s_, if_so(passes_l2()));
};

void HeadSpace::require_copies() {
  const int dim = static_cast<int>(task_.problem.sizes.dim), widest = widest_vector(task_.problem);
  s_.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  s_.require(vector * element() <= 16, "a copy moves at most 16 bytes");
  s_.require(per_thread <= vector || vector * element() == 16, "alignment of stores");
  // Tensors that are not aligned to more.
  s_.require(implies(vector < widest, steps <= 8 && stages == 2 && unroll == 1), "narrow copies");
}

void HeadSpace::require_heads() {
  for (int each = 1; each <= most_channels(task_.problem); each *= 2) {
    const Expr warps = channels_of_warps(task_.problem, each), lanes = channels_of_lanes(task_.problem, each);
    s_.require(implies(per_thread == each && head_split == 1, channels == when(heads == 1, warps, lanes)),
               "a block holds whole heads");
  }
  s_.require(mod(floor_div(channels, per_thread) * heads, kWarpLanes) == 0, "heads of whole warps");
  // More threads than those of the heads there are would do nothing.
  s_.require(heads == 1 || heads < 2 * task_.problem.sizes.heads, "heads there are");
  if (task_.cell.direction == step::Direction::Halves)
    s_.require(divides(heads, static_cast<int>(task_.problem.sizes.heads / 2)),
               "heads of a block walk the same way");
  s_.require(unroll <= steps, "unrolling");
}

void HeadSpace::require_blocks() {
  for (int each = 1; each <= most_channels(task_.problem); each *= 2)
    for (int blocks = 2; blocks <= kMostBlocksOfHead; blocks *= 2) {
      const std::int64_t some = channels_of_block(task_.problem, each, blocks);
      s_.require(implies(head_split == blocks,
                         some > 0 ? implies(per_thread == each, channels == some) : per_thread != each),
                 "every block of a cluster has a part of the head");
    }
  s_.require(implies(head_split > 1, heads == 1), "a cluster holds one head");
  s_.require(channels <= kMostOfBlock, "channels a block holds");
  s_.require(head_split <= target::largest_cluster(limits_), "thread blocks of a cluster (sm_90 and later)");
}

void HeadSpace::require_resources() {
  const Expr threads = s_.define("threads", floor_div(channels, per_thread) * heads, "threads a block");
  s_.require(threads <= std::min<std::int64_t>(limits_.threads_per_block, kLargestBlock), "threads a block");
  const int fixed = head_registers(0, 0, shape_), each = head_registers(1, 0, shape_) - fixed;
  const int of_step = head_registers(1, 1, shape_) - fixed - each;
  // A thread has the per-head values of a step for the stage to come.
  const std::int64_t head_values = shape_.head_values;
  const Expr registers = s_.define(
      "registers",
      fixed + per_thread * (each + unroll * of_step) + heads * ceil_div(steps, threads) * head_values,
      "registers a thread");
  s_.require(registers <= std::min<std::int64_t>(limits_.registers_per_thread, kMostRegisters),
             "registers a thread");
  s_.require(registers * threads <= limits_.registers_per_sm, "registers a block");
  const std::int64_t ring = stream_traffic(task_).staged * element();
  Expr bytes = stages * steps * channels * heads * ring + steps * heads * head_value_bytes(task_.cell) +
               when(head_split == 1, ceil_div(threads, kWarpLanes) * head_word_bytes(shape_),
                    ceil_div(threads, kWarpLanes) * head_split * cluster_word_bytes(shape_) +
                        cluster_fixed_bytes(shape_));
  if (shape_.moves > 0) bytes = bytes + channels * heads * head_row_bytes(shape_);
  const Expr shared = s_.define("shared_bytes", bytes, "bytes of shared memory a block");
  s_.require(shared <= limits_.shared_per_block, "shared memory");
}

}  // namespace

System head_space(const Task& task) { return HeadSpace(task, task.profile.limits).build(); }

}  // namespace rondo::schedule
