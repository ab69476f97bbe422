// The persistent strategy's cost model.
#include <algorithm>
#include <cmath>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/backward/time_head_values.h"
#include "compiler/schedule/persistent/board_factors.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/persistent/reductions.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

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
TileCost tile_cost(const Problem& problem, const target::Target& target, bool max_plus) {
  // Two instructions of a lane for each of its 64 terms, the second at half the rate, and their operands: by
  // their counts, not measured.
  if (max_plus) return {64 * 3.0 + 40, 0};
  if (target.before_ampere())
    return {2 * 8, 2 * 20};  // two of depth 8, at half the rate: a guess, not measured
  if (problem.storage != kernel::Storage::F32) return {};
  if (problem.math == kernel::Math::Tf32) return {2 * 8, 2 * 33};
  constexpr double kSplit = 3 * 2 + 1;
  return {std::max(6 * 8.0, 12 * kSplit), 8, 6 * 33};
}

// The same of a column that has chosen channels: a comparison and an addition for each of a lane's sums, and
// what its loads take: by their counts, not measured.
double scatter_cycles(const PersistentGeometry& g) {
  return g.p.batch_tiles * (3.0 * 4 * g.sum_tiles() + 10);
}

// What counting a step's instructions does not tell, in cycles; the way through the L2, there with a store
// and back and forth with a load, in seconds (sums and lines have figures of their own below). Fitted to the
// trials of LSTM, GRU and sLSTM, 1 x 512 to 12 x 64, all passes, on an H200; how well the model ranks with
// them is in h200-model.json.
constexpr double kGridWay = 0.55e-6;
// Of it, what the turns of other tiles hide: the store's way. A warp that looks for words waits for the load
// all the same, in each turn. LSTM and GRU of 512 to 1024 channels, two and four tiles, on an H200
// (docs/strategies/persistent-turns.md).
constexpr double kHiddenWay = 0.25e-6;
constexpr double kOneBlock = 70;                 // beside the barrier: writing and reading the vectors
constexpr double kJoining = 45;                  // of two accumulators
constexpr double kHanding = 125, kPartial = 17;  // sums of other warps: their barriers, and of each tile
// Where warps gather fragments: looks of single warps and the meeting for their sums; these sums' way through
// shared memory, of each warp, unit block and product; what a second unit block of a computing warp, each
// block of a team after the 48th, and fewer warps than two a sub-core take; and the time of a product beside
// TileCost's, for enough of them are under way. Fitted to 748 trials of LSTM, GRU, sLSTM and Elman of 512 to
// 1024 channels, forward, on an H200.
constexpr double kGathering = 310, kGatheredSum = 1.5, kGatheredUnits = 165, kGatheredBlock = 4.3,
                 kFewWarps = 100;
constexpr int kGatheringBlocks = 48;
// Of products of inputs, what shows: they are made while words are on their way. And what a delay costs then.
// LSTM and GRU of 256 to 1024 channels with their inputs' products, forward, on an H200.
constexpr double kInputProduct = 0.3, kLateLook = 0.8;
constexpr double kGatheredProduct = 0.8;
constexpr double kBatchTile = 200;  // of each batch tile after the first
constexpr double kStage = 260;      // waits for the rings, once a stage
constexpr double kOtherWarp = 4;    // of the scheduler's time, for each that stages or stores
// Of a storing warp, for 32 channels of 8 rows: to store them, and to add them up over rows of the batch
// first. The latter is what a step of M2RNN with 16 rows takes, forward, by one and two such warps, on an
// H200 (benchmarks/results/h200-rows-of-the-batch.txt).
constexpr double kStored = 60, kAdded = 330;
constexpr double kFewRegisters = 30;  // forward, of computing warps that are given no more than others
constexpr double kOverlap = 240;  // that the parts of a step hide of each other; half of them shows at least

// Seconds until the first step begins: of a block's first loads, of the matrices that go into registers,
// whose loads are all under way at once, and of a k-tile for shared memory, which is loaded when the one
// before has come. Measured on an H200: tests/schedule/persistent/model_test.cpp.
constexpr double kFirstLoads = 3e-6, kMatrixBytesPerS = 35e9, kTileLoads = 0.67e-6;

