#include "compiler/schedule/stream/head_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using namespace constraint;
using step::Node;
using step::NodeId;
using step::NodeKind;

constexpr int kMostChannels = 8;                           // of a thread
constexpr int kFixedRegisters = 40;                        // addresses, the walk, and places in the exchange
constexpr int kMostRegisters = 255;                        // of a thread (CUDA guide, 16.2)
constexpr double kShuffleCycles = 28, kSharedCycles = 30;  // latencies with the addition or the store

// Elements of the widest copy that rows of D channels allow.
int widest_vector(const Problem& problem) {
  std::int64_t widest = 16 / kernel::storage_bytes(problem.storage);
  while (problem.sizes.dim % widest != 0) widest /= 2;
  return static_cast<int>(widest);
}

int warps_of(const StreamParameters& p) { return std::max(1, p.lanes() / kWarpLanes); }

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

// A reduction hands on what it adds up, so that the chain goes through it.
StepCost cost_through(const step::Cell& cell, const Problem& problem, StepGraph step) {
  for (Node& node : step.graph.nodes) {
    if (node.kind != NodeKind::ReduceSum && node.kind != NodeKind::ReduceMax) continue;
    node.kind = NodeKind::Scalar;
    node.op = scalar::Op::Neg;
  }
  return step_cost(cell, problem, step.graph, step.roots);
}

Domain channels_of_heads(const Problem& problem) {
  std::set<std::int64_t> channels;
  for (int each = 1; each <= widest_vector(problem); each *= 2) {
    const std::int64_t turn = std::int64_t{kWarpLanes} * each;
    channels.insert((problem.sizes.dim + turn - 1) / turn * turn);
  }
  return values({channels.begin(), channels.end()});
}

}  // namespace

Legality head_fits(const step::Cell& cell, const Problem& problem) {
  if (step::analyze(cell).has_matrix)
    return {false, "the step multiplies by a matrix: channels see each other"};
  if (passes_products(problem))
    return {false, "the step multiplies by no matrix: there are no products to save"};
  const std::int64_t dim = problem.sizes.dim;
  const std::int64_t most =
      std::min<std::int64_t>(kLargestHead, std::int64_t{kLargestBlock} * widest_vector(problem));
  if (dim <= most) return {};
  if (dim > kLargestHead)
    return {false,
            fmt::format("the step reduces over the head, or has one value a head: a block must hold all {} "
                        "channels of it, and holds at most {}",
                        dim, kLargestHead)};
  return {false,
          fmt::format("the step reduces over the head, or has one value a head: a block must hold all {} "
                      "channels of it; {} threads have {} each, as rows of {} elements are aligned, so it "
                      "holds {}: let a higher power of two divide D",
                      dim, kLargestBlock, widest_vector(problem), dim, most)};
}

HeadShape head_shape(const step::Cell& cell, const Problem& problem) {
  const bool backward = problem.pass == Pass::Backward;
  const StepGraph step = stream_step(cell, problem);
  std::vector<bool> numbers;
  for (const step::TensorId id : cell.of_kind(step::TensorKind::Param))
    numbers.insert(numbers.end(), backward ? at(cell.tensors[at(id)].rows) : 0,
                   cell.tensors[at(id)].tail == step::Tail::Scalar);
  const HeadReductions of = head_reductions(step, step.roots.size() - numbers.size(), numbers);
  HeadShape shape;
  shape.cost = cost_through(cell, problem, step);
  shape.levels = of.levels;
  for (const HeadReduction& reduction : of.reductions) {
    shape.words += reduction.kind == HeadReduction::Kind::Moments ? 2 : 1;
    shape.moments += reduction.kind == HeadReduction::Kind::Moments ? 1 : 0;
  }
  shape.states = static_cast<int>(cell.next.size());
  shape.params = (backward ? 2 : 1) * param_rows(cell);
  shape.staged = stream_traffic(cell, problem.pass).staged;
  shape.kept = kept_values(of);
  return shape;
}

