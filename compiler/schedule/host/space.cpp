// The parameters of kernels for CPUs, and what they should cost.
#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/host/strategy.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

using constraint::Var;

namespace {

// Steps that a segment of time has at least: fewer do not pay for its transform.
constexpr std::int64_t kLeastSegmentSteps = 16;
constexpr std::int64_t kLanes = 16;
constexpr double kFirstCache = 32 << 10;  // bytes: of a core, of any x86 machine at least

// Whether a pass moves as much as the cores' own caches hold, or more: its tensors come from farther away.
bool passes_own_caches(const Task& task) { return compulsory_bytes(task) >= task.profile.cpu.own_caches(); }

// Whether the last cache cannot hold the tensors of a pass and as many of the one that reads its results:
// what it writes may not be there any more for that one.
bool passes_caches(const Task& task) {
  return 2 * compulsory_bytes(task) >= std::max(task.profile.cpu.l3_bytes, task.profile.cpu.own_caches());
}

Sweep sweep_of(const Task& task) {
  return task.problem.pass == Pass::Backward ? backward_sweep(task, backward_split(task))
                                             : forward_sweep(task);
}

// Rows that a step of the sweep writes, of all that it moves.
double written_share(const Sweep& sweep) {
  const auto is_now = [](const SweepSink& sink) { return sink.kind == SweepSink::Kind::Now; };
  double written = 0, read = 0;
  for (const auto& sinks : sweep.sinks) written += static_cast<double>(std::ranges::count_if(sinks, is_now));
  for (const auto& [node, source] : sweep.sources)
    read += source.kind == SweepSource::Kind::Now || source.kind == SweepSource::Kind::Before ? 1 : 0;
  return written + read > 0 ? written / (written + read) : 0;
}

// Whether all products of a walk are plain sums, which matrix tiles make.
bool adds_products(const Task& task) {
  const SweepShape& shape = sweep_shape(task);
  return !shape.max_plus && std::ranges::all_of(shape.scatters, [](int count) { return count == 0; });
}

// The sweep of a pass whose time can be cut into segments.
std::optional<AffineSweep> cut_sweep(const Task& task) {
  if (task.structure.has_matrix || adds_over_head(task.cell)) return std::nullopt;
  return affine_sweep(task, sweep_of(task));
}

}  // namespace

constraint::System Host::space(const Task& task) const {
  const bool dense = task.structure.has_matrix, whole_head = !dense && adds_over_head(task.cell);
  const bool far = !dense && passes_own_caches(task);
  const bool leaves = far && passes_caches(task);
  constraint::System s;
  using P = HostParameters;
  using constraint::powers_of_two, constraint::values;
  const Var lanes = variable<P, &P::lanes>(s);
  const Var vectors = variable<P, &P::vectors>(s, dense        ? values({1, 2, 3, 4})
                                                  : whole_head ? values({1})
                                                               : powers_of_two(1, far ? 256 : 16));
  const Var rows = variable<P, &P::rows>(s, powers_of_two(1, dense ? 32 : 1));
  const Var together = variable<P, &P::together>(s, powers_of_two(1, dense ? 8 : 1));
  const auto where = [](bool may) { return may ? std::nullopt : std::optional(values({1})); };
  const Var tile = variable<P, &P::tile>(s, where(dense));
  const Var segments = variable<P, &P::segments>(s, where(cut_sweep(task).has_value()));
  variable<P, &P::ahead>(s, far && !whole_head ? std::nullopt : std::optional(values({0})));
  variable<P, &P::stream_stores>(s, if_so(leaves && task.problem.sizes.dim % kLanes == 0));
  const bool has_tiles = dense && task.profile.target.has_matrix_tiles() &&
                         task.problem.storage == kernel::Storage::BF16 &&
                         task.problem.sizes.dim % kernel::kTileStep == 0 && adds_products(task);
  const Var tiles = variable<P, &P::matrix_tiles>(s, if_so(has_tiles));
  s.require(segments * kLeastSegmentSteps < task.problem.sizes.time + kLeastSegmentSteps,
            "steps of a segment");
  s.require(vectors * lanes < 2 * task.problem.sizes.dim || vectors == 1, "channels the head has");
  s.require(segments == 1 || vectors <= HostParameters::kMostInRegisters, "segments of what registers hold");
  s.require(rows < 2 * task.problem.sizes.batch, "batch rows there are");
  s.require(tile <= rows, "rows of the block");
  if (dense) s.require(vectors * together * tile <= 24, "registers of vectors");
  s.require(tiles == 0 || tile == 1, "matrix tiles have their own rows");
  return s;
}