// What a step takes, in cycles.
struct StepCycles {
  double exchange = 0, products = 0, reductions = 0, functions = 0, rings = 0;  // one after the other
  double chain_of_functions = 0;    // of `functions`: of a thread's first channel
  double staging = 0, storing = 0;  // by other warps, meanwhile
  double beside = 0;                // what other warps take from all
  int tiles_in_turn = 1;
  double hidden = 0;  // of a tile's way through the L2, by the turns of others

  double parts() const { return exchange + products + reductions + functions + rings; }
  double overlapping() const { return std::max(parts() - kOverlap, 0.5 * parts()); }
  // Of the parts, what the next step waits for; of what they hide of each other it has the same share. An
  // LSTM of 12 heads of 64 channels has a chain of 129 ns so, and one of 127 of the floors measured on an
  // H200.
  double share_of_chain() const {
    return parts() > 0 ? (exchange + products + reductions + chain_of_functions) / parts() : 0;
  }
  // A tile's way through the L2 is partly hidden by the turns of the others, or theirs by it. What overlaps
  // within a step does so then.
  double critical() const {
    return tiles_in_turn > 1 ? std::max(overlapping(), tiles_in_turn * (parts() - hidden)) : overlapping();
  }
  double total() const { return std::max({critical(), staging, storing}) + beside; }
};

// A persistent problem priced for one GPU.
struct Model {
  step::Sizes sizes;
  kernel::Storage storage;
  TileCost tile;
  target::Limits limits;
  target::Speeds speeds;
  BoardFactors board;
  SweepShape shape;
  StepCost step;
  std::int64_t bytes = 0;  // of all staged and written tensors
  double before = 0;       // seconds of launches before the sweep

  Estimate operator()(const Parameters& parameters) const;
  std::vector<EstimatePart> parts(const PersistentGeometry& g) const;
  StepCycles step_cycles(const PersistentGeometry& g) const;
  double exchange(const PersistentGeometry& g) const;
  double waited(const PersistentGeometry& g) const;
  double reduce_scatter(const PersistentGeometry& g) const;
  double multiply(const PersistentGeometry& g) const;
  double gather(const PersistentGeometry& g) const;
  double reduce(const PersistentGeometry& g) const;
  double starting(const PersistentGeometry& g, double waves) const;
};

// What waiting before the first look for words gains: a look that is too early comes back without them after
// some 600 cycles, and only then is there a second. With 768 channels and B = 16 on an H200 a delay of 300
// cycles made a step of LSTM, GRU and sLSTM, backward, 0.09 to 0.1 us faster, and one of 200 cycles each
// exchange of lines of rmslstm and lnlstm, forward, 0.035 us.
struct Looks {
  double share;  // of the delay that is gained
  double most;   // cycles; what is longer loses as much again
};
constexpr Looks kLooksForSums{0.6, 300}, kLooksForLines{0.3, 200}, kLooksForFragments{0.5, 200};

double gained(int delay, const Looks& looks) {
  return looks.share * (std::min<double>(delay, looks.most) - std::max(0.0, delay - looks.most));
}

// Products of inputs are made before the first look, and take that time.
double Model::waited(const PersistentGeometry& g) const {
  const std::vector<bool> reads = read_inputs(shape, g);
  const bool any = std::ranges::find(reads, true) != reads.end();
  return any ? -kLateLook * g.p.poll_delay : gained(g.p.poll_delay, kLooksForFragments);
}

// Cycles of one exchange of vectors.
double Model::exchange(const PersistentGeometry& g) const {
  const double load = 60;  // latency of ldmatrix after the barrier
  if (g.reduces()) return reduce_scatter(g) + load;
  // Each group of products has a vector of its own.
  const double vectors = static_cast<double>(groups_sent(shape, g)) / shape.levels;
  const double bytes_in = vectors * static_cast<double>(g.padded) * g.turn_batch * g.element_bytes;
  // Through the L2 come 16 bytes a thread and load.
  if (g.in_grid())
    return board.grid * kGridWay * speeds.clock_hz + bytes_in / 48 +
           (g.p.gather_fragments ? -waited(g) : load);
  if (g.p.blocks == 1) return speeds.barrier_s * speeds.clock_hz + load + kOneBlock;
  return target::cluster_exchange_cycles(g.p.blocks, bytes_in) + load;
}

