// The persistent strategy's tuning space.
#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/schedule/persistent/fragment_gather.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/persistent/reductions.h"
#include "compiler/schedule/persistent/strategy.h"
#include "compiler/schedule/plan/space_variables.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"
#include "compiler/target/cluster_cost.h"

namespace rondo::schedule {

namespace {

constexpr int kRegistersBeside = 48;  // addresses, loop state, temporaries of the step
constexpr int kRegistersBetween = 5;  // of a channel, backward: what lives across products by the same warps
constexpr int kRegistersOfTemporaries =
    16;                               // of those beside (an LSTM of 2048 channels compiles without spills)
constexpr int kRegistersOfSums = 30;  // the same of warps that only multiply (reduce-scatter)
constexpr int kRegistersOfDraw =
    12;  // of Philox, backward: compilers draw for the steps of a stage side by side
constexpr int kRegistersOfReduction = 8;  // of a reduction's exchange: places, shuffled parts
constexpr int kMostTiles = 4;             // of the batch a block: FlagWindow has a lane for each batch row
constexpr int kMostKSplit = 8;            // blocks of a cluster that split the k extent
// fp32: elements that the compiler loads ahead of their products; an operand in two parts, and for each tile
// of rows the sums of a k-tile and what the compiler keeps split (Mma::tf32x3; measured).
constexpr int kRegistersOfElements = 16, kRegistersOfParts = 24, kRegistersOfSplitTile = 26;
constexpr std::int64_t kBarrierBytes = 1024;  // mbarriers and alignment of arrays

// By sum: the terms that multiply by a matrix.
std::vector<int> with_matrix(const SweepShape& shape) {
  std::vector<int> terms = shape.terms;
  for (std::size_t sum = 0; sum < terms.size(); ++sum) terms[sum] -= shape.scatters[sum];
  return terms;
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
    for (const int terms : with_matrix(shape))
      for (int k_split = 1; k_split <= kMostKSplit; k_split *= 2) {
        const int units = persistent_units(dim, static_cast<int>(blocks), 1, k_split == 1);
        if (const int tiles = units * k_split * terms / 16; tiles <= 64) result.insert(tiles);
      }
  return {result.begin(), result.end()};
}

// Blocks a team may have: powers of two as clusters; as part of the grid, shares of 8 to 64 channels a block.
std::vector<constraint::Value> team_choices(std::int64_t dim, const target::Limits& limits) {
  std::set<constraint::Value> result;
  for (int blocks = 1; blocks <= target::largest_cluster(limits); blocks *= 2) result.insert(blocks);
  for (const int units : {8, 16, 24, 32, 48, 64})
    if (const std::int64_t blocks = ceil_div(dim, units); blocks >= 2 && blocks <= limits.sm_count)
      result.insert(blocks);
  return {result.begin(), result.end()};
}

using constraint::Expr;
using constraint::Var;

// The space, written down: its variables and quantities are members, in the order in which the system has
// them, and each function states the rules of one subject.
class PersistentSpace {
 public:
  PersistentSpace(const SweepShape& shape, bool sends_ahead, const Problem& problem,
                  const target::Profile& profile)
      : shape_(shape),
        sends_ahead_(sends_ahead),
        problem_(problem),
        limits_(profile.limits),
        has_setmaxnreg_(profile.target.major() >= 9 && !profile.portable) {
    copies();
    teams();
    turns();
    launches();
    products();
    fragments();
    max_plus();
    threads();
    registers();
    shared_memory();
  }
  constraint::System take() { return std::move(s_); }

 private:
  void copies();         // how wide
  void teams();          // which blocks share a head
  void turns();          // which tiles of the batch a block walks one after the other
  void launches();       // which blocks run at once
  void products();       // how blocks and warps divide them
  void fragments();      // where vectors go from global memory straight into registers
  void max_plus();       // how products over max and plus are made
  void threads();        // how many a block has
  void registers();      // that a thread needs
  void shared_memory();  // that a block needs

