// The alternating strategy's tuning space and cost model.
#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/schedule/alternating/product.h"
#include "compiler/schedule/alternating/strategy.h"
#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/backward/time_head_values.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/stepwise/body.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kRegistersBeside = 56;  // addresses, loop state, temporaries of the step
constexpr int kRegistersAtUse = 64;   // of values that are read where they are used, as many as there are
constexpr std::int64_t kSharedBeside = 1024;  // of a block: what the system keeps, alignment
constexpr int kMostTurns = 4;                 // channels a thread

// What decides which points a launch of the step can run at.
struct StageShape {
  std::vector<ProductGroup> groups;
  std::vector<std::size_t> same;  // with_same_matrices()
  int reads = 0;                  // values a channel reads ahead
  int rows() const {
    int sum = 0;
    for (const ProductGroup& group : groups) sum += static_cast<int>(group.products.size());
    return sum;
  }
  // Of chosen channels, fp32, beside the pieces of a batch tile's vectors.
  int chosen_pieces(kernel::Storage storage) const {
    int products = 0;
    for (const ProductGroup& group : groups)
      if (group.kind == ProductKind::Scatter) products += static_cast<int>(group.products.size());
    return products * kernel::storage_bytes(kernel::Storage::F32) / kernel::storage_bytes(storage);
  }
};

// Of a lane for each term of a product.
int operations(ProductKind kind) {
  return kind == ProductKind::Sum ? 1 : kind == ProductKind::Scatter ? 3 : 2;
}

int reads_of(const step::Cell& cell, const StepStage& stage) {
  int reads = 0;
  for (const step::NodeId id : reachable(stage.graph, stage.demand)) {
    const step::NodeKind kind = stage.graph.at(id).kind;
    reads += kind == step::NodeKind::Leaf || kind == step::NodeKind::Gradient ||
             step::is_product(stage.graph.at(id));
  }
  return reads + static_cast<int>(cell.next.size());
}

struct SweepShapes {
  std::vector<StageShape> launches;  // of a step
  StepCost cost;
  int levels() const { return static_cast<int>(launches.size()); }
};

Sweep sweep_of(const Task& task) {
  if (task.problem.pass != Pass::Backward) return forward_sweep(task);
  const BackwardSplit split = backward_split(task);
  return backward_sweep(task, split, spread_sweep(task, split, Steps::OfLaunches));
}

SweepShapes shapes_of(const Task& task) {
  const Sweep sweep = sweep_of(task);
  const StepStages stages = step_stages(task.cell, sweep.step.graph, sweep.step.roots);
  SweepShapes shapes;
  const std::size_t count = stages.stages.size();
  for (std::size_t s = std::min<std::size_t>(1, count - 1); s < count; ++s) {
    StageShape shape;
    for (const std::size_t group : stages.stages[s].groups) shape.groups.push_back(stages.groups[group]);
    shape.same = with_same_matrices(shape.groups);
    shape.reads = reads_of(task.cell, stages.stages[s]);
    if (s + 1 == count && s > 0) shape.reads += reads_of(task.cell, stages.stages.front());
    shapes.launches.push_back(std::move(shape));
  }
  shapes.cost = step_cost(task, sweep.step.graph, sweep.step.roots);
  return shapes;
}

// Whether the values of one channel are more than registers hold beside the products.
bool reads_at_use(const SweepShapes& shapes, const target::Limits& limits) {
  return std::ranges::any_of(shapes.launches, [&](const StageShape& shape) {
    int products = 2 + 2 * static_cast<int>(shape.groups.size());  // of the smallest tile
    for (const ProductGroup& group : shape.groups)
      products += 4 * ceil_div(static_cast<int>(group.products.size()) * 8, 16);
    return std::max(products, shape.rows()) + shape.reads + 6 + kRegistersBeside >
           limits.registers_per_thread;
  });
}

std::int64_t widest_vector(const Problem& problem) {
  std::int64_t widest = 16 / kernel::storage_bytes(problem.storage);
  while (problem.sizes.dim % widest != 0) widest /= 2;
  return widest;
}

