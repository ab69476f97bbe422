// The persistent strategy's tuning space and cost model.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/cluster_cost.h"
#include "compiler/schedule/history.h"
#include "compiler/schedule/persistent.h"
#include "compiler/schedule/persistent_geometry.h"
#include "compiler/schedule/persistent_plan.h"
#include "compiler/schedule/step_cost.h"
#include "compiler/step/simplify.h"

namespace rondo::schedule {

namespace {

constexpr int kRegistersBeside = 80;          // addresses, loop state, temporaries of the step
constexpr std::int64_t kBarrierBytes = 1024;  // mbarriers and alignment of arrays

int power_of_two_from(std::int64_t n) {
  int result = 1;
  while (result < n) result *= 2;
  return result;
}

// k-tiles that different shares of a head give: what `resident` may be, beside a few smaller numbers.
std::vector<constraint::Value> resident_choices(std::int64_t dim,
                                                const std::vector<constraint::Value>& teams) {
  std::set<constraint::Value> result = {0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64};
  for (const constraint::Value blocks : teams)
    for (int unit_blocks = 1; unit_blocks <= 2; ++unit_blocks)
      for (int splits = 1; splits <= 16; splits *= 2) {
        const int team = static_cast<int>(blocks);
        const int tiles = persistent_units(dim, team, unit_blocks) * team / 16;
        if (tiles % splits == 0) result.insert(tiles / splits);
      }
  return {result.begin(), result.end()};
}

// Blocks a team may have: powers of two as clusters; as part of the grid, shares of 8 to 64 channels a block.
std::vector<constraint::Value> team_choices(std::int64_t dim, const target::Limits& limits) {
  std::set<constraint::Value> result;
  for (int blocks = 1; blocks <= std::max(1, limits.max_cluster); blocks *= 2) result.insert(blocks);
  for (const int units : {8, 16, 24, 32, 48, 64})
    if (const std::int64_t blocks = (dim + units - 1) / units; blocks >= 2 && blocks <= limits.sm_count)
      result.insert(blocks);
  return {result.begin(), result.end()};
}

}  // namespace

constraint::System Persistent::space(const step::Cell& cell, const Problem& problem,
                                     const target::Profile& profile) const {
  using namespace constraint;
  const SweepShape shape = sweep_shape(step::simplify(cell), problem);
  const std::int64_t dim = problem.sizes.dim;
  const int max_cluster = std::max(1, profile.limits.max_cluster);
  const std::vector<Value> teams = team_choices(dim, profile.limits);
  System s;
  const Var blocks = s.var("blocks", values(teams), "blocks that share a head");
  const Var grid = s.var("grid", range(0, 1), "1: blocks meet through global memory, 0: they are a cluster");
  const Var unit_blocks = s.var("unit_blocks", powers_of_two(1, 2), "blocks of 8 channels a warp");
  const int tiles = std::min(4, power_of_two_from((problem.sizes.batch + 7) / 8));
  const Var batch_tiles = s.var("batch_tiles", powers_of_two(1, tiles), "tiles of 8 batch rows a block");
  const Var resident =
      s.var("resident", values(resident_choices(dim, teams)), "k-tiles of the matrices in registers");
  const Var splits = s.var("splits", powers_of_two(1, 16), "warps that share the columns of a product");
  const Var chains = s.var("chains", powers_of_two(1, 2), "accumulators a product is spread over");
  const Var steps = s.var("steps", powers_of_two(2, 8), "time steps a stage");
  const Var stages = s.var("stages", values({3, 4}), "stages in the ring");
  const Var vector = s.var("vector", powers_of_two(1, 8), "elements a copy or store moves");
  const Var loaders = s.var("loaders", powers_of_two(1, 4), "warps that stage inputs");
  const Var writers = s.var("writers", powers_of_two(1, 2), "warps that store results");

  s.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  std::int64_t widest = 8;
  while (dim % widest != 0) widest /= 2;
  s.require(implies(vector < widest, steps == 4 && stages == 3 && chains == 2 && writers == 1),
            "narrow copies");

  const Expr granule = max(8 * unit_blocks, when(mod(blocks, 2) == 1, 16, 8));
  const Expr units =
      s.define("units", ceil_div(ceil_div(dim, blocks), granule) * granule, "channels a block");
  s.require(units * (blocks - 1) < dim, "every block of a team has channels");
  const Expr k_tiles = s.define("k_tiles", floor_div(units * blocks, 16), "k-tiles of a product");
  for (const Value team : teams)
    if (team > max_cluster || (team & (team - 1)) != 0)
      s.require(implies(blocks == team, grid == 1), "clusters are of a power of two, and of limited size");
  s.require(implies(grid == 1, blocks >= 2), "a block alone needs no grid");
  // Blocks that wait for each other must be resident together, one an SM; as many as fit are launched
  // together.
  const Var together = s.var("together", powers_of_two(1, 16), "batch tiles of a launch of the grid");
  const Expr on_chip = blocks * problem.sizes.heads * together;
  const Expr batch_parts = ceil_div(problem.sizes.batch, 8 * batch_tiles);
  s.require(implies(grid == 0, together == 1), "clusters are launched all at once");
  s.require(implies(grid == 1, on_chip <= profile.limits.sm_count), "blocks of the grid resident at once");
  s.require(implies(grid == 1, 2 * on_chip > profile.limits.sm_count || together >= batch_parts),
            "as many as fit");
  s.require(implies(grid == 1 && together > 1, together < 2 * batch_parts), "no more than there are");
  s.require(implies(grid == 1, stages == 3 && writers == 1), "grid");
  s.require(divides(splits, k_tiles), "columns divide evenly");
  const Expr k_share = floor_div(k_tiles, splits);
  s.require(resident <= k_share, "k-tiles a warp multiplies");
  const Expr warps = floor_div(units, 8 * unit_blocks);
  const Expr threads = s.define("threads", 32 * (warps * splits + loaders + writers), "threads a block");
  s.require(threads <= profile.limits.threads_per_block, "threads a block");

  // Registers of a computing thread.
  Expr row_tiles = Expr(0);
  Expr widest_group = Expr(0);
  for (const int products : shape.products) {
    const Expr of_group = floor_div(products * unit_blocks + 1, 2);
    row_tiles = row_tiles + of_group;
    widest_group = max(widest_group, of_group);
  }
  const Expr channels = 2 * unit_blocks * batch_tiles;
  const Expr registers = s.define(
      "registers",
      4 * row_tiles * resident + 4 * widest_group * batch_tiles * chains + 4 * batch_tiles +
          unit_blocks * batch_tiles * shape.rows_in + channels * (shape.states + shape.product_count) +
          unit_blocks * shape.param_rows + channels * shape.sums +
          when(grid == 1, 4 * ceil_div(batch_tiles * units * blocks, 32 * warps * splits), 0) +
          (problem.pass == Pass::Backward ? 8 : 0) * channels + kRegistersBeside,
      "registers a thread");
  s.require(registers <= profile.limits.registers_per_thread, "registers a thread");
  s.require(registers * threads <= profile.limits.registers_per_sm, "registers of an SM");

  // Shared memory of a block: staged inputs, results, vectors, what of the matrices registers do not hold.
  const Expr batch = 8 * batch_tiles;
  const Expr staging = stages * steps * (shape.rows_in * batch) * (units + 8) * 2;
  const Expr results = 2 * steps * (shape.rows_out * batch) * units * 2;
  const Expr exchange =
      static_cast<std::int64_t>(shape.products.size()) * 2 * when(grid == 1, 1, 2) * batch * (units * blocks);
  const Expr matrices = s.define("matrix_bytes", warps * splits * row_tiles * (k_share - resident) * 512,
                                 "bytes of matrices in shared memory");
  const Expr partial = (splits - 1) * warps * row_tiles * batch_tiles * 512;
  const Expr shared =
      s.define("shared_bytes", staging + results + exchange + matrices + partial + kBarrierBytes,
               "bytes of shared memory a block");
  s.require(shared <= profile.limits.shared_per_block, "shared memory");
  return s;
}

namespace {

// A persistent problem priced for one GPU.
struct Model {
  step::Sizes sizes;
  target::Limits limits;
  target::Speeds speeds;
  SweepShape shape;
  StepCost step;
  std::int64_t bytes = 0;  // of all staged and written tensors