  int most_terms() const { return matrix_terms_.empty() ? 0 : *std::ranges::max_element(matrix_terms_); }
  // Tiles of the rows of a group of products, of a warp's units, or, with fragments, of the block's. These
  // are rows of sums: where others of its level have products too, a tile of them may hold but one of this
  // group's.
  Expr tiles_of(int rows) const { return floor_div(rows * multiplied_ + 1, 2); }
  Expr tiles_of_group(std::size_t group) const {
    const int products = shape_.products[group], rows = shape_.rows[group];
    const Expr own = tiles_of(products);
    return products == rows ? own : when(fragments_ == 1, min(tiles_of(rows), products * multiplied_), own);
  }
  Expr tiles_of_sums(std::size_t group) const {
    const int products = shape_.products[group], rows = shape_.rows[group];
    return products == rows ? tiles_of(rows) : when(fragments_ == 1, tiles_of(rows), tiles_of(products));
  }
  // Whether warps read vectors out of inputs (read_inputs()), and what is sent and staged beside these.
  int inputs() const { return static_cast<int>(std::ranges::count(shape_.of_input, true)); }
  bool may_read() const { return inputs() > 0 && at(inputs()) < shape_.of_input.size(); }
  constraint::Condition reads() const {
    return fragments_ == 1 && vector_ == 16 / bytes_ && units_ * blocks_ == dim_;
  }
  Expr rows_in() const {
    return may_read() ? when(reads(), shape_.rows_in - shape_.rows_multiplied, shape_.rows_in)
                      : Expr(shape_.rows_in);
  }
  std::int64_t widest_copy() const {
    std::int64_t widest = 16 / bytes_;
    while (dim_ % widest != 0) widest /= 2;
    return widest;
  }
  Expr all_tiles() const;
  Expr widest_tiles() const;
  Expr matrix_tiles(bool in_registers) const;
  Expr collected_words() const;
  Expr step_registers() const;
  Expr adding_threads() const;
  // Reductions over the head (ReductionExchange).
  bool reduces_head() const { return !shape_.reductions.empty(); }
  constraint::Condition by_block() const {
    return blocks_ > 1 && warps_ > 1 && blocks_ * warps_ > ReductionExchange::kMostOfTeam;
  }
  Expr reduction_registers() const;
  Expr reduction_bytes() const;

  // Of the cell's own tensors (PersistentKernel::has_head_values()).
  bool has_head_values() const { return shape_.head_values_in + shape_.head_values_out + shape_.shares > 0; }
  bool backward() const { return problem_.pass == Pass::Backward; }
  // Sums of fewer terms than there are products may be exchanged in place of the vectors that are multiplied.
  bool may_reduce() const { return shape_.terms.size() < shape_.products.size() || scatters() > 0; }
  // Products by chosen channels, which are made so alone: a block knows what its own channels have chosen.
  int scatters() const { return std::accumulate(shape_.scatters.begin(), shape_.scatters.end(), 0); }

