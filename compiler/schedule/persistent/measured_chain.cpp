// What a step of a persistent kernel waits for, in the times that calibration measured on the board.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "compiler/schedule/analysis/step_cost.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/persistent/reductions.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

namespace {

using Of = target::MeasuredFloor::Of;

// Adds up times; one that was not measured makes the sum unknown.
class Sum {
 public:
  void add(const std::optional<double>& seconds, double times = 1) {
    if (!seconds) known_ = false;
    total_ += times * seconds.value_or(0);
  }
  std::optional<double> total() const { return known_ ? std::optional(total_) : std::nullopt; }

 private:
  double total_ = 0;
  bool known_ = true;
};

struct MeasuredChain {
  const Task& task;
  const PersistentGeometry& g;
  const target::Floors& floors = task.profile.floors;
  SweepShape shape = sweep_shape(task);

  std::optional<double> exchange() const;
  std::optional<double> products() const;
  std::optional<double> reductions() const;
  std::optional<double> functions() const;

 private:
  // Among all blocks of a team, or `blocks` of them.
  std::optional<double> among(int blocks, double bytes, bool in_grid) const {
    if (blocks == 1) return floors.seconds(Of::BlockExchange);
    return floors.exchange(in_grid ? Of::GridExchange : Of::ClusterExchange, blocks, bytes);
  }
};

// Vectors from all blocks to all; with reduce-scatter vectors within a block, or a cluster that shares them,
// and then sums. Words that come through the grid are fragments already; others are loaded from shared
// memory.
std::optional<double> MeasuredChain::exchange() const {
  Sum sum;
  const double row = static_cast<double>(g.padded) * g.turn_batch * g.element_bytes;
  if (g.reduces()) {
    const double vectors = static_cast<double>(g.columns()) * shape.product_count / shape.levels *
                           g.turn_batch * g.element_bytes;
    const double sums = static_cast<double>(shape.terms.size()) / shape.levels * row / g.p.cluster_k_split;
    sum.add(among(g.in_grid() ? g.p.cluster_k_split : 1, vectors, false));
    sum.add(floors.seconds(Of::SharedLoad));
    sum.add(among(g.senders(), sums, g.in_grid()));
  } else {
    sum.add(among(g.p.blocks, static_cast<double>(groups_sent(shape, g)) / shape.levels * row, g.in_grid()));
    if (!g.in_grid()) sum.add(floors.seconds(Of::SharedLoad));
  }
  const std::optional<double> each = sum.total();
  return each ? std::optional(shape.levels * *each) : std::nullopt;
}

// The longer of a chain of products and of all of them at the rate of the tensor cores; sums of warps that
// share columns meet in the block. A product of 16 columns of tf32 is two instructions, and more with
// Mma::tf32x3, which are not counted.
std::optional<double> MeasuredChain::products() const {
  const bool reals = task.problem.storage == kernel::Storage::F32;
  const std::string by =
      reals ? "mma.m16n8k8.tf32" : std::string("mma.m16n8k16.") + kernel::storage_name(task.problem.storage);
  const double instructions = reals ? 2 : 1, operations = 2.0 * 16 * 8 * 16;
  double chain = 0, tiles = 0;
  const auto add = [&](double row_tiles, int k_tiles) {
    chain += instructions * std::ceil(static_cast<double>(k_tiles) / g.p.accumulators);
    tiles += row_tiles * k_tiles * g.p.batch_tiles * g.matrix_warps();
  };
  if (g.reduces())
    for (const int terms : shape.terms) add(g.sum_tiles(), terms * g.columns() / 16);
  else
    for (std::size_t group = 0; group < shape.products.size(); ++group)
      add(group_tiles(shape, g, group), g.k_tiles_of_warp());
  const std::optional<double> latency = floors.seconds(Of::Product, by), rate = floors.per_cycle_sm(by);
  if (!latency || !rate) return std::nullopt;
  Sum sum;
  sum.add(std::max(chain * *latency, tiles * operations / *rate / task.profile.speeds.clock_hz));
  if (g.p.gather_fragments || (g.p.split_k > 1 && !g.reduces()))
    sum.add(floors.seconds(Of::BlockExchange), static_cast<double>(shape.products.size()));
  return sum.total();
}

// The lanes of a warp hold 8 channels: three sums, and three more of the lines of other warps.
std::optional<double> MeasuredChain::reductions() const {
  Sum sum;
  for (const int words : shape.reductions) {
    sum.add(floors.seconds(Of::LaneSum), 6);
    const double bytes = 32.0 * words * ReductionExchange::team_lines(g) * g.p.batch_tiles;
    sum.add(among(g.p.blocks, bytes, g.in_grid()));
    if (ReductionExchange::by_block(g)) sum.add(floors.seconds(Of::BlockExchange));
  }
  return sum.total();
}

// An operation that is no function is as many multiply-adds one after the other as the table of operations
// gives it latency, 4 cycles each.
std::optional<double> MeasuredChain::functions() const {
  const bool fast = task.problem.math == kernel::Math::Fast;
  const std::optional<double> multiply_add = floors.seconds(Of::Function, "fma");
  if (!multiply_add) return std::nullopt;
  const step::StepGraph step = spread_sweep(task).step;
  const auto latency = [&](const scalar::OpInfo& op) {
    const std::string name = std::string(op.name) + (fast ? " fast" : " accurate");
    return floors.seconds(Of::Function, name)
        .value_or(*multiply_add * (fast ? op.fast : op.accurate).latency / 4);
  };
  return longest_chain(task, step.graph, step.roots, latency, Across::GoesOn);
}

}  // namespace

std::vector<EstimatePart> Persistent::measured_chain(const Task& task, const Parameters& parameters) const {
  if (task.profile.floors.empty()) return {};
  const PersistentGeometry g(task.problem.sizes.dim, task.problem.storage,
                             read_parameters<PersistentParameters>(parameters));
  const MeasuredChain chain{task, g};
  const double steps =
      waves(g, task.problem.sizes, task.profile.limits) * static_cast<double>(task.problem.sizes.time);
  std::vector<EstimatePart> parts;
  for (const auto& [name, seconds] : {std::pair{"exchange", chain.exchange()},
                                      {"products", chain.products()},
                                      {"reductions", chain.reductions()},
                                      {"functions", chain.functions()}}) {
    if (!seconds) return {};
    if (*seconds > 0) parts.push_back({EstimatePart::Of::Chain, name, steps * *seconds});
  }
  return parts;
}

}  // namespace rondo::schedule