// Cycles of one exchange of sums: the vectors' barrier, each block's parts on their way, the additions.
double Model::reduce_scatter(const PersistentGeometry& g) const {
  const double barrier = speeds.barrier_s * speeds.clock_hz;
  const double sums = static_cast<double>(shape.terms.size()) / shape.levels;
  const double parts =  // bytes a block sends
      sums * static_cast<double>(g.padded) * g.turn_batch * g.element_bytes / g.p.cluster_k_split;
  if (g.p.blocks == 1) return 2 * barrier + kOneBlock + 30;
  if (!g.in_grid())
    return barrier + target::cluster_exchange_cycles(g.p.blocks, parts) + 30 + 6.0 * g.p.blocks;
  // They are written, read and cleared in the L2, by all blocks of the launch.
  const double together = parts * g.p.blocks * g.p.batch_tiles_in_flight * static_cast<double>(sizes.heads);
  const double vectors =
      static_cast<double>(g.columns()) * shape.product_count / shape.levels * g.turn_batch * g.element_bytes;
  const double shared =
      g.p.cluster_k_split == 1 ? barrier : target::cluster_exchange_cycles(g.p.cluster_k_split, vectors);
  return shared + barrier + (board.grid * 0.65e-6 + 3 * together / 3e12) * speeds.clock_hz + 150 -
         gained(g.p.poll_delay, kLooksForSums);
}

// Seconds of lines through the L2. Of 768 channels, B = 16, on an H200 a step of rmslstm takes 0.9 us more
// than one of LSTM with it, and one of lnlstm, with two such exchanges, 1.85 us more.
constexpr double kLinesWay = 0.5e-6;

// Cycles of the reductions of a step: a chain of shuffles and additions in the warp, the lines' way, and the
// additions of lines, by each thread or by lanes in turn. Lanes shuffle again, and once more to give both
// rows back: tuned, a layer-normalised LSTM of 12 x 64 took 0.823 ms with eight lines on an H200, and 0.778
// ms, in an earlier run, with four, whose warps have twice as many channels.
double Model::reduce(const PersistentGeometry& g) const {
  const double in_warp = 110, in_lanes = 150, additions = 60;
  const double barrier = speeds.barrier_s * speeds.clock_hz + 60;
  const bool by_block = ReductionExchange::by_block(g);
  const int lines = ReductionExchange::team_lines(g);
  const bool of_thread = lines <= ReductionExchange::kMostOfThread && !g.in_grid();
  double cycles = 0;
  for (const int words : shape.reductions) {
    const double line_bytes = 32.0 * words * lines * g.p.batch_tiles;
    double way = barrier;
    if (g.in_grid())
      way =
          board.grid * kLinesWay * speeds.clock_hz + line_bytes / 48 - gained(g.p.poll_delay, kLooksForLines);
    if (g.in_cluster()) way = target::cluster_exchange_cycles(g.p.blocks, line_bytes) + 30;
    if (by_block) way += barrier + additions;
    const double loads = of_thread ? 2 * lines : std::ceil(lines / 4.0);  // of one row
    cycles += in_warp + way + additions + (of_thread ? 0 : in_lanes) + loads * g.p.batch_tiles * words * 2 +
              8.0 * words * (g.channels() - 2);
  }
  return cycles;
}

// Cycles beside the products, where warps gather their fragments and hand each other sums.
double Model::gather(const PersistentGeometry& g) const {
  const double of_group = kGathering + kGatheredUnits * (g.p.unit_blocks - 1) +
                          kGatheredBlock * std::max(0, g.p.blocks - kGatheringBlocks) +
                          (g.matrix_warps() < 8 ? kFewWarps : 0);
  // Groups whose sums join meet once, but no trial says what that gains: backward, a GRU of 768 channels took
  // 6% longer so than by reduce-scatter (H200).
  const std::vector<bool> reads = read_inputs(shape, g);
  double cycles = 0;
  for (std::size_t group = 0; group < shape.products.size(); ++group)
    if (!reads[group])
      cycles += of_group + kGatheredSum * g.matrix_warps() * g.multiplied_unit_blocks() *
                               shape.products[group] * g.p.batch_tiles;
  return cycles;
}