  const SweepShape& shape_;
  const std::vector<int> matrix_terms_ = with_matrix(shape_);
  const bool sends_ahead_;  // a step sends a vector that the next one multiplies
  const Problem& problem_;
  const target::Limits& limits_;
  const bool has_setmaxnreg_;
  const std::int64_t dim_ = problem_.sizes.dim;
  const int bytes_ = kernel::storage_bytes(problem_.storage);
  const int words_ = bytes_ / 2;  // of two elements
  const bool real_ = problem_.storage == kernel::Storage::F32;
  const int max_cluster_ = target::largest_cluster(limits_);
  const int most_k_split_ = may_reduce() ? std::min(kMostKSplit, max_cluster_) : 1;
  const int most_batch_tiles_ = static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(4, (problem_.sizes.batch + 7) / 8))));
  const std::vector<constraint::Value> teams_ = team_choices(dim_, limits_);

  constraint::System s_;
  using P = PersistentParameters;
  const Var blocks_ = variable<P, &P::blocks>(s_, constraint::values(teams_));
  const ChoiceVar<Exchange> exchange_ = variable<P, &P::exchange>(s_);
  const Var reduce_ = variable<P, &P::reduce_scatter>(s_, if_so(may_reduce()));
  const Var cluster_k_split_ =
      variable<P, &P::cluster_k_split>(s_, constraint::powers_of_two(1, most_k_split_));
  const Var setmaxnreg_ = variable<P, &P::setmaxnreg>(s_, if_so(has_setmaxnreg_));
  const Var unit_blocks_ = variable<P, &P::unit_blocks>(s_);
  const Var batch_tiles_ = variable<P, &P::batch_tiles>(s_, constraint::powers_of_two(1, most_batch_tiles_));
  const Var tiles_in_turn_ = variable<P, &P::tiles_in_turn>(s_);
  const Var fragments_ = variable<P, &P::gather_fragments>(s_);
  const Var register_k_tiles_ =
      variable<P, &P::register_k_tiles>(s_, constraint::values(register_choices(dim_, shape_, teams_)));
  const Var split_k_ = variable<P, &P::split_k>(s_);
  const Var accumulators_ = variable<P, &P::accumulators>(s_);
  const Var steps_ = variable<P, &P::steps>(s_);
  const Var stages_ = variable<P, &P::stages>(s_);
  const Var vector_ = variable<P, &P::vector>(s_, constraint::powers_of_two(1, 16 / bytes_));
  const Var producer_warps_ = variable<P, &P::producer_warps>(s_);
  const Var store_warps_ = variable<P, &P::store_warps>(s_);
  const Var poll_delay_ = variable<P, &P::poll_delay>(s_);

  const Expr granule_ = max(
      8 * unit_blocks_, when(mod(blocks_, 2) == 1, 16, when(reduce_ == 1 && cluster_k_split_ == 1, 16, 8)));
  const Expr units_ =
      s_.define("units", ceil_div(ceil_div(dim_, blocks_), granule_) * granule_, "channels a block");
  const Expr k_tiles_ = s_.define("k_tiles", floor_div(units_* blocks_, 16), "k-tiles of a product");
  const Var batch_tiles_in_flight_ = variable<P, &P::batch_tiles_in_flight>(s_);
  const Expr columns_ = units_ * cluster_k_split_;
  const Expr own_tiles_ = floor_div(columns_, 16);  // of a term (reduce-scatter)
  const Expr sum_tiles_ = floor_div(blocks_ * unit_blocks_, 2 * split_k_ * cluster_k_split_);
  const Expr warps_ = floor_div(units_, 8 * unit_blocks_);
  const Expr k_share_ = when(reduce_ == 1, own_tiles_* most_terms(),
                             floor_div(k_tiles_, split_k_* when(fragments_ == 1, warps_, 1)));
  const Expr multiplied_ = when(fragments_ == 1, floor_div(units_, 8), unit_blocks_);
  const Expr working_ = 32 * warps_ * (split_k_ + reduce_);
  const Expr threads_ =
      s_.define("threads", working_ + when(setmaxnreg_ == 1, 128, 32 * (producer_warps_ + store_warps_)),
                "threads a block");
  const Expr row_tiles_ = all_tiles();
  const Expr widest_group_ = widest_tiles();
  const Expr channels_ = 2 * unit_blocks_ * batch_tiles_;
  const Expr senders_ = floor_div(blocks_, cluster_k_split_);
  const Expr lines_ =
      s_.define("lines", adding_threads(), "threads that add up what blocks sent for a channel");
};

void PersistentSpace::copies() {
  s_.require(divides(vector_, dim_), "alignment of rows: a copy may not straddle two rows of D channels");
  s_.require(implies(vector_ < widest_copy(),
                     steps_ == 4 && stages_ == 3 && accumulators_ == 2 && store_warps_ == 1),
             "narrow copies");
}

