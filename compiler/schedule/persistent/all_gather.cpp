#include "compiler/schedule/persistent/all_gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::schedule {

AllGatherProducts::AllGatherProducts(PersistentKernel& kernel, const Problem& problem,
                                     const std::vector<ProductGroup>& groups, std::int64_t other_words)
    : kernel_(kernel),
      problem_(problem),
      geometry_(kernel.geometry()),
      groups_(groups),
      source_(kernel, problem),
      ring_(slot_words(kernel.geometry(), groups.size()) + other_words, kernel.geometry().p.tiles_in_turn) {}

Value AllGatherProducts::first_tile() { return kernel_.here().part * geometry_.k_tiles_of_warp(); }

std::int64_t AllGatherProducts::exchange_elements() const {
  return std::int64_t{8} * geometry_.p.batch_tiles * geometry_.padded;
}

void AllGatherProducts::declare() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (const ProductGroup& group : groups_) {
    Group own{{kernel_, problem_, g.row_tiles(static_cast<int>(group.products.size())), g.k_tiles_of_warp(),
               group.kind},
              {},
              {},
              {},
              {}};
    own.exchange = b.shared(
        fmt::format("vector_{}", own_.size()), problem_.storage, exchange_slots() * exchange_elements(),
        fmt::format("[{}, batch tiles {}, channels {}, 8]", exchange_slots(), g.p.batch_tiles, g.padded));
    own.matrix.declare(own_.size());
    const int rows = own.matrix.row_tiles();
    if (g.p.split_k > 1)
      own.partial = b.shared(
          fmt::format("partial_{}", own_.size()), kernel::Storage::F32,
          std::int64_t{partial_slots()} * (g.p.split_k - 1) * g.warps * rows * g.p.batch_tiles * 32 * 4,
          fmt::format("[slots {}, splits {} - 1, warps {}, row tiles {}, batch tiles {}, lanes 32, 4]",
                      partial_slots(), g.p.split_k, g.warps, rows, g.p.batch_tiles));
    own_.push_back(own);
  }
  source_.declare(groups_);
  if (g.in_grid()) ring_.declare(kernel_);
  if (g.in_cluster())
    for (int level = 0; level < levels_of(groups_); ++level)
      ready_.push_back(b.mbarrier(fmt::format("ready_{}", level), 2, 1, "vectors have come from all blocks"));
}

// Even words of an A operand are row g, odd ones row g + 8. The 16 rows are two of the group's [product][unit
// block] of 8 rows; an odd last one stands alone.
Value AllGatherProducts::fragment(const ProductGroup& group, int tile, Value k, int i) {
  const int blocks = geometry_.p.unit_blocks;
  const int half = 2 * tile + i % 2;
  if (half >= static_cast<int>(group.products.size()) * blocks) return kernel_.elements().zero();
  const Product& product = group.products[at(half / blocks)];
  const Value in = k * 16 + kernel_.elements().column(i);
  return source_.word(product, kernel_.threads().unit_index(half % blocks), in, false, group.kind);
}

void AllGatherProducts::load_matrices() {
  load_own_matrices();
  if (geometry_.p.split_k > 1) place_sums(kernel_.builder().constant(0));
}

void AllGatherProducts::load_own_matrices() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  b.comment("the matrices, for all of time");
  bool outside = false;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    own_[i].matrix.load(
        i, [&](int tile, Value k, int word) { return fragment(groups_[i], tile, first_tile() + k, word); });
    outside = outside || own_[i].matrix.outside_registers();
  }
  const Type word = kernel_.elements().type();
  const int words = kernel_.elements().matrix_words();
  if (outside) scratch_.piece = b.array("matrix_piece", word, words);
  if (g.in_grid()) collected_ = b.array("collected", word, 4 * std::min(collect_turns(), kMostCollected));
  scratch_.vector = b.array("vector_now", word, g.p.batch_tiles * words);
}

void AllGatherProducts::finish(int level, Value count) {
  await_vectors(level, count);
  for (std::size_t group = 0; group < groups_.size(); ++group)
    if (groups_[group].level == level) multiply_group(group, count);
  if (geometry_.p.split_k == 1) return;
  // The computing warps are released first. The others lose nothing: they wait next for the vectors that
  // follow from these sums.
  kernel_.sync_roles(kPartialBarrier, PersistentKernel::Warps::Computing, [&] {
    for (std::size_t group = 0; group < groups_.size(); ++group)
      if (groups_[group].level == level) take_over(own_[group]);
  });
}