// Cycles of the products of a step: a sub-core starts an mma every 8 cycles; a chain of dependent ones takes
// 25 each; fragments from shared memory come at 128 bytes a cycle.
double Model::multiply(const PersistentGeometry& g) const {
  const double per_core = std::ceil(g.matrix_warps() / 4.0);
  double issue = 0, chain = tile.in_flight * board.products, shared = 0;
  const std::vector<bool> reads = read_inputs(shape, g);
  const auto add = [&](double tiles, int k_tiles, double vector_tiles, double share = 1) {
    issue += share * tiles * k_tiles * g.p.batch_tiles * tile.issue * per_core;
    chain += std::ceil(static_cast<double>(k_tiles) / g.p.accumulators) * tile.chain * board.products;
    shared += share * tiles * std::max(0, k_tiles - g.p.register_k_tiles) * 256.0 * g.element_bytes *
              g.warps * g.p.split_k / 128;
    shared += vector_tiles * g.p.batch_tiles * 128.0 * g.element_bytes * g.warps / 128;
  };
  if (g.reduces())
    for (std::size_t of = 0; of < shape.terms.size(); ++of) {
      const int k_tiles = (shape.terms[of] - shape.scatters[of]) * g.columns() / 16;
      if (k_tiles > 0) add(g.sum_tiles(), k_tiles, static_cast<double>(k_tiles) * g.p.split_k);
      issue += shape.scatters[of] * g.columns() * scatter_cycles(g) * per_core;
    }
  else
    for (std::size_t group = 0; group < shape.products.size(); ++group)
      add(group_tiles(shape, g, group), g.k_tiles_of_warp(), g.p.gather_fragments ? 0 : g.k_tiles,
          reads[group] ? kInputProduct : 1);
  if (g.p.gather_fragments) return kGatheredProduct * issue + 0.4 * shared + gather(g);
  const double sum = issue + chain + shared;
  const double top = std::max({issue, chain, shared});
  double handed = 0;
  if (g.p.split_k > 1 && !g.reduces())
    for (const int products : shape.products)
      handed += kHanding + kPartial * (g.p.split_k - 1) * g.row_tiles(products) * g.p.batch_tiles;
  return top + 0.3 * (sum - top) + handed + (g.p.accumulators > 1 ? kJoining : 0) +
         kBatchTile * (g.p.batch_tiles - 1);
}

// Seconds beside the steps. Each wave of teams reads the matrices anew. In a grid each wave is a launch, and
// one launch more, before the first, clears the exchange.
double Model::starting(const PersistentGeometry& g, double waves) const {
  double bytes_in_registers = 0, k_tiles_outside = 0;
  const auto add = [&](double tiles, int k_tiles) {
    const int inside = std::min(k_tiles, g.p.register_k_tiles);
    bytes_in_registers += tiles * inside * 256.0 * g.element_bytes * g.matrix_warps();
    k_tiles_outside += k_tiles - inside;
  };
  if (g.reduces())
    for (std::size_t of = 0; of < shape.terms.size(); ++of)
      add(g.sum_tiles(), (shape.terms[of] - shape.scatters[of]) * g.columns() / 16);
  else
    for (std::size_t group = 0; group < shape.products.size(); ++group)
      add(group_tiles(shape, g, group), g.k_tiles_of_warp());
  const double matrices = bytes_in_registers / kMatrixBytesPerS + k_tiles_outside * kTileLoads;
  const double launches = (g.in_grid() ? 1 + waves : 1) + (shape.shares > 0 && g.p.blocks > 1 ? 1 : 0);
  return launches * speeds.launch_s + waves * (kFirstLoads + matrices);
}

StepCycles Model::step_cycles(const PersistentGeometry& g) const {
  const double per_core = std::ceil(g.warps / 4.0);
  StepCycles c;
  c.exchange = shape.levels * exchange(g);
  c.products = multiply(g);
  c.reductions = reduce(g);
  // A thread's channels come one after the other: their special functions, 6 cycles each, lie on its path.
  c.functions =
      step.chain + 6.0 * (g.channels() - 2) * step.special +
      g.channels() * per_core * (step.alu + 4.0 * step.special + 2.0 * (shape.rows_in + shape.rows_out));
  c.chain_of_functions = step.chain;
  c.rings = kStage / g.p.steps;
  // Staging and storing warps move a vector in some cycles each; they must keep up with the step.
  const double vectors = static_cast<double>(g.batch) * g.units / g.p.vector / 32;
  // Per-head values of 16 bits come through registers: a turn of the staging warps waits for memory.
  const auto turns = [&](int rows) {
    return std::ceil(rows * g.batch * g.p.steps / (32.0 * g.p.producer_warps)) / g.p.steps;
  };
  const double of_head_values =
      turns(shape.head_values_in) * (g.element_bytes < 4 ? 0.6e-6 * speeds.clock_hz : 24) +
      turns(shape.head_values_before) * 24;
  c.staging = shape.rows_in * vectors * 24 / g.p.producer_warps + of_head_values;
  c.storing = ((shape.rows_out - shape.summed_out) * kStored + shape.summed_out * kAdded) *
              std::ceil(g.units / 32.0) * (g.batch / 8) / g.p.store_warps;
  c.beside = 0.05 * (c.staging + c.storing) + kOtherWarp * (g.p.producer_warps + g.p.store_warps) +
             (!g.p.setmaxnreg && !g.reduces() ? kFewRegisters : 0);
  c.tiles_in_turn = g.p.tiles_in_turn;
  c.hidden = board.grid * kHiddenWay * speeds.clock_hz;
  return c;
}

