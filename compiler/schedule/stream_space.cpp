// The stream strategy's tuning space and cost model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/schedule/cluster_cost.h"
#include "compiler/schedule/history.h"
#include "compiler/schedule/step_cost.h"
#include "compiler/schedule/stream.h"
#include "compiler/schedule/stream_kernel.h"
#include "compiler/schedule/stream_maps.h"
#include "compiler/step/simplify.h"

namespace rondo::schedule {

using step::TensorKind;

namespace {

constexpr int kSegmentRegisters = 40;    // beside the kept coefficients: maps, carries, addresses (measured)
constexpr int kRegistersOfSm = 65536;    // of every architecture that has clusters (CUDA guide, 16.2)
constexpr int kLargestCluster = 16;      // that any GPU forms
constexpr int kMostBlocksOfSm = 4;       // that are of use: enough for some to wait while others work
constexpr std::int64_t kTimesL2 = 4;     // bytes moved, by the size of the L2, from which on policies may pay
constexpr double kPaceOfSlowest = 1.03;  // the blocks of a cluster wait for each other each round (assumed)
constexpr std::int64_t kMbarrierBytes = 128;  // mbarriers of a cluster and alignment behind them

constexpr std::int64_t kSharedReserved =
    1024;  // bytes of each block's share that the driver keeps (CUDA guide, 16.8)

// Rows of storage type staged through shared memory at each step, and rows moved in all.
struct Traffic {
  int staged = 0;
  int moved = 0;
};

Traffic traffic(const step::Cell& cell, Pass pass) {
  auto rows = [&](const std::vector<step::TensorId>& tensors) {
    int sum = 0;
    for (const step::TensorId id : tensors) sum += cell.tensors[static_cast<std::size_t>(id)].rows;
    return sum;
  };
  Traffic t;
  if (pass != Pass::Backward) {
    t.staged = rows(cell.of_kind(TensorKind::Input));
    t.moved = t.staged + rows(cell.of_kind(TensorKind::Output));
    if (pass == Pass::ForwardSave) t.moved += rows(stored_histories(cell));
    return t;
  }
  const BackwardNeeds needs = backward_needs(cell);
  t.staged = rows(needs.inputs) + rows(cell.of_kind(TensorKind::Output));
  for (const TensorRef& ref : needs.history_tensors) t.staged += rows({ref.tensor});
  t.moved = t.staged + rows(cell.of_kind(TensorKind::Input));
  return t;
}

// Shared memory of the segments' maps and, backward, of their shares of parameter gradients, by segment and
// channel.
std::int64_t exchange_bytes(const step::Cell& cell, const Problem& problem) {
  return MapTable::bytes(static_cast<int>(cell.next.size())) +
         (problem.pass == Pass::Backward ? 4 * param_rows(cell) : 0);
}

std::int64_t round_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

// Registers of a thread of a walk in segments beside the kept coefficients. In a cluster, the maps of the
// block and of the segments before come on top.
int fixed_registers(int cluster, int states) {
  return kSegmentRegisters + (cluster == 1 ? 0 : 2 * MapTable::entries(states));
}

// Blocks of one SM at once.
int resident(const target::Limits& limits, std::int64_t shared, int threads) {
  const std::int64_t by_shared = limits.shared_per_sm / (shared + kSharedReserved);
  const std::int64_t by_threads = limits.threads_per_sm / round_up(threads, 32);
  return static_cast<int>(
      std::max<std::int64_t>(1, std::min({by_shared, by_threads, std::int64_t{limits.blocks_per_sm}})));
}

StepCost pass_cost(const step::Cell& cell, const Problem& problem) {
  if (problem.pass == Pass::Backward) {
    const BackwardNeeds needs = backward_needs(cell);
    return step_cost(cell, problem, needs.step.graph, roots_of(needs.step));
  }
  return step_cost(cell, problem, cell.graph, forward_roots(cell));
}

}  // namespace

int blocks_by_registers(const StreamParameters& p, int parts, int states) {
  const std::int64_t registers = round_up(parts * p.unroll + fixed_registers(p.cluster, states), 8);
  const std::int64_t blocks = kRegistersOfSm / (registers * round_up(p.threads(), 32));
  return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, kMostBlocksOfSm));
}