namespace {

// By what bounds a pass: moving its tensors, or computing on vectors of 16 numbers.
struct HostModel {
  const Problem problem;
  target::CpuLimits limits;
  target::Speeds speeds;
  StepCost cost;
  std::int64_t bytes = 0;
  int products = 0;
  double own_rows = 0;      // of carries and of sums over the steps
  bool whole_head = false;  // a block has all channels of one
  // Of segments of time: vector instructions of a step of their transforms, and the bytes that these read.
  double compose = 0;
  std::int64_t compose_bytes = 0;
  double written = 0;  // share of `bytes`

  // Of a block's step by matrix tiles. A tile of the matrix takes a cycle a row of the batch, and at least as
  // long as its 16 lines of 64 bytes take to come, `far` cycles each. The sums go to memory and come back.
  double tile_cycles(const HostParameters& p, double far) const {
    constexpr double kLines = 16, kSetUp = 100;
    const double tiles = static_cast<double>(p.vectors) * products;
    const double each = std::max({static_cast<double>(p.rows), kLines, kLines * far});
    return kSetUp +
           tiles * (each * static_cast<double>(problem.sizes.dim) / kernel::kTileStep + 2.0 * p.rows);
  }

  // Of the bandwidth of all cores, what `blocks` can ask for: a core has its part where there are few
  // (target::host_profile).
  double share(double blocks) const {
    constexpr double kCores = 8;
    return std::min(1.0, blocks / std::min<double>(limits.threads, kCores));
  }