Estimate Model::operator()(const Parameters& parameters) const {
  const PersistentGeometry g(sizes.dim, storage, read_parameters<PersistentParameters>(parameters));
  const double waves = schedule::waves(g, sizes, limits);
  Estimate e;
  e.chain = waves * static_cast<double>(sizes.time) * step_cycles(g).total() / speeds.clock_hz;
  e.memory = static_cast<double>(bytes) / speeds.copy_bytes_per_s;
  e.launch = starting(g, waves) + before;
  e.seconds = std::max(e.chain, e.memory) + e.launch;
  return e;
}

std::vector<EstimatePart> Model::parts(const PersistentGeometry& g) const {
  using Of = EstimatePart::Of;
  const double waves = schedule::waves(g, sizes, limits);
  const double of_cycles = waves * static_cast<double>(sizes.time) / speeds.clock_hz;
  const StepCycles c = step_cycles(g);
  const double hidden = of_cycles * (c.overlapping() - c.parts());
  std::vector<EstimatePart> parts = {
      {Of::Chain, "exchange", of_cycles * c.exchange},
      {Of::Chain, "products", of_cycles * c.products},
      {Of::Chain, "reductions", of_cycles * c.reductions},
      {Of::Chain, "functions", of_cycles * c.chain_of_functions},
      {Of::Work, "functions of a thread's other channels", of_cycles * (c.functions - c.chain_of_functions)},
      {Of::Work, "rings", of_cycles * c.rings},
      {Of::Chain, "hidden behind each other", hidden * c.share_of_chain()},
      {Of::Work, "hidden beside the chain", hidden * (1 - c.share_of_chain())},
      {Of::Work, "turns of other tiles", of_cycles * (c.critical() - c.overlapping())},
      {Of::Work, "other warps", of_cycles * c.beside},
      {Of::Work, "staging of inputs", of_cycles * c.staging},
      {Of::Work, "storing of results", of_cycles * c.storing},
      {Of::Work, "memory", static_cast<double>(bytes) / speeds.copy_bytes_per_s},
      {Of::Launches, "launches and first loads", starting(g, waves)},
      {Of::Launches, "products of all steps before the sweep", before}};
  std::erase_if(parts, [](const EstimatePart& part) { return part.seconds == 0; });
  return parts;
}

Model model_of(const Task& task) {
  const SweepShape shape = sweep_shape(task);
  const SpreadSweep sweep = spread_sweep(task);
  const step::StepGraph& graph = sweep.step;
  const BeforeSweep before = before_sweep(task);
  return Model{task.problem.sizes,
               task.problem.storage,
               tile_cost(task.problem, task.profile.target, shape.max_plus),
               task.profile.limits,
               task.profile.speeds,
               board_factors(task.profile.floors, task.profile.speeds.clock_hz, task.problem.storage),
               shape,
               step_cost(task, graph.graph, graph.roots),
               compulsory_bytes(task) + before.bytes,
               before.seconds + seconds_of_head_values(task, sweep, task.profile.speeds)};
}

}  // namespace

CostModel Persistent::cost_model(const Task& task) const { return model_of(task); }

std::vector<EstimatePart> Persistent::parts(const Task& task, const Parameters& parameters) const {
  return model_of(task).parts(
      {task.problem.sizes.dim, task.problem.storage, read_parameters<PersistentParameters>(parameters)});
}

}  // namespace rondo::schedule
