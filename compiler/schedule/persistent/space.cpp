// The persistent strategy's tuning space and cost model.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/analysis/backward_split.h"
#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/gemm/dense_backward.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/persistent/products.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/step/simplify.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

constexpr int kRegistersBeside = 48;  // addresses, loop state, temporaries of the step
constexpr int kRegistersBetween = 5;  // of a channel, backward: what lives across products by the same warps
constexpr int kRegistersOfTemporaries =
    16;                               // of those beside (an LSTM of 2048 channels compiles without spills)
constexpr int kRegistersOfSums = 30;  // the same of warps that only multiply (reduce-scatter)
constexpr int kMostKSplit = 8;        // blocks of a cluster that split the k extent
// fp32: elements that the compiler loads ahead of their products; an operand in two parts, and for each tile
// of rows the sums of a k-tile and what the compiler keeps split (Mma::tf32x3; measured).
constexpr int kRegistersOfElements = 16, kRegistersOfParts = 24, kRegistersOfSplitTile = 26;
constexpr std::int64_t kBarrierBytes = 1024;  // mbarriers and alignment of arrays

int power_of_two_from(std::int64_t n) {
  int result = 1;
  while (result < n) result *= 2;
  return result;
}

// k-tiles that different shares of a head give: what `register_k_tiles` may be, beside a few smaller numbers.
std::vector<constraint::Value> register_choices(std::int64_t dim, const SweepShape& shape,
                                                const std::vector<constraint::Value>& teams) {
  std::set<constraint::Value> result = {0, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64};
  for (const constraint::Value blocks : teams)
    for (int unit_blocks = 1; unit_blocks <= 2; ++unit_blocks)
      for (int split_k = 1; split_k <= 16; split_k *= 2) {
        const int team = static_cast<int>(blocks);
        const int tiles = persistent_units(dim, team, unit_blocks) * team / 16;
        if (tiles % split_k == 0) result.insert(tiles / split_k);
      }
  for (const constraint::Value blocks : teams)  // reduce-scatter: the columns of all terms
    for (const int terms : shape.terms)
      for (int k_split = 1; k_split <= kMostKSplit; k_split *= 2) {
        const int units = persistent_units(dim, static_cast<int>(blocks), 1, k_split == 1);
        if (const int tiles = units * k_split * terms / 16; tiles <= 64) result.insert(tiles);
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
  const int bytes = kernel::storage_bytes(problem.storage);
  const int words = bytes / 2;  // of two elements
  const bool real = problem.storage == kernel::Storage::F32;
  const int max_cluster = std::max(1, profile.limits.max_cluster);
  const std::vector<constraint::Value> teams = team_choices(dim, profile.limits);
  System s;
  const Var blocks = s.var("blocks", values(teams), "blocks that share a head");
  const Var exchange =
      s.var("exchange", range(0, 1), "how blocks exchange; 0: in a cluster, 1: through global memory");
  const bool may_reduce = shape.terms.size() < shape.products.size();
  const Var reduce = s.var("reduce_scatter", range(0, may_reduce ? 1 : 0),
                           "1: blocks exchange sums of products, 0: the vectors that are multiplied");
  const int most_k_split = may_reduce ? std::min(kMostKSplit, max_cluster) : 1;
  const Var cluster_k_split = s.var("cluster_k_split", powers_of_two(1, most_k_split),
                                    "blocks of a cluster that split the k extent of a product");
  const bool may_set_registers = profile.limits.compute_major >= 9;
  const Var setmaxnreg = s.var("setmaxnreg", range(0, may_set_registers ? 1 : 0),
                               "1: producer and store warps give registers to the others");
  const Var unit_blocks = s.var("unit_blocks", powers_of_two(1, 2), "blocks of 8 channels a warp");
  const int tiles = std::min(4, power_of_two_from((problem.sizes.batch + 7) / 8));
  const Var batch_tiles = s.var("batch_tiles", powers_of_two(1, tiles), "tiles of 8 batch rows a block");
  const Var register_k_tiles = s.var("register_k_tiles", values(register_choices(dim, shape, teams)),
                                     "k-tiles of the matrices in registers");
  const Var split_k = s.var("split_k", powers_of_two(1, 16), "warps that split the k extent of a product");
  const Var accumulators =
      s.var("accumulators", powers_of_two(1, 2), "accumulators that a product is spread over");
  const Var steps = s.var("steps", powers_of_two(2, 8), "time steps a stage");
  const Var stages = s.var("stages", values({3, 4}), "stages in the ring");
  const Var vector = s.var("vector", powers_of_two(1, 16 / bytes), "elements a copy or store moves");
  const Var producer_warps = s.var("producer_warps", powers_of_two(1, 4), "warps that stage inputs");
  const Var store_warps = s.var("store_warps", powers_of_two(1, 2), "warps that store results");

  s.require(divides(vector, dim), "alignment of rows: a copy may not straddle two rows of D channels");
  std::int64_t widest = 16 / bytes;
  while (dim % widest != 0) widest /= 2;
  s.require(implies(vector < widest, steps == 4 && stages == 3 && accumulators == 2 && store_warps == 1),
            "narrow copies");

  const Expr granule =
      max(8 * unit_blocks, when(mod(blocks, 2) == 1, 16, when(reduce == 1 && cluster_k_split == 1, 16, 8)));
  s.require(implies(reduce == 1, blocks >= 2), "a block alone has nobody to send sums to");
  s.require(implies(cluster_k_split > 1, reduce == 1 && exchange == 1),
            "clusters split the k extent where blocks exchange through global memory");
  s.require(divides(cluster_k_split, blocks), "clusters that share columns divide the team");
  const Expr units =
      s.define("units", ceil_div(ceil_div(dim, blocks), granule) * granule, "channels a block");
  s.require(units * (blocks - 1) < dim, "every block of a team has channels");
  const Expr k_tiles = s.define("k_tiles", floor_div(units * blocks, 16), "k-tiles of a product");
  for (const constraint::Value team : teams)
    if (team > max_cluster || (team & (team - 1)) != 0)
      s.require(implies(blocks == team, exchange == 1),
                "clusters are of a power of two, and of limited size");
  s.require(implies(exchange == 1, blocks >= 2), "a block alone has nobody to exchange with");
  // Blocks that exchange through global memory wait for each other: all of a launch must be resident, one on
  // each SM. A launch takes as many batch tiles as fit.
  const Var batch_tiles_in_flight =
      s.var("batch_tiles_in_flight", powers_of_two(1, 16),
            "batch tiles of a launch whose blocks exchange through global memory; 1 in a cluster");
  const Expr on_chip = blocks * problem.sizes.heads * batch_tiles_in_flight;
  const Expr batch_parts = ceil_div(problem.sizes.batch, 8 * batch_tiles);
  s.require(implies(exchange == 0, batch_tiles_in_flight == 1), "clusters are launched all at once");
  for (int cluster = 1; cluster <= most_k_split; cluster *= 2)
    s.require(implies(exchange == 1 && cluster_k_split == cluster,
                      on_chip <= cluster * target::clusters_at_once(profile.limits, cluster, 1)),
              "blocks that exchange through global memory resident at once");
  s.require(
      implies(exchange == 1, 2 * on_chip > profile.limits.sm_count || batch_tiles_in_flight >= batch_parts),
      "as many batch tiles as fit");
  s.require(implies(exchange == 1 && batch_tiles_in_flight > 1, batch_tiles_in_flight < 2 * batch_parts),
            "no more batch tiles than there are");
  s.require(implies(exchange == 1, stages == 3 && store_warps == 1), "exchange through global memory");
  s.require(implies(reduce == 0, divides(split_k, k_tiles)), "columns divide evenly");
  s.require(implies(reduce == 1, divides(2 * split_k * cluster_k_split, blocks * unit_blocks)),
            "rows divide evenly");
  int most_terms = 0;
  for (const int terms : shape.terms) most_terms = std::max(most_terms, terms);
  const Expr columns = units * cluster_k_split;
  s.require(implies(reduce == 1, divides(16, columns)), "whole k-tiles");
  const Expr own_tiles = floor_div(columns, 16);  // of a term (reduce-scatter)
  const Expr sum_tiles = floor_div(blocks * unit_blocks, 2 * split_k * cluster_k_split);
  const Expr k_share = when(reduce == 1, own_tiles * most_terms, floor_div(k_tiles, split_k));
  s.require(register_k_tiles <= k_share, "k-tiles a warp multiplies");
  const Expr warps = floor_div(units, 8 * unit_blocks);
  const Expr working = 32 * warps * (split_k + reduce);
  const Expr threads =
      s.define("threads", working + when(setmaxnreg == 1, 128, 32 * (producer_warps + store_warps)),
               "threads a block");
  s.require(threads <= profile.limits.threads_per_block, "threads a block");
  s.require(implies(setmaxnreg == 1, divides(128, working) && producer_warps + store_warps <= 4),
            "groups of four warps");

  // Registers of a computing thread. `fragments`: of matrices in registers; `outside`: in shared memory.
  Expr row_tiles = Expr(0);
  Expr widest_group = Expr(0);
  for (const int products : shape.products) {
    const Expr of_group = floor_div(products * unit_blocks + 1, 2);
    row_tiles = row_tiles + of_group;
    widest_group = max(widest_group, of_group);
  }
  Expr fragments = row_tiles * register_k_tiles;
  Expr outside = row_tiles * (k_share - register_k_tiles);
  if (may_reduce) {
    Expr inside_of_sums = Expr(0), outside_of_sums = Expr(0);
    for (const int terms : shape.terms) {
      inside_of_sums = inside_of_sums + min(register_k_tiles, own_tiles * terms);
      outside_of_sums = outside_of_sums + max(0, own_tiles * terms - register_k_tiles);
    }
    fragments = when(reduce == 1, sum_tiles * inside_of_sums, fragments);
    outside = when(reduce == 1, sum_tiles * outside_of_sums, outside);
  }
  Expr of_reals = Expr(real ? kRegistersOfElements : 0);
  if (real && problem.math != kernel::Math::Tf32)
    of_reals = of_reals + kRegistersOfParts + kRegistersOfSplitTile * widest_group;
  const Expr channels = 2 * unit_blocks * batch_tiles;
  // Words that a thread collects at once: of one group, or of all sums of a level.
  const auto sums = static_cast<std::int64_t>(shape.terms.size());
  const Expr multiplying = 32 * warps * split_k;
  const Expr senders = floor_div(blocks, cluster_k_split);
  const Expr most_lines = floor_div(4 * split_k, unit_blocks);
  Expr adding = Expr(1);  // as ReduceScatterProducts::collect_lines() has it
  for (int n = 2; n <= kMostLines; n *= 2) adding = when(mod(senders, n) == 0 && most_lines >= n, n, adding);
  const Expr lines = s.define("lines", adding, "threads that add up what blocks sent for a channel");
  const Expr vectors_of_thread = ceil_div(batch_tiles * units * blocks * words, multiplying);
  const Expr collected = when(reduce == 1, sums * 4 * words * ceil_div(batch_tiles * senders, lines),
                              4 * min(AllGatherProducts::kMostCollected, vectors_of_thread));
  const int ahead = problem.pass == Pass::Backward ? std::max(8, shape.handed) : 0;
  // Beside the products, those of the other values.
  const Expr of_step = unit_blocks * batch_tiles * shape.rows_in * words +
                       channels * (shape.states + shape.sums + ahead) + unit_blocks * shape.param_rows +
                       kRegistersBeside;
  const Expr products = channels * shape.product_count;
  const Expr sums_of_warp = 4 * when(reduce == 1, sum_tiles, widest_group) * batch_tiles * accumulators;
  // Sums that warps hand each other are read when this warp's own are done. Words are collected before the
  // products, or after them; the step's temporaries are not there then.
  const Expr of_sums = when(split_k > 1, max(sums_of_warp, products), sums_of_warp + products);
  const Expr waiting = when(exchange == 1, max(0, collected - kRegistersOfTemporaries), 0);
  const Expr of_products = max(of_sums + 4 * words * batch_tiles, waiting);
  const Expr of_matrices = 4 * words * fragments + of_reals;
  const Expr reducing =
      of_matrices + max(sums_of_warp + 4 * words * batch_tiles, when(exchange == 1, collected, 0));
  const Expr registers =
      s.define("registers",
               when(reduce == 1, max(of_step, reducing + kRegistersOfSums),
                    of_step + of_matrices + of_products +
                        ((problem.pass == Pass::Backward ? kRegistersBetween : 0) * channels)),
               "registers a thread");
  s.require(registers <= profile.limits.registers_per_thread, "registers a thread");
  // The four parts of an SM hold as many warps each.
  s.require(
      implies(setmaxnreg == 0, registers * (ceil_div(threads, 128) * 128) <= profile.limits.registers_per_sm),
      "registers of an SM");
  for (int n = 128; n < profile.limits.threads_per_block; n += 128)
    s.require(implies(setmaxnreg == 1 && working == n, registers <= PersistentGeometry::compute_registers(n)),
              "registers of an SM");

  // Shared memory of a block: staged inputs, results, vectors, what of the matrices registers do not hold.
  const Expr batch = 8 * batch_tiles;
  const Expr staging = stages * steps * (shape.rows_in * batch) * (units + 16 / bytes) * bytes;
  const Expr results = 2 * steps * (shape.rows_out * batch) * (units + (real ? 4 : 0)) * bytes;
  std::int64_t terms_together = 0;
  for (const int terms : shape.terms) terms_together += terms;
  const Expr vectors = static_cast<std::int64_t>(shape.products.size()) * bytes * when(exchange == 1, 1, 2) *
                       batch * (units * blocks);
  const Expr parts = sums * batch * when(exchange == 1, 4 * lines * units, 2 * bytes * units * blocks);
  const Expr exchange_bytes = when(
      reduce == 1,
      terms_together * bytes * when(exchange == 1 && cluster_k_split == 1, 1, 2) * batch * columns + parts,
      vectors);
  const Expr matrices = s.define("matrix_bytes", warps * split_k * outside * (256 * bytes),
                                 "bytes of matrices in shared memory");
  const Expr partial = when(reduce == 1, 0, (split_k - 1) * warps * row_tiles * batch_tiles * 512) *
                       when(exchange == 0 && blocks > 1, 2, 1);
  const Expr shared =
      s.define("shared_bytes", staging + results + exchange_bytes + matrices + partial + kBarrierBytes,
               "bytes of shared memory a block");
  s.require(shared <= profile.limits.shared_per_block, "shared memory");
  return s;
}

namespace {

// Cycles in which a sub-core does the work of one product of a k-tile (16 rows by 16 columns by 8 batch
// rows), and that a chain of them takes each. mma.m16n8k8 of tf32 starts as often as mma.m16n8k16 of 16-bit
// types. With Mma::tf32x3 a chain is only that of the additions, but each operand is taken apart
// first: of a lane's 8 elements of the matrix and 4 of the vector two integer instructions of two cycles, one
// more for what is left, and a subtraction.
struct TileCost {
  double issue = 8, chain = 33;
  double in_flight = 0;  // of the first
};
TileCost tile_cost(const Problem& problem) {
  if (problem.storage != kernel::Storage::F32) return {};
  if (problem.math == kernel::Math::Tf32) return {2 * 8, 2 * 33};
  constexpr double kSplit = 3 * 2 + 1;
  return {std::max(6 * 8.0, 12 * kSplit), 8, 6 * 33};
}

// A persistent problem priced for one GPU.
struct Model {
  step::Sizes sizes;
  kernel::Storage storage;
  TileCost tile;
  target::Limits limits;
  target::Speeds speeds;
  SweepShape shape;
  StepCost step;
  std::int64_t bytes = 0;  // of all staged and written tensors
  double before = 0;       // seconds of launches before the sweep

  Estimate operator()(const Parameters& parameters) const;
  double exchange(const PersistentGeometry& g) const;
  double reduce_scatter(const PersistentGeometry& g) const;
  double multiply(const PersistentGeometry& g) const;
};

// Cycles of one exchange of vectors.
double Model::exchange(const PersistentGeometry& g) const {
  const double load = 60;  // latency of ldmatrix after the barrier
  if (g.reduces()) return reduce_scatter(g) + load;
  // Each group of products has a vector of its own.
  const double vectors = static_cast<double>(shape.products.size()) / shape.levels;
  const double bytes_in = vectors * static_cast<double>(g.padded) * g.batch * g.element_bytes;
  // Through the L2: a store's way there and a load's way back and forth, and 16 bytes a thread and load.
  if (g.in_grid()) return 0.65e-6 * speeds.clock_hz + bytes_in / 48 + load;
  if (g.p.blocks == 1) return speeds.barrier_s * speeds.clock_hz + load;
  return target::cluster_exchange_cycles(g.p.blocks, bytes_in) + load;
}

// Cycles of one exchange of sums: the vectors' barrier, each block's parts on their way, the additions.
double Model::reduce_scatter(const PersistentGeometry& g) const {
  const double barrier = speeds.barrier_s * speeds.clock_hz;
  const double sums = static_cast<double>(shape.terms.size()) / shape.levels;
  const double parts =  // bytes a block sends
      sums * static_cast<double>(g.padded) * g.batch * g.element_bytes / g.p.cluster_k_split;
  if (!g.in_grid())
    return barrier + target::cluster_exchange_cycles(g.p.blocks, parts) + 30 + 6.0 * g.p.blocks;
  // They are written, read and cleared in the L2, by all blocks of the launch.
  const double together = parts * g.p.blocks * g.p.batch_tiles_in_flight * static_cast<double>(sizes.heads);
  const double vectors =
      static_cast<double>(g.columns()) * shape.product_count / shape.levels * g.batch * g.element_bytes;
  const double shared =
      g.p.cluster_k_split == 1 ? barrier : target::cluster_exchange_cycles(g.p.cluster_k_split, vectors);
  return shared + barrier + (0.65e-6 + 3 * together / 3e12) * speeds.clock_hz + 150;
}

// Cycles of the products of a step: a sub-core starts an mma every 8 cycles; a chain of dependent ones takes
// 25 each; fragments from shared memory come at 128 bytes a cycle.
double Model::multiply(const PersistentGeometry& g) const {
  const double per_core = std::ceil(g.matrix_warps() / 4.0);
  double issue = 0, chain = tile.in_flight, shared = 0;
  const auto add = [&](double tiles, int k_tiles, double vector_tiles) {
    issue += tiles * k_tiles * g.p.batch_tiles * tile.issue * per_core;
    chain += std::ceil(static_cast<double>(k_tiles) / g.p.accumulators) * tile.chain;
    shared += tiles * std::max(0, k_tiles - g.p.register_k_tiles) * 256.0 * g.element_bytes * g.warps *
              g.p.split_k / 128;
    shared += vector_tiles * g.p.batch_tiles * 128.0 * g.element_bytes * g.warps / 128;
  };
  if (g.reduces())
    for (const int terms : shape.terms) {
      const int k_tiles = terms * g.columns() / 16;
      add(g.sum_tiles(), k_tiles, static_cast<double>(k_tiles) * g.p.split_k);
    }
  else
    for (const int products : shape.products) add(g.row_tiles(products), g.k_tiles_of_warp(), g.k_tiles);
  const double sum = issue + chain + shared;
  const double top = std::max({issue, chain, shared});
  return top + 0.3 * (sum - top) + (g.p.split_k > 1 && !g.reduces() ? 110 : 0);
}

Estimate Model::operator()(const Parameters& parameters) const {
  const PersistentGeometry g(sizes.dim, storage, PersistentParameters::from(parameters));
  const double time = static_cast<double>(sizes.time);
  const double blocks =
      static_cast<double>(g.p.blocks * sizes.heads) * std::ceil(static_cast<double>(sizes.batch) / g.batch);
  const double teams = g.in_grid() ? static_cast<double>(g.p.batch_tiles_in_flight * sizes.heads)
                                   : target::clusters_at_once(limits, g.p.blocks, 1);
  const double waves = std::ceil(blocks / g.p.blocks / teams);
  const double per_core = std::ceil(g.warps / 4.0);
  // A thread's channels come one after the other: their special functions, 6 cycles each, lie on its path.
  const double point =
      step.chain + 6.0 * (g.channels() - 2) * step.special +
      g.channels() * per_core * (step.alu + 4.0 * step.special + 2.0 * (shape.rows_in + shape.rows_out));
  // Staging and storing warps move a vector in some cycles each; they must keep up with the step.
  const double vectors = static_cast<double>(g.batch) * g.units / g.p.vector / 32;
  const double staging = shape.rows_in * vectors * 24 / g.p.producer_warps;
  const double storing = shape.rows_out * std::ceil(g.units / 32.0) * g.p.batch_tiles * 60 / g.p.store_warps;
  const double stage = 120.0 / g.p.steps;  // waits for the rings, once a stage
  const double critical = shape.levels * exchange(g) + multiply(g) + point + stage;
  const double cycles = std::max({critical, staging, storing}) + 0.05 * (staging + storing);
  Estimate e;
  e.chain = waves * time * cycles / speeds.clock_hz;
  e.memory = static_cast<double>(bytes) / speeds.copy_bytes_per_s;
  e.launch = speeds.launch_s + 20e-6 + before;  // the matrices' way in
  e.seconds = std::max(e.chain, e.memory) + e.launch;
  return e;
}

}  // namespace

CostModel Persistent::cost_model(const step::Cell& cell, const Problem& problem,
                                 const target::Profile& profile) const {
  const step::Cell simple = step::simplify(cell);
  const SweepShape shape = sweep_shape(simple, problem);
  const StepGraph graph = sweep_graph(simple, problem);
  const ProductsAgain again = products_again(simple, problem, profile);
  return Model{problem.sizes,
               problem.storage,
               tile_cost(problem),
               profile.limits,
               profile.speeds,
               shape,
               step_cost(simple, problem, graph.graph, graph.roots),
               compulsory_bytes(simple, problem) + again.bytes,
               again.seconds};
}

}  // namespace rondo::schedule