  Estimate operator()(const Parameters& parameters) const;
  double exchange(const PersistentGeometry& g) const;
  double multiply(const PersistentGeometry& g) const;
};

// Cycles of one exchange of vectors.
double Model::exchange(const PersistentGeometry& g) const {
  const double load = 60;  // latency of ldmatrix after the barrier
  // Through the L2: a store's way there and a load's way back and forth, and 16 bytes a thread and load.
  if (g.in_grid()) return 0.65e-6 * speeds.clock_hz + static_cast<double>(g.padded) * g.batch * 2 / 48 + load;
  if (g.p.blocks == 1) return speeds.barrier_s * speeds.clock_hz + load;
  return cluster_exchange_cycles(g.p.blocks, static_cast<double>(g.padded) * g.batch * 2) + load;
}

// Cycles of the products of a step: a sub-core starts an mma every 8 cycles; a chain of dependent ones takes
// 25 each; fragments from shared memory come at 128 bytes a cycle.
double Model::multiply(const PersistentGeometry& g) const {
  const double per_core = std::ceil(g.warps * g.p.splits / 4.0);
  double issue = 0, chain = 0, shared = 0;
  for (const int products : shape.products) {
    const double tiles = g.row_tiles(products);
    issue += tiles * g.k_share() * g.p.batch_tiles * 8 * per_core;
    chain += std::ceil(static_cast<double>(g.k_share()) / g.p.chains) * 33;
    shared += tiles * std::max(0, g.k_share() - g.p.resident) * 512.0 * g.warps * g.p.splits / 128;
    shared += g.k_tiles * g.p.batch_tiles * 256.0 * g.warps / 128;
  }
  const double sum = issue + chain + shared;
  const double top = std::max({issue, chain, shared});
  return top + 0.3 * (sum - top) + (g.p.splits > 1 ? 110 : 0);
}

Estimate Model::operator()(const Parameters& parameters) const {
  const PersistentGeometry g(sizes.dim, PersistentParameters::from(parameters));
  const double time = static_cast<double>(sizes.time);
  const double blocks =
      static_cast<double>(g.p.blocks * sizes.heads) * std::ceil(static_cast<double>(sizes.batch) / g.batch);
  const double teams =
      g.in_grid() ? static_cast<double>(g.p.together * sizes.heads) : clusters_at_once(limits, g.p.blocks, 1);
  const double waves = std::ceil(blocks / g.p.blocks / teams);
  const double per_core = std::ceil(g.warps / 4.0);
  // A thread's channels come one after the other: their special functions, 6 cycles each, lie on its path.
  const double point =
      step.chain + 6.0 * (g.channels() - 2) * step.special +
      g.channels() * per_core * (step.alu + 4.0 * step.special + 2.0 * (shape.rows_in + shape.rows_out));
  // Staging and storing warps move a vector in some cycles each; they must keep up with the step.
  const double vectors = static_cast<double>(g.batch) * g.units / g.p.vector / 32;
  const double staging = shape.rows_in * vectors * 24 / g.p.loaders;
  const double storing = shape.rows_out * std::ceil(g.units / 32.0) * g.p.batch_tiles * 60 / g.p.writers;
  const double stage = 120.0 / g.p.steps;  // waits for the rings, once a stage
  const double critical = shape.levels * exchange(g) + multiply(g) + point + stage;
  const double cycles = std::max({critical, staging, storing}) + 0.05 * (staging + storing);
  Estimate e;
  e.chain = waves * time * cycles / speeds.clock_hz;
  e.memory = static_cast<double>(bytes) / speeds.copy_bytes_per_s;
  e.launch = speeds.launch_s + 20e-6;  // the matrices' way in
  e.seconds = std::max(e.chain, e.memory) + e.launch;
  return e;
}

}  // namespace

CostModel Persistent::cost_model(const step::Cell& cell, const Problem& problem,
                                 const target::Profile& profile) const {
  const step::Cell simple = step::simplify(cell);
  const SweepShape shape = sweep_shape(simple, problem);
  const StepGraph graph = sweep_graph(simple, problem);
  return Model{problem.sizes,
               profile.limits,
               profile.speeds,
               shape,
               step_cost(simple, problem, graph.graph, graph.roots),
               least_bytes(simple, problem)};
}

}  // namespace rondo::schedule