constraint::System Stream::space(const step::Cell& cell, const Problem& problem,
                                 const target::Profile& profile) const {
  using namespace constraint;
  const step::Cell simple = step::simplify(cell);
  const std::int64_t dim = problem.sizes.dim;
  const std::int64_t element = kernel::storage_bytes(problem.storage);
  System s;
  // Tiles that are no powers of two matter: they are what lets the blocks of a launch divide evenly among the
  // SMs.
  const Var channels =
      s.var("channels", values({8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384}), "channels a block");
  const Var per_thread = s.var("per_thread", powers_of_two(1, 2), "channels a thread");
  const Var steps = s.var("steps", powers_of_two(8, 256), "time steps a stage");
  const Var stages = s.var("stages", values({2, 3, 4, 6, 8}), "stages in the ring");
  const Var unroll = s.var("unroll", values({4, 8, 16}), "steps whose values are loaded together");
  const Var vector = s.var("vector", powers_of_two(1, 8), "elements an asynchronous copy moves");
  const Var loaders = s.var("loaders", values({0, 1, 2}), "warps that only stage inputs");
  // Rounding changes, so only where the user did not ask for accurate arithmetic.
  const Var shorten = s.var("shorten", range(0, problem.math == kernel::Math::Fast ? 1 : 0),
                            "1: step rewritten for a short chain");

  const int parts = segment_parts(simple, problem);
  const Var segments =
      s.var("segments", powers_of_two(1, parts > 0 ? 32 : 1), "parts of a stage worked on at once");
  s.require(implies(segments == 1, steps <= 64), "long stages are for segments");
  s.require(implies(segments > 1, unroll * segments == steps), "a segment's steps are unrolled");
  s.require(implies(segments > 1, shorten == 0 && per_thread == 1), "segments");
  const int states = static_cast<int>(simple.next.size());
  const Var cluster = s.var("cluster", powers_of_two(1, parts > 0 ? kLargestCluster : 1),
                            "blocks that share channels and split time");
  s.require(cluster <= std::max(1, profile.limits.max_cluster),
            "thread blocks of a cluster (sm_90 and later)");
  s.require(implies(cluster == 1, channels <= 256), "wider tiles leave too few blocks without clusters");
  s.require(implies(cluster > 1, segments > 1), "a cluster splits time in segments");
  // Rounds shorter than this are all exchange; more shapes of ring would not move more.
  s.require(implies(cluster > 1, steps >= 32 && stages <= 4 && loaders <= 1), "rounds of a cluster");

  // Policies matter where tensors pass through the L2, and are tried on the rings that reach copy speed.
  const bool passes = least_bytes(simple, problem) > kTimesL2 * profile.limits.l2_bytes;
  const Var evict = s.var("evict", range(0, passes ? 3 : 0),
                          "marked as used once: 1 what is read, 2 what is written, 3 both");
  s.require(implies(evict > 0, (stages == 3 || stages == 4) && steps >= 32 && channels >= 32), "L2 policies");

  s.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  s.require(vector * element <= 16, "a copy moves at most 16 bytes");
  s.require(divides(vector, channels), "copies a block's row");
  // Narrower copies than D allows are for tensors that are not aligned to more; one shape of ring serves
  // them.
  std::int64_t widest = 16 / element;
  while (dim % widest != 0) widest /= 2;
  s.require(implies(vector < widest, steps == 16 && stages == 4 && unroll == 4 && cluster == 1),
            "narrow copies");
  s.require(per_thread <= vector, "alignment of stores");
  s.require(divides(per_thread, channels), "channels a thread");
  const Expr computing = floor_div(channels, per_thread) * segments;
  const Expr threads = s.define(
      "threads", when(loaders == 0, computing, (ceil_div(computing, 32) + loaders) * 32), "threads a block");
  s.require(threads <= profile.limits.threads_per_block, "threads a block");
  s.require(unroll <= steps, "unrolling");
  // A segment keeps the coefficients of all its steps in registers until the carries are known.
  const Expr fixed = when(cluster == 1, fixed_registers(1, states), fixed_registers(2, states));
  const Expr registers =
      s.define("segment_registers", when(segments == 1, 0, parts * unroll + fixed), "registers a thread");
  s.require(registers <= profile.limits.registers_per_thread, "registers a thread");
  s.require(registers * ceil_div(threads, 32) * 32 <= profile.limits.registers_per_sm, "registers a block");
  s.require(channels <= round_up(dim, 8), "channels the head has");
  const std::int64_t ring = traffic(simple, problem.pass).staged * element;
  const Expr exchange =
      when(segments == 1, 0, segments * channels * exchange_bytes(simple, problem)) +
      when(cluster == 1, 0, 2 * cluster * channels * MapTable::bytes(states) + kMbarrierBytes);
  const Expr shared =
      s.define("shared_bytes", stages * steps * channels * ring + exchange, "bytes of shared memory a block");
  s.require(shared <= profile.limits.shared_per_block, "shared memory");
  return s;
}