void PersistentSpace::teams() {
  if (scatters() == 0)
    s_.require(implies(reduce_ == 1, blocks_ >= 2), "a block alone has nobody to send sums to");
  s_.require(implies(cluster_k_split_ > 1, reduce_ == 1 && exchange_ == Exchange::Global),
             "clusters split the k extent where blocks exchange through global memory");
  s_.require(divides(cluster_k_split_, blocks_), "clusters that share columns divide the team");
  s_.require(units_ * (blocks_ - 1) < dim_, "every block of a team has channels");
  for (const constraint::Value team : teams_)
    if (team > max_cluster_ || (team & (team - 1)) != 0)
      s_.require(implies(blocks_ == team, exchange_ == Exchange::Global),
                 "clusters are of a power of two, and of limited size");
  s_.require(implies(exchange_ == Exchange::Global, blocks_ >= 2),
             "a block alone has nobody to exchange with");
  s_.require(implies(poll_delay_ > 0, exchange_ == Exchange::Global),
             "only what comes through global memory is polled");
  if (!reduces_head())
    s_.require(implies(poll_delay_ > 0, reduce_ == 1 || (fragments_ == 1 && split_k_ > 1)),
               "vectors are looked for at once by warps that compute: waiting costs time");
}

// A tile's vector is under way while the others have their turns, if it is sent at the end of a step. Warps
// that only multiply look for it, while those that compute have the results of the tile before to make.
void PersistentSpace::turns() {
  if (!sends_ahead_)
    s_.require(tiles_in_turn_ == 1, "tiles take turns where a step sends what the next one multiplies");
  s_.require(implies(tiles_in_turn_ > 1, exchange_ == Exchange::Global && reduce_ == 0),
             "tiles take turns where vectors go through global memory");
  s_.require(implies(tiles_in_turn_ > 1, split_k_ > 1),
             "tiles take turns where some warps only multiply: these look for the next tile's vectors");
  s_.require(batch_tiles_ * tiles_in_turn_ <= kMostTiles, "batch rows a block");
  const std::int64_t tiles = ceil_div(problem_.sizes.batch, std::int64_t{8});
  s_.require(implies(tiles_in_turn_ > 1, batch_tiles_ * tiles_in_turn_ < 2 * tiles),
             "no more tiles in turn than there are batch rows for");
}

// Blocks that exchange through global memory wait for each other: all of a launch must be resident, one on
// each SM. A launch takes as many batch tiles as fit.
void PersistentSpace::launches() {
  const Expr on_chip = blocks_ * problem_.sizes.heads * batch_tiles_in_flight_;
  const Expr batch_parts = ceil_div(problem_.sizes.batch, 8 * batch_tiles_ * tiles_in_turn_);
  s_.require(implies(exchange_ == Exchange::Cluster, batch_tiles_in_flight_ == 1),
             "clusters are launched all at once");
  for (int cluster = 1; cluster <= most_k_split_; cluster *= 2)
    s_.require(implies(exchange_ == Exchange::Global && cluster_k_split_ == cluster,
                       on_chip <= cluster * target::clusters_at_once(limits_, cluster, 1)),
               "blocks that exchange through global memory resident at once");
  s_.require(implies(exchange_ == Exchange::Global,
                     2 * on_chip > limits_.sm_count || batch_tiles_in_flight_ >= batch_parts),
             "as many batch tiles as fit");
  s_.require(implies(exchange_ == Exchange::Global && batch_tiles_in_flight_ > 1,
                     batch_tiles_in_flight_ < 2 * batch_parts),
             "no more batch tiles than there are");
  s_.require(implies(exchange_ == Exchange::Global, stages_ == 3 && store_warps_ == 1),
             "exchange through global memory");
}

void PersistentSpace::products() {
  s_.require(implies(reduce_ == 0, divides(split_k_, k_tiles_)), "columns divide evenly");
  s_.require(implies(reduce_ == 1, divides(2 * split_k_ * cluster_k_split_, blocks_ * unit_blocks_)),
             "rows divide evenly");
  s_.require(implies(reduce_ == 1, divides(16, columns_)), "whole k-tiles");
  s_.require(register_k_tiles_ <= k_share_, "k-tiles a warp multiplies");
}