// What a launch of the step needs of a block.
void require_resources(constraint::System& s, const StageShape& shape, std::size_t launch,
                       const Problem& problem, const target::Limits& limits, const constraint::Var& units,
                       const constraint::Var& batch_tiles, const constraint::Var& warps,
                       const constraint::Var& stages, bool reads_at_use) {
  using namespace constraint;
  const std::string number = "_" + std::to_string(launch + 1);
  const auto groups = static_cast<int>(shape.groups.size());
  bool plain = false;
  Expr row_tiles = Expr(0), matrix_tiles = Expr(0);
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    const ProductGroup& group = shape.groups[g];
    const Expr tiles = ceil_div(static_cast<int>(group.products.size()) * units, 16);
    row_tiles = row_tiles + tiles;
    if (group.kind != ProductKind::Scatter && shape.same[g] == g) matrix_tiles = matrix_tiles + tiles;
    plain = plain || is_plain(problem, group);
  }
  const Expr pieces = 2 * matrix_tiles + (groups + shape.chosen_pieces(problem.storage)) * batch_tiles;
  const Expr ring = stages * warps * pieces * AlternatingGeometry::kPieceBytes;
  const Expr partial = warps * (8 * batch_tiles) * (16 * row_tiles + 4) * 4;
  const Expr shared = s.define("shared_bytes" + number, when(row_tiles == 0, 0, ring + partial),
                               "bytes of shared memory a block");
  s.require(shared <= limits.shared_per_block, "shared memory");
  // A plain lane has 16 bytes of two batch rows a tile as fp32, and chosen channels beside them.
  const int reals = 2 * (16 / kernel::storage_bytes(problem.storage));
  const int values = !plain ? 4 : shape.chosen_pieces(problem.storage) > 0 ? 2 * reals : reals;
  const Expr turns = ceil_div(units * 8 * batch_tiles, 32 * warps);
  const Expr of_products = 4 * row_tiles * batch_tiles + values * batch_tiles + 2 * batch_tiles + 2 * groups;
  const Expr registers =
      s.define("registers" + number,
               (reads_at_use ? max(of_products, Expr(kRegistersAtUse))
                             : max(of_products, Expr(shape.rows())) + turns * (shape.reads + 6)) +
                   kRegistersBeside,
               "registers a thread");
  s.require(registers <= limits.registers_per_thread, "registers a thread");
  s.require(registers * (32 * warps) <= limits.registers_per_sm, "registers of an SM");
}

}  // namespace

constraint::System Alternating::space(const Task& task) const {
  using namespace constraint;
  const SweepShapes shapes = shapes_of(task);
  const std::int64_t dim = task.problem.sizes.dim;
  System s;
  using P = AlternatingParameters;
  const Var units = variable<P, &P::units>(s);
  const int tiles = static_cast<int>(std::bit_ceil(
      static_cast<std::uint64_t>(std::min<std::int64_t>(8, (task.problem.sizes.batch + 7) / 8))));
  const Var batch_tiles = variable<P, &P::batch_tiles>(s, powers_of_two(1, tiles));
  const Var warps = variable<P, &P::warps>(s);
  const Var stages = variable<P, &P::stages>(s);
  s.require(units < 2 * dim || units == 8, "channels the head has");
  const std::int64_t chunk = 64 / kernel::storage_bytes(task.problem.storage);
  s.require(warps * chunk < 2 * dim || warps == 2, "columns for every warp");
  s.require(32 * warps <= task.profile.limits.threads_per_block, "threads a block");
  s.require(ceil_div(units * 8 * batch_tiles, 32 * warps) <= kMostTurns, "channels a thread");
  const bool at_use = reads_at_use(shapes, task.profile.limits);
  if (at_use) variable<P, &P::reads_at_use>(s, values({1}));
  for (std::size_t launch = 0; launch < shapes.launches.size(); ++launch)
    require_resources(s, shapes.launches[launch], launch, task.problem, task.profile.limits, units,
                      batch_tiles, warps, stages, at_use);
  if (task.problem.pass == Pass::Backward) {
    const std::int64_t widest = widest_vector(task.problem);
    const Var vector = variable<P, &P::vector>(s, powers_of_two(1, widest));
    s.require(implies(vector < widest, stages == 3), "narrow copies");
  }
  return s;
}

namespace {

// A problem priced for one GPU.
struct Model {
  const Problem problem;
  target::Limits limits;
  target::Speeds speeds;
  SweepShapes shapes;
  std::int64_t bytes = 0;  // of all tensors with a time axis
  double before = 0;       // seconds of launches before the sweep
  double mma_cycles = 8;   // of a sub-core