// At kPartialBarrier the warps that only multiply wait until the computing warps have taken over their sums.
// That costs nothing: they wait next for the vectors that follow from these sums.
void AllGatherProducts::multiply_role() {
  auto& b = kernel_.builder();
  load_own_matrices();
  place_sums(kernel_.here().part - 1);
  Value steps = kernel_.threads().walked().steps();
  if (geometry_.p.tiles_in_turn > 1) steps = steps * geometry_.p.tiles_in_turn;
  b.for_("step", b.constant(0), steps, b.constant(1), 1, [&](Value count) {
    for (int level = 0; level < levels_of(groups_); ++level) {
      bring_vectors(level, count);
      for (std::size_t group = 0; group < groups_.size(); ++group) {
        if (groups_[group].level != level) continue;
        multiply_group(group, count);
        hand_over(own_[group]);
        next_place(own_[group]);
      }
      kernel_.sync_roles(kPartialBarrier, PersistentKernel::Warps::Computing);
      if (!geometry_.in_grid()) continue;
      b.if_(
          kernel_.here().part == 1, [&] { clear_sent(level, count, true); },
          [&] { clear_sent(level, count, false); });
    }
  });
}

// Works out where this lane's sums of the first row tile lie, among those of `part`. With two copies the
// place changes from step to step, and next_place() computes it a step ahead; otherwise it would be computed
// between the products, and the loads would come later.
void AllGatherProducts::place_sums(Value part) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (Group& own : own_) {
    const Value line = part * g.warps + kernel_.here().warp;
    const Value first = line * (lane_sums(own) * 32) + kernel_.here().lane * 4;
    own.partial_at = partial_slots() == 1 ? b.let("partial_at", first) : b.variable("partial_at", first);
    if (partial_slots() == 1) continue;
    const int slot = (g.p.split_k - 1) * g.warps * lane_sums(own) * 32;
    own.both_places = b.let("both_places", own.partial_at * 2 + slot);
  }
}

void AllGatherProducts::next_place(const Group& own) {
  if (partial_slots() > 1) kernel_.builder().assign(own.partial_at, own.both_places - own.partial_at);
}

int AllGatherProducts::lane_sums(const Group& own) const {
  return own.matrix.row_tiles() * geometry_.p.batch_tiles * 4;
}

void AllGatherProducts::hand_over(const Group& own) {
  auto& b = kernel_.builder();
  const int batch_tiles = geometry_.p.batch_tiles;
  for (int tile = 0; tile < lane_sums(own) / 4; ++tile) {
    std::vector<Value> sums;
    for (int i = 0; i < 4; ++i) sums.push_back(own.matrix.sum(tile / batch_tiles, tile % batch_tiles, i));
    b.store_vector(own.partial[own.partial_at + tile * 32 * 4], sums);
  }
}

void AllGatherProducts::take_over(Group& own) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (int part = 0; part < g.p.split_k - 1; ++part)
    for (int tile = 0; tile < lane_sums(own) / 4; ++tile) {
      const int line = part * g.warps * lane_sums(own) / 4 + tile;
      const std::vector<Value> sums =
          b.load_vector("partial", own.partial[own.partial_at + line * 32 * 4], 4);
      for (int i = 0; i < 4; ++i)
        own.matrix.add_to_sum(tile / g.p.batch_tiles, tile % g.p.batch_tiles, i, sums[at(i)]);
    }
  next_place(own);
}

void AllGatherProducts::multiply_group(std::size_t group, Value count) {
  const Value slot = count % exchange_slots() * exchange_elements();
  own_[group].matrix.multiply(own_[group].exchange, slot + first_tile() * (16 * 8), geometry_.padded * 8,
                              scratch_);
}

Value AllGatherProducts::value(std::size_t group, int product, int channel) const {
  const PersistentGeometry& g = geometry_;
  const int half = product * g.p.unit_blocks + g.unit_of(channel);
  return own_[group].matrix.sum(half / 2, g.tile_of(channel), half % 2 * 2 + channel % 2);
}

}  // namespace rondo::schedule