  Estimate operator()(const Parameters& parameters) const {
    HostParameters p = read_parameters<HostParameters>(parameters);
    const step::Sizes& sizes = problem.sizes;
    if (whole_head) p.vectors = static_cast<int>(ceil_div(sizes.dim, p.lanes));
    const double tiles = std::ceil(static_cast<double>(sizes.dim) / p.channels());
    const double blocks =
        tiles * static_cast<double>(sizes.heads) * std::ceil(static_cast<double>(sizes.batch) / p.rows);
    // With segments two launches of one block fewer, each of a part of the steps (segments.h).
    const bool cut = p.segments > 1;
    const double each = blocks * (cut ? p.segments - 1 : 1);
    const double waves = std::ceil(each / limits.threads);
    // Cycles of a block's step: a function of a GPU's special unit is about 20 instructions here.
    const double vector_steps = static_cast<double>(p.vectors) * p.rows;
    // A rolled loop keeps its rows in memory: what the first cache does not hold comes from the second, and
    // goes there, at 2 cycles a vector (measured: 6% of rglru's backward pass with 4096 channels).
    const double own = p.rolled() ? 4.0 * own_rows * p.channels() : 0;
    const double spilled = own > kFirstCache ? 2.0 * own_rows : 0;
    const double elements = vector_steps * ((cost.alu + 20.0 * cost.special + 4) / 2 + spilled);
    // A register tile multiplies as fast as its operands come; the tiles of a block differ by a row at most.
    const double row_tiles = std::ceil(static_cast<double>(p.rows) / p.tile);
    const double tile = p.rows / row_tiles;
    const double sums = p.vectors * p.together * tile;
    const double operands = p.vectors * p.together + tile;
    // Matrices come once for all rows of a block: from the cache of a core, 40 bytes a cycle, or, what it
    // cannot hold, from the one that all share, 8 bytes a cycle.
    const double matrices = static_cast<double>(products) * static_cast<double>(sizes.heads) *
                            static_cast<double>(sizes.dim * sizes.dim) *
                            kernel::storage_bytes(problem.storage);
    const double far = matrices / limits.threads > 0.75 * static_cast<double>(limits.l2_bytes) ? 8.0 : 1.6;
    const double product_cycles =
        p.matrix_tiles
            ? tile_cycles(p, far)
            : vector_steps * products * static_cast<double>(sizes.dim) *
                  (std::max({0.5, 0.5 * operands / sums, 4 / sums, far / p.rows}) + 0.05 * operands / sums);
    // Few vectors in flight wait for their own chain.
    const double least = products > 0 ? 0.0 : static_cast<double>(cost.chain);
    Estimate e;
    const double walk = std::max(elements + product_cycles, least);
    const double segment = cut ? walk + std::max(walk, vector_steps * compose / 2) : walk;
    e.chain = waves * segment * std::ceil(static_cast<double>(sizes.time) / p.segments) / speeds.clock_hz;
    // Narrow strips of memory come slower than the prefetchers go.
    const double strip = 1 + 128.0 / (p.channels() * kernel::storage_bytes(problem.storage));
    const double again = cut ? static_cast<double>(compose_bytes) * (p.segments - 2) / p.segments : 0;
    // A line that is written through the caches is read first; and a thread waits at the beginning of each
    // step's strip if nobody has asked for it.
    const double moved = static_cast<double>(bytes) * (p.stream_stores ? 1 : 1 + written);
    const double waits = p.ahead == 2 ? 1 : p.ahead > 0 ? 1.01 : 1.2;
    e.memory = waits * strip * (moved + again) / (speeds.copy_bytes_per_s * share(each));
    e.launch = speeds.launch_s * (products > 0 ? static_cast<double>(sizes.time) : cut ? 2 : 1);
    // Arithmetic and memory hide each other, but for the ends of steps and blocks.
    const double both = std::min(e.chain, e.memory);
    // Matrix tiles work on what caches hold, and nothing of it hides the inputs of the elementwise part.
    const double seen = p.matrix_tiles ? both : products > 0 ? 0 : 0.1 * both;
    e.seconds = std::max(e.chain, e.memory) + seen + e.launch;
    return e;
  }
};

}  // namespace

CostModel Host::cost_model(const Task& task) const {
  const step::StepGraph graph = sweep_graph(task);
  HostModel model{task.problem, task.profile.cpu, task.profile.speeds,
                  step_cost(task, graph.graph, graph.roots), compulsory_bytes(task)};
  const bool dense = task.structure.has_matrix;
  model.whole_head = !dense && adds_over_head(task.cell);
  if (dense) model.products = sweep_shape(task).product_count;
  if (!dense) {
    const Sweep sweep = sweep_of(task);
    model.written = written_share(sweep);
    model.own_rows = static_cast<double>(sweep.first.size()) + sweep.sum_rows;
  }
  if (const auto cut = cut_sweep(task)) {
    const step::Graph& step = cut->sweep.step.graph;
    const StepCost coefficients = step_cost(task, step, cut->coefficients);
    const auto states = static_cast<double>(cut->carries.size());
    model.compose = coefficients.alu + 20.0 * coefficients.special + 4 + states * (states + 1);
    const auto reads = std::ranges::count_if(reachable(step, cut->coefficients), [&](step::NodeId id) {
      return cut->sweep.sources.count(id) > 0 && cut->sweep.sources.at(id).kind != SweepSource::Kind::Flag;
    });
    const step::Sizes& sizes = task.problem.sizes;
    model.compose_bytes = reads * sizes.batch * sizes.time * sizes.heads * sizes.dim *
                          kernel::storage_bytes(task.problem.storage);
  }
  return model;
}

}  // namespace rondo::schedule