double head_exchange_seconds(const StreamParameters& p, const HeadShape& shape,
                             const target::Speeds& speeds) {
  const int warps = warps_of(p);
  const double through_lanes = 5 * kShuffleCycles;
  const double of_warps = warps == 1   ? 0
                          : warps <= 8 ? 2 * kSharedCycles + 4.0 * warps
                                       : 2 * kSharedCycles + through_lanes;
  const double twice = shape.moments > 0 ? through_lanes : 0;
  const double barrier = warps == 1 ? 0 : speeds.barrier_s;
  return shape.levels * ((through_lanes + of_warps) / speeds.clock_hz + barrier) + twice / speeds.clock_hz;
}

double head_exchange_slots(const StreamParameters& p, const HeadShape& shape) {
  const int warps = warps_of(p);
  const double of_warps = warps == 1 ? 0 : warps <= 8 ? 1.5 * warps : 14;
  return shape.words * (p.per_thread + 10 + of_warps);
}

int head_registers(int per_thread, int unroll, const HeadShape& shape) {
  return kFixedRegisters + 2 * shape.words +
         per_thread * (shape.states + shape.params + unroll * shape.staged + shape.kept);
}

int head_blocks_by_registers(const StreamParameters& p, const HeadShape& shape,
                             const target::Limits& limits) {
  const int registers = head_registers(p.per_thread, p.unroll, shape);
  return std::max(1, static_cast<int>(limits.registers_per_sm / (registers * p.threads())));
}

System head_space(const step::Cell& cell, const Problem& problem, const target::Profile& profile) {
  const target::Limits& limits = profile.limits;
  const std::int64_t element = kernel::storage_bytes(problem.storage);
  const int dim = static_cast<int>(problem.sizes.dim);
  const HeadShape shape = head_shape(cell, problem);
  const bool passes_l2 = compulsory_bytes(cell, problem) > kTimesL2 * limits.l2_bytes;
  System s;
  const Var channels =
      s.var("channels", channels_of_heads(problem), "channels that the threads of a head take");
  const Var per_thread = s.var(
      "per_thread", powers_of_two(1, std::min(kMostChannels, widest_vector(problem))), "channels a thread");
  const Var steps = s.var("steps", values({1, 2, 4, 8, 16, 32}), "time steps a stage");
  const Var stages = s.var("stages", values({2, 3, 4}), "stages in the ring");
  const Var unroll = s.var("unroll", values({1, 2, 4}), "steps whose values are loaded together");
  const Var vector = s.var("vector", powers_of_two(1, 8), "elements an asynchronous copy moves");
  for (const char* fixed : {"producer_warps", "rewrite", "exchange", "interleaved_copies"})
    s.var(fixed, values({0}), "of cells whose channels do not see each other");
  for (const char* fixed : {"segments", "time_split", "pipeline_depth"})
    s.var(fixed, values({1}), "of cells whose channels do not see each other");
  s.var("stream_stores", range(0, passes_l2 ? 1 : 0), "1: what is written at each step leaves the L2 first");

  s.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  s.require(vector * element <= 16, "a copy moves at most 16 bytes");
  s.require(per_thread <= vector, "alignment of stores");
  s.require(channels == ceil_div(dim, per_thread * kWarpLanes) * per_thread * kWarpLanes,
            "a block holds the head");
  s.require(unroll <= steps, "unrolling");
  // Tensors that are not aligned to more.
  s.require(implies(vector < widest_vector(problem), steps == 8 && stages == 3 && unroll == 1),
            "narrow copies");
  const Expr threads = s.define("threads", floor_div(channels, per_thread), "threads a block");
  s.require(threads <= std::min<int>(limits.threads_per_block, kLargestBlock), "threads a block");
  const int fixed = head_registers(0, 0, shape), each = head_registers(1, 0, shape) - fixed;
  const int of_step = head_registers(1, 1, shape) - fixed - each;
  const Expr registers =
      s.define("registers", fixed + per_thread * (each + unroll * of_step), "registers a thread");
  s.require(registers <= std::min<int>(limits.registers_per_thread, kMostRegisters), "registers a thread");
  s.require(registers * threads <= limits.registers_per_sm, "registers a block");
  const std::int64_t ring = stream_traffic(cell, problem.pass).staged * element;
  const Expr shared = s.define("shared_bytes",
                               stages * steps * channels * ring + steps * number_bytes(cell) +
                                   ceil_div(threads, kWarpLanes) * (16 * shape.words),
                               "bytes of shared memory a block");
  s.require(shared <= limits.shared_per_block, "shared memory");
  return s;
}

}  // namespace rondo::schedule