// Max and plus are taken by lanes, of vectors in shared memory, and so is what goes back by chosen channels.
void PersistentSpace::max_plus() {
  if (scatters() > 0)
    s_.require(reduce_ == 1 && cluster_k_split_ == 1,
               "a block sends the sums of what its own channels have chosen");
  if (scatters() > 0 && most_terms() == 0)
    s_.require(implies(vector_ == widest_copy(), accumulators_ == 1), "a lane adds to one sum");
  if (!shape_.max_plus) return;
  s_.require(reduce_ == 0 && fragments_ == 0,
             "max-plus products are taken of whole vectors in shared memory");
  s_.require(implies(vector_ == widest_copy(), accumulators_ == 1), "a lane has one largest sum");
}

void PersistentSpace::fragments() {
  s_.require(implies(fragments_ == 1, exchange_ == Exchange::Global && reduce_ == 0),
             "fragments are what comes as vectors through global memory");
  s_.require(implies(fragments_ == 1, tiles_in_turn_ == 1), "tiles take turns in shared memory");
  s_.require(implies(fragments_ == 1, divides(split_k_ * warps_ * (2 / words_), k_tiles_)),
             "a lane's fragments of a warp's k-tiles are whole vectors of 16 bytes");
  s_.require(
      implies(fragments_ == 1, batch_tiles_ * k_share_ * words_ <= 2 * FragmentGatherProducts::kMostVectors),
      "a warp's k-tiles of the vectors lie in registers");
}

void PersistentSpace::threads() {
  s_.require(threads_ <= limits_.threads_per_block, "threads a block");
  s_.require(implies(setmaxnreg_ == 1, divides(128, working_) && producer_warps_ + store_warps_ <= 4),
             "groups of four warps");
}

// The tiles of rows of all groups of products.
Expr PersistentSpace::all_tiles() const {
  Expr sum = Expr(0);
  for (std::size_t group = 0; group < shape_.products.size(); ++group) sum = sum + tiles_of_group(group);
  return sum;
}

Expr PersistentSpace::widest_tiles() const {
  Expr widest = Expr(0);
  for (std::size_t group = 0; group < shape_.products.size(); ++group)
    widest = max(widest, tiles_of_sums(group));
  return widest;
}

// Tiles of a warp's matrices, in its registers or else in shared memory.
Expr PersistentSpace::matrix_tiles(bool in_registers) const {
  const Expr gathering = row_tiles_ * (in_registers ? static_cast<const Expr&>(register_k_tiles_)
                                                    : k_share_ - register_k_tiles_);
  if (!may_reduce()) return gathering;
  Expr of_sums = Expr(0);
  for (const int terms : matrix_terms_)
    of_sums = of_sums + (in_registers ? min(register_k_tiles_, own_tiles_ * terms)
                                      : max(0, own_tiles_ * terms - register_k_tiles_));
  return when(reduce_ == 1, sum_tiles_ * of_sums, gathering);
}

// As ReduceScatterProducts::collect_lines() has it.
Expr PersistentSpace::adding_threads() const {
  const Expr most = floor_div(4 * split_k_, unit_blocks_);
  Expr adding = Expr(1);
  for (int n = 2; n <= kMostLines; n *= 2) adding = when(mod(senders_, n) == 0 && most >= n, n, adding);
  return adding;
}

// Words that a thread collects at once: of one group, or of all sums of a level.
Expr PersistentSpace::collected_words() const {
  const auto sums = static_cast<std::int64_t>(shape_.terms.size());
  const Expr collectors = 32 * warps_ * max(1, split_k_ - when(tiles_in_turn_ > 1, 1, 0));
  const Expr vectors_of_thread = ceil_div(batch_tiles_ * units_ * blocks_ * words_, collectors);
  return when(
      reduce_ == 1, sums * 4 * words_ * ceil_div(batch_tiles_ * senders_, lines_),
      when(fragments_ == 1,
           2 * words_ * batch_tiles_ * k_share_ * (may_read() ? when(reads(), 1 + inputs(), 1) : Expr(1)),
           4 * min(AllGatherProducts::kMostCollected, vectors_of_thread)));
}