  Estimate operator()(const Parameters& parameters) const;
  double launch_seconds(const StageShape& shape, const AlternatingGeometry& g) const;
};

// A launch of the step: a wave's blocks pull matrices and vectors from L2, or from memory what it cannot
// hold.
double Model::launch_seconds(const StageShape& shape, const AlternatingGeometry& g) const {
  const bool in_launch_before = g.tiles == 1 && shape.groups.empty();
  int row_tiles = 0, matrix_pieces = 0, mma_tiles = 0, lane_tiles = 0;
  for (std::size_t number = 0; number < shape.groups.size(); ++number) {
    const ProductGroup& group = shape.groups[number];
    row_tiles += g.row_tiles(group);
    if (shape.same[number] == number) matrix_pieces += g.matrix_pieces(group);
    (is_plain(problem, group) ? lane_tiles : mma_tiles) += g.row_tiles(group) * operations(group.kind);
  }
  const int pieces =
      matrix_pieces +
      (static_cast<int>(shape.groups.size()) + shape.chosen_pieces(problem.storage)) * g.p.batch_tiles;
  const double piece = AlternatingGeometry::kPieceBytes;
  const double of_block = piece * pieces * g.chunks;
  const double rows = std::ceil(static_cast<double>(problem.sizes.batch) / g.batch);
  const double teams = static_cast<double>(problem.sizes.heads) * g.tiles;
  const double matrices = piece * matrix_pieces * g.chunks * teams;
  // Blocks that share an SM, as its shared memory and its threads allow.
  const auto shared = static_cast<double>(AlternatingProduct::ring_bytes(g, pieces) +
                                          AlternatingProduct::partial_bytes(g, row_tiles) + kSharedBeside);
  const double together =
      std::max(1.0, std::min({std::floor(limits.shared_per_sm / shared),
                              std::floor(static_cast<double>(limits.threads_per_sm) / g.threads()),
                              std::floor(512.0 / g.threads())}));
  const double per_sm = std::ceil(teams * rows / limits.sm_count);
  // Little's law on the bytes in flight. An L2 that all SMs read at once answers late, one that has just
  // begun to be read about as fast as memory that is not loaded.
  const double latency = 0.8 * speeds.memory_latency_s, loaded = 1.3 * speeds.memory_latency_s;
  const double flying = std::min(per_sm, together) * g.p.warps * (g.p.stages - 1) * piece * pieces;
  const double of_sm = std::min(1.2 * speeds.sm_bytes_per_s, flying / loaded);
  const bool in_l2 = matrices < 0.75 * static_cast<double>(limits.l2_bytes);
  // A stage that begins with what was reduced over the head alone has no products.
  double stream =
      pieces == 0 ? 0 : std::max(per_sm * of_block / of_sm, teams * rows * of_block / speeds.l2_bytes_per_s);
  if (!in_l2) stream = std::max(stream, matrices / speeds.copy_bytes_per_s);
  // Products: mma, or what lanes do.
  const double on_lanes = static_cast<double>(lane_tiles) * g.p.batch_tiles * g.chunks,
               on_cores = static_cast<double>(mma_tiles) * g.p.batch_tiles * g.chunks;
  const double cycles = on_lanes * 16 * 8 * g.chunk / speeds.alu_per_cycle_sm * 1.3 +
                        on_cores * 2 * mma_cycles / std::min(4, g.p.warps);
  const double exchange = 300 + 30.0 * shape.rows() * g.p.warps * g.turns() / 8;  // sums of the warps
  const double turn_cycles =
      shapes.cost.chain + 60.0 +
      g.turns() * (shapes.cost.alu + 4.0 * shapes.cost.special) * std::ceil(g.p.warps / 4.0);
  const double after = (exchange + turn_cycles) / speeds.clock_hz;
  if (in_launch_before) return after * std::ceil(per_sm / together);
  return speeds.graph_launch_s + 1.5 * latency + std::max(stream, per_sm * cycles / speeds.clock_hz) +
         after * std::ceil(per_sm / together);
}

Estimate Model::operator()(const Parameters& parameters) const {
  const AlternatingGeometry g(problem, read_parameters<AlternatingParameters>(parameters));
  double step = 0, packed = 0;
  for (const StageShape& shape : shapes.launches) {
    step += launch_seconds(shape, g);
    packed += static_cast<double>(shape.rows()) * static_cast<double>(problem.sizes.heads) *
              static_cast<double>(problem.sizes.dim * problem.sizes.dim) *
              kernel::storage_bytes(problem.storage);
  }
  Estimate e;
  e.chain = step * static_cast<double>(problem.sizes.time);
  e.memory = static_cast<double>(bytes) / speeds.copy_bytes_per_s;
  e.launch = 3 * speeds.launch_s + 3 * packed / speeds.copy_bytes_per_s + before;
  // What the backward pass does for all steps at once is the same for all points but for the width of copies.
  if (problem.pass == Pass::Backward)
    e.launch += (static_cast<double>(widest_vector(problem)) / g.p.vector - 1) * e.memory;
  e.seconds = std::max(e.chain, e.memory) + e.launch;
  return e;
}

// Cycles of a sub-core for a product of 16 x 8 x 16. Before compute capability 8.0, a guess: fp16 is two of
// depth 8 at half the rate; of bf16 64 multiply-adds take two cycles each, and 32 shuffles one.
double mma_cycles(const Task& task) {
  if (!task.profile.target.before_ampere()) return 8;
  return has_mma(task.profile.target, task.problem.storage) ? 16 : 160;
}

}  // namespace

CostModel Alternating::cost_model(const Task& task) const {
  const BeforeSweep before = before_sweep(task);
  const SpreadSweep sweep = spread_sweep(task, Steps::OfLaunches);
  return Model{task.problem,
               task.profile.limits,
               task.profile.speeds,
               shapes_of(task),
               compulsory_bytes(task) + before.bytes,
               before.seconds + seconds_of_head_values(task, sweep, task.profile.speeds),
               mma_cycles(task)};
}

}  // namespace rondo::schedule