namespace {

// A stream problem priced for one GPU. `speeds` and `limits` are copied: the model outlives the profile it
// was made from.
struct Model {
  step::Sizes sizes;
  target::Limits limits;
  target::Speeds speeds;
  Traffic traffic;
  StepCost step;
  std::int64_t element = 2;
  std::int64_t exchange = 0;  // bytes by segment and channel
  int states = 1;             // carried rows
  int parts = 0;              // as segment_parts() counts them

  // How the blocks of a launch lie on the GPU.
  struct Placing {
    double blocks = 1;   // in all
    double waves = 1;    // turns the busiest SM takes
    double busiest = 1;  // blocks at once on one SM
  };

  Estimate operator()(const Parameters& parameters) const;
  std::int64_t ring_bytes(const StreamParameters& p) const;
  std::int64_t shared_bytes(const StreamParameters& p) const;
  Placing place(const StreamParameters& p) const;
  double memory(const StreamParameters& p, const Placing& at) const;
  double issue(const StreamParameters& p, const Placing& at) const;
  double chain(const StreamParameters& p) const;
  double block_bytes(const StreamParameters& p) const;
  // Steps a block works on, in a cluster also those past the end.
  double block_steps(const StreamParameters& p) const;
};

std::int64_t Model::ring_bytes(const StreamParameters& p) const {
  return std::int64_t{p.stages} * p.steps * p.channels * traffic.staged * element;
}

std::int64_t Model::shared_bytes(const StreamParameters& p) const {
  std::int64_t bytes = ring_bytes(p);
  if (p.segments > 1) bytes += p.segments * p.channels * exchange;
  if (p.cluster > 1) bytes += 2 * p.cluster * p.channels * MapTable::bytes(states) + kMbarrierBytes;
  return bytes;
}

double Model::block_steps(const StreamParameters& p) const {
  if (p.cluster == 1) return static_cast<double>(sizes.time);
  return std::ceil(static_cast<double>(sizes.time) / (p.cluster * p.steps)) * p.steps;
}

Model::Placing Model::place(const StreamParameters& p) const {
  const double tiles = std::ceil(static_cast<double>(sizes.dim) / p.channels);
  Placing at;
  at.blocks = tiles * static_cast<double>(sizes.heads * sizes.batch * p.cluster);
  int per_sm = resident(limits, shared_bytes(p), p.threads());
  if (p.cluster > 1) per_sm = std::min(per_sm, blocks_by_registers(p, parts, states));
  const double room = p.cluster == 1 ? static_cast<double>(per_sm) * limits.sm_count
                                     : std::max(1, clusters_at_once(limits, p.cluster, per_sm)) * p.cluster;
  at.waves = std::ceil(at.blocks / room);
  at.busiest = std::min<double>(per_sm, std::ceil(at.blocks * per_sm / room));
  return at;
}

// Bytes one block moves. Rows shorter than a 32-byte sector waste the rest of it.
double Model::block_bytes(const StreamParameters& p) const {
  const double row_bytes = static_cast<double>(p.channels * element);
  const double waste = row_bytes < 32 ? 32 / row_bytes : row_bytes < 64 ? 1.15 : row_bytes < 128 ? 1.04 : 1.0;
  return static_cast<double>(sizes.time) / p.cluster * p.channels * traffic.moved *
         static_cast<double>(element) * waste;
}

// The whole over the copy bandwidth, or the busiest SM's share over what an SM can move: that is limited by
// its port and, by Little's law, by the bytes it keeps in flight.
double Model::memory(const StreamParameters& p, const Placing& at) const {
  const double pace = p.cluster == 1 ? 1 : kPaceOfSlowest;
  const double all = pace * block_bytes(p) * at.blocks / speeds.copy_bytes_per_s;
  // In segments a stage is waited for half a stage before its time (stream_segments.cpp).
  const double flying = p.stages - (p.segments == 1 ? 1 : 1.5);
  const double in_flight = at.busiest * static_cast<double>(ring_bytes(p)) * flying / p.stages;
  const double sm_rate = std::min(speeds.sm_bytes_per_s, in_flight / speeds.memory_latency_s * traffic.moved /
                                                             std::max(1, traffic.staged));
  return std::max(all, at.waves * at.busiest * block_bytes(p) / sm_rate);
}

// An SM has four schedulers, each issues one warp instruction a cycle; staging, loads, stores and conversions
// come on top of the step's own arithmetic.
double Model::issue(const StreamParameters& p, const Placing& at) const {
  const double warps = std::ceil(p.threads() / 32.0) * at.busiest;
  const double overhead =
      2.0 * traffic.moved + 6.0 / p.per_thread + 1.5 * traffic.staged * p.threads() / (p.vector * 32.0);
  const double entries = MapTable::entries(states);
  double maps = p.segments == 1 ? 0 : 2.0 * entries;  // composing and applying the steps' maps
  // The maps of all segments and blocks: a load, a choice and a multiply-add an entry, once a round.
  if (p.cluster > 1) maps += 2.5 * entries * (p.segments + p.cluster) / p.unroll;
  const double slots = p.per_thread * (step.alu + step.special + overhead + maps);
  const double special = p.per_thread * step.special * 128 / speeds.special_per_cycle_sm;
  return at.waves * block_steps(p) / p.segments * std::ceil(warps / 4) * std::max(slots, special) /
         speeds.clock_hz;
}

// Seconds a step of the dependent chain takes. In segments: multiply-adds along a segment, twice, and along
// the segments; in a cluster, the exchange and multiply-adds along the blocks.
double Model::chain(const StreamParameters& p) const {
  if (p.segments == 1) {
    const double loop = 12.0 / p.unroll;  // loop counter, branch and the slack of a short unroll
    return (step.chain + loop) / speeds.clock_hz + speeds.barrier_s / p.steps;
  }
  double cycles =
      8.0 * p.unroll + 16.0 * p.segments + 100;  // 100: latencies of the exchange and of the first loads
  if (p.cluster > 1)
    cycles += 16.0 * p.cluster +
              cluster_exchange_cycles(p.cluster,
                                      static_cast<double>(p.cluster * p.channels * MapTable::bytes(states)));
  return (cycles / speeds.clock_hz + 2 * speeds.barrier_s) / p.steps;
}

Estimate Model::operator()(const Parameters& parameters) const {
  const StreamParameters p = StreamParameters::from(parameters);
  const Placing at = place(p);
  Estimate e;
  e.memory = memory(p, at);
  e.issue = issue(p, at);
  e.chain = at.waves * block_steps(p) * chain(p);
  const double stage_bytes =
      block_bytes(p) * p.cluster / static_cast<double>(sizes.time) * p.steps;  // read and written
  e.launch = speeds.launch_s + at.waves * (speeds.memory_latency_s + stage_bytes / speeds.sm_bytes_per_s);
  // The largest part hides the others only in part: a tenth of them shows.
  const double sum = e.memory + e.issue + e.chain;
  const double top = std::max({e.memory, e.issue, e.chain});
  e.seconds = top + 0.1 * (sum - top) + e.launch;
  return e;
}

}  // namespace

CostModel Stream::cost_model(const step::Cell& cell, const Problem& problem,
                             const target::Profile& profile) const {
  const step::Cell simple = step::simplify(cell);
  return Model{problem.sizes,
               profile.limits,
               profile.speeds,
               traffic(simple, problem.pass),
               pass_cost(simple, problem),
               kernel::storage_bytes(problem.storage),
               exchange_bytes(simple, problem),
               static_cast<int>(simple.next.size()),
               segment_parts(simple, problem)};
}

}  // namespace rondo::schedule