// Beside the products: the registers of the other values of a step.
Expr PersistentSpace::step_registers() const {
  const int ahead = backward() ? std::max(8, shape_.handed) : 0;
  const Expr drawing = (backward() && shape_.draws ? kRegistersOfDraw : 0) * steps_;
  return unit_blocks_ * batch_tiles_ * (rows_in() * words_ + shape_.wide_in) +
         batch_tiles_ * (shape_.head_values_in * words_ +
                         2 * (tiles_in_turn_ * shape_.head_value_states + shape_.head_values_late)) +
         channels_ * (tiles_in_turn_ * shape_.states + shape_.sums + ahead) +
         unit_blocks_ * shape_.param_rows + kRegistersBeside + drawing;
}

// For the stage with the most reductions. Of the words of lines that a thread loads, at most half wait for
// the mean of all: the others are added up as they come.
Expr PersistentSpace::reduction_registers() const {
  const int widest = *std::ranges::max_element(shape_.reductions);
  const auto loaded = [](const Expr& lines) {
    return when(lines <= ReductionExchange::kMostOfThread, lines, ceil_div(lines, 8));
  };
  const Expr of_block = when(by_block(), loaded(warps_), 1);
  const Expr needed = widest * max(of_block, loaded(when(by_block(), blocks_, blocks_ * warps_))) +
                      2 * widest * batch_tiles_ + kRegistersOfReduction;
  return backward() ? needed : max(0, needed - kRegistersOfTemporaries);
}

Expr PersistentSpace::reduction_bytes() const {
  const int words = std::accumulate(shape_.reductions.begin(), shape_.reductions.end(), 0);
  const Expr of_team = when(exchange_ == Exchange::Global, 0, when(by_block(), blocks_, blocks_ * warps_));
  return (of_team + when(by_block(), warps_, 0)) * batch_tiles_ * (2 * 4 * words * 2 * 4);
}

void PersistentSpace::registers() {
  Expr of_reals = Expr(real_ ? kRegistersOfElements : 0);
  if (real_ && problem_.math != kernel::Math::Tf32)
    of_reals = of_reals + kRegistersOfParts + kRegistersOfSplitTile * widest_group_;
  const Expr collected = collected_words();
  Expr of_step = step_registers();
  // Of a step's products some are still there when the first reduction is made of them.
  if (reduces_head()) of_step = of_step + reduction_registers();
  const Expr of_products_kept = channels_ * shape_.product_count;
  Expr sums_of_warp = 4 * when(reduce_ == 1, sum_tiles_, widest_group_) * batch_tiles_ * accumulators_;
  // Of a lane's columns: all 8 batch rows, and those of a vector.
  if (shape_.max_plus) sums_of_warp = sums_of_warp + 16 * widest_group_ * batch_tiles_ + 16;
  // Sums that warps hand each other are read when this warp's own are done. Words are collected before the
  // products, or after them; the step's temporaries are not there then.
  const Expr of_sums =
      when(split_k_ > 1, max(sums_of_warp, of_products_kept), sums_of_warp + of_products_kept);
  const Expr waiting = when(exchange_ == Exchange::Global, max(0, collected - kRegistersOfTemporaries), 0);
  const Expr of_products = when(fragments_ == 1, max(sums_of_warp + collected, of_products_kept),
                                max(of_sums + 4 * words_ * batch_tiles_, waiting));
  const Expr of_matrices = 4 * words_ * matrix_tiles(true) + of_reals;
  const Expr reducing = of_matrices + max(sums_of_warp + 4 * words_ * batch_tiles_,
                                          when(exchange_ == Exchange::Global, collected, 0));
  const Expr needed = s_.define(
      "registers",
      when(reduce_ == 1, max(of_step, reducing + kRegistersOfSums),
           of_step + of_matrices + of_products + ((backward() ? kRegistersBetween : 0) * channels_)),
      "registers a thread");
  // The four parts of an SM hold as many warps each.
  s_.require(implies(setmaxnreg_ == 0, needed * (ceil_div(threads_, 128) * 128) <= limits_.registers_per_sm),
             "registers of an SM");
  for (int n = 128; n < limits_.threads_per_block; n += 128)
    s_.require(implies(setmaxnreg_ == 1 && working_ == n,
                       needed <= PersistentGeometry::compute_registers(n, has_head_values())),
               "registers that an SM has for a thread");
  s_.require(needed <= limits_.registers_per_thread, "registers a thread");
}

// Staged inputs, results, vectors, and those parts of the matrices that registers do not hold.
void PersistentSpace::shared_memory() {
  const Expr batch = 8 * batch_tiles_;
  // Of fp32 rows beside rows of 16 bits what they take more.
  const Expr rows = batch * tiles_in_turn_;
  const Expr staging =
      stages_ * steps_ * rows * (rows_in() * (units_ + 16 / bytes_) * bytes_ + shape_.wide_in * 2 * units_);
  const Expr results =
      2 * steps_ * rows *
      (shape_.rows_out * (units_ + (real_ ? 4 : 0)) * bytes_ + shape_.wide_out * (2 * units_ + 16));
  const Expr head_values =
      steps_ * rows * (stages_ * shape_.head_values_in + 2 * shape_.head_values_out) * bytes_ +
      2 * steps_ * rows * warps_ * (shape_.shares * 4) +
      stages_ * steps_ * rows * (shape_.head_values_before * 4);
  const std::int64_t all_terms = std::accumulate(shape_.terms.begin(), shape_.terms.end(), std::int64_t{0});
  const auto sums = static_cast<std::int64_t>(shape_.terms.size());
  const Expr vectors = static_cast<std::int64_t>(shape_.products.size()) * bytes_ *
                       when(exchange_ == Exchange::Global, 1, 2) * batch * (units_ * blocks_);
  const Expr parts =
      sums * batch * when(exchange_ == Exchange::Global, 4 * lines_ * units_, 2 * bytes_ * units_ * blocks_);
  const Expr exchange_bytes =
      when(reduce_ == 1,
           all_terms * bytes_ * when(exchange_ == Exchange::Global && cluster_k_split_ == 1, 1, 2) * batch *
                   columns_ +
               parts,
           vectors);
  const Expr chosen = scatters() * 4 * when(exchange_ == Exchange::Global, 1, 2) * batch * columns_;
  const Expr matrices = s_.define("matrix_bytes", warps_ * split_k_ * matrix_tiles(false) * (256 * bytes_),
                                  "bytes of matrices in shared memory");
  const Expr partial = when(reduce_ == 1, 0, (split_k_ - 1) * warps_ * row_tiles_ * batch_tiles_ * 512) *
                       when(exchange_ == Exchange::Cluster && blocks_ > 1, 2, 1);
  // Without products of inputs, places are counted as if sums did not join, as they do backward: no trial has
  // points that fit only where they do.
  const int sums_of_warps = may_read() ? shape_.joined : shape_.product_count;
  const Expr of_fragments = warps_ * split_k_ * floor_div(units_, 8) * (batch_tiles_ * sums_of_warps) *
                            (256 * FragmentGatherProducts::kSlots);
  Expr all = staging + results + when(fragments_ == 1, of_fragments, exchange_bytes + partial) + matrices +
             kBarrierBytes;
  if (scatters() > 0) all = all + chosen;
  if (reduces_head()) all = all + reduction_bytes();
  if (has_head_values() || shape_.head_values_before > 0) all = all + head_values;
  const Expr shared = s_.define("shared_bytes", all, "bytes of shared memory a block");
  s_.require(shared <= limits_.shared_per_block, "shared memory");
}

}  // namespace

constraint::System Persistent::space(const Task& task) const {
  const SweepShape shape = sweep_shape(task);
  return PersistentSpace(shape, sends_ahead(task), task.problem, task.profile).take();
}

}  // namespace rondo::schedule
