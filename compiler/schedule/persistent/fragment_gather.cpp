#include "compiler/schedule/persistent/fragment_gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

FragmentGatherProducts::FragmentGatherProducts(PersistentKernel& kernel, const Problem& problem,
                                               const std::vector<ProductGroup>& groups,
                                               std::int64_t other_words)
    : kernel_(kernel),
      problem_(problem),
      geometry_(kernel.geometry()),
      groups_(groups),
      source_(kernel, problem),
      ring_(AllGatherProducts::slot_words(kernel.geometry(), groups.size()) + other_words, 1) {}

int FragmentGatherProducts::vectors_of_tile() const {
  return geometry_.k_tiles_of_warp() / kernel_.elements().vector_k_tiles();
}

void FragmentGatherProducts::declare() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    Group own{{kernel_, problem_, g.row_tiles(products(group)), g.k_tiles_of_warp()}, {}, {}};
    own.matrix.declare(group);
    own.partial =
        b.shared(fmt::format("partial_{}", group), kernel::Storage::F32, kSlots * slot_sums(group),
                 fmt::format("[slots {}, unit blocks {}, batch tiles {}, products {} in pairs, "
                             "warps {}, lanes 32, 2 of each]",
                             kSlots, block_units(), g.p.batch_tiles, products(group), g.matrix_warps()));
    own_.push_back(own);
  }
  source_.declare(groups_);
  ring_.declare(kernel_);
}

// Even words of an A operand are row g, odd ones row g + 8. The 16 rows are two of the group's [unit
// block][product] of 8 rows; an odd last one stands alone. A warp's first k-tile begins a vector.
Value FragmentGatherProducts::fragment(const ProductGroup& group, int tile, Value k, int i) {
  const auto count = static_cast<int>(group.products.size());
  const int half = 2 * tile + i % 2;
  if (half >= count * block_units()) return kernel_.elements().zero();
  const Value unit = kernel_.here().first_unit + (kernel_.here().group + half / count * 8);
  const ChipElements& elements = kernel_.elements();
  const int together = elements.vector_k_tiles();
  return source_.word(group.products[at(half % count)], unit,
                      k / together * (16 * together) + elements.fragment_column(k, i));
}

void FragmentGatherProducts::load_matrices() {
  auto& b = kernel_.builder();
  load_own_matrices();
  for (std::size_t group = 0; group < groups_.size(); ++group)
    own_[group].sums =
        b.array(fmt::format("product_sums_{}", group), Type::F32, products(group) * geometry_.channels());
}

void FragmentGatherProducts::load_own_matrices() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  b.comment("the matrices, for all of time");
  const Value first = kernel_.threads().matrix_warp() * g.k_tiles_of_warp();
  bool outside = false;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    own_[i].matrix.load(
        i, [&](int tile, Value k, int word) { return fragment(groups_[i], tile, first + k, word); });
    outside = outside || own_[i].matrix.outside_registers();
  }
  const Type word = kernel_.elements().type();
  if (outside) scratch_.piece = b.array("matrix_piece", word, kernel_.elements().matrix_words());
  vectors_ = b.array("vector_now", word, 4 * g.p.batch_tiles * vectors_of_tile());
  place_words();
}

// A unit's words go to the warp that multiplies its k-tile.
void FragmentGatherProducts::place_words() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const ChipElements& elements = kernel_.elements();
  const int together = elements.vector_k_tiles();
  word_places_.clear();
  for (int unit_block = 0; unit_block < g.p.unit_blocks; ++unit_block) {
    const Value unit = b.let("unit_of_head", kernel_.threads().unit_index(unit_block));
    const Value vector = unit / (16 * together);
    const Value of_warp =
        vector / vectors_of_tile() * (g.p.batch_tiles * vectors_of_tile()) + vector % vectors_of_tile();
    std::vector<Value>& places = word_places_.emplace_back();
    for (const Value& place : elements.fragment_places(unit % (16 * together)))
      places.push_back(b.let("word_at", of_warp * 128 + place));
  }
}

void FragmentGatherProducts::send(std::size_t group, Value slot, int channel,
                                  const std::vector<Value>& words) {
  const PersistentGeometry& g = geometry_;
  const std::int64_t before =
      static_cast<std::int64_t>(group) * kernel_.elements().words(std::int64_t{g.turn_batch} * g.padded) +
      std::int64_t{g.tile_of(channel)} * vectors_of_tile() * 128;
  const std::vector<Value>& places = word_places_[at(g.unit_of(channel))];
  for (std::size_t i = 0; i < words.size(); ++i)
    kernel_.builder().store_self_flagged(ring_.at(kernel_, slot, places[i] + before), {words[i]});
}

void FragmentGatherProducts::publish(std::size_t group, Value count, const std::vector<Value>& values) {
  for (int c = 0; c < geometry_.channels(); c += 2) {
    const TwoRows rows = rows_of_unit(kernel_, values, c);
    send(group, count % ring_.slots(), c, kernel_.elements().fragment_words_of(rows.low, rows.high));
  }
}

// This warp's k-tiles of the vectors of a level, by all rows of the block. `rest`: cycles before the first
// look for words.
void FragmentGatherProducts::multiply(int level, Value count, int rest) {
  auto& b = kernel_.builder();
  const int vectors = geometry_.p.batch_tiles * vectors_of_tile();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].level != level) continue;
    const std::int64_t before =
        static_cast<std::int64_t>(group) *
        kernel_.elements().words(std::int64_t{geometry_.turn_batch} * geometry_.padded);
    const Value from = kernel_.threads().matrix_warp() * (vectors * 128) + kernel_.here().lane * 4 + before;
    b.load_self_flagged(vectors_, b.constant(0), vectors, ring_.at(kernel_, count % ring_.slots(), from),
                        b.constant(128), false, rest);
    own_[group].matrix.multiply(vectors_, scratch_);
    hand_over(group, count);
    rest = 0;
  }
}

std::int64_t FragmentGatherProducts::slot_sums(std::size_t group) const {
  return std::int64_t{block_units()} * geometry_.p.batch_tiles * products(group) * geometry_.matrix_warps() *
         64;
}

// `product`: the first of its pair.
Value FragmentGatherProducts::sums_at(std::size_t group, Value slot, Value unit_block, int batch_tile,
                                      int product, Value warp) const {
  const int of_product = geometry_.matrix_warps() * 64;
  const int width = product + 1 < products(group) ? 2 * kPair : 2;
  const Value tile = (unit_block * geometry_.p.batch_tiles + batch_tile) * (products(group) * of_product);
  return slot * slot_sums(group) + tile + product * of_product + warp * (32 * width) +
         kernel_.here().lane * width;
}

void FragmentGatherProducts::hand_over(std::size_t group, Value count) {
  auto& b = kernel_.builder();
  const OnChipMatrix& matrix = own_[group].matrix;
  const Value warp = kernel_.threads().matrix_warp();
  for (int unit_block = 0; unit_block < block_units(); ++unit_block)
    for (int tile = 0; tile < geometry_.p.batch_tiles; ++tile)
      for (int product = 0; product < products(group); product += kPair) {
        std::vector<Value> sums;
        for (int i = product; i < std::min(product + kPair, products(group)); ++i) {
          const int half = unit_block * products(group) + i;
          for (int row = 0; row < 2; ++row) sums.push_back(matrix.sum(half / 2, tile, half % 2 * 2 + row));
        }
        b.store_vector(
            own_[group].partial[sums_at(group, count % kSlots, b.constant(unit_block), tile, product, warp)],
            sums);
      }
}

// Adds up what all warps have of this warp's units, always in the same order.
void FragmentGatherProducts::take_over(std::size_t group, Value count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (int own = 0; own < g.p.unit_blocks; ++own)
    for (int tile = 0; tile < g.p.batch_tiles; ++tile)
      for (int product = 0; product < products(group); product += kPair) {
        const int width = std::min(kPair, products(group) - product) * 2;
        const Value unit_block = kernel_.here().warp * g.p.unit_blocks + own;
        std::vector<Value> total;
        for (int warp = 0; warp < g.matrix_warps(); ++warp) {
          const Value from = sums_at(group, count % kSlots, unit_block, tile, product, b.constant(warp));
          std::vector<Value> part = b.load_vector("partial", own_[group].partial[from], width);
          for (int i = 0; warp > 0 && i < width; ++i) part[at(i)] = total[at(i)] + part[at(i)];
          total = std::move(part);
        }
        const int first = ((own * g.p.batch_tiles + tile) * products(group) + product) * 2;
        for (int i = 0; i < width; ++i) b.write(own_[group].sums, b.constant(first + i), total[at(i)]);
      }
}

void FragmentGatherProducts::finish(int level, Value count) {
  multiply(level, count, 0);
  // The computing warps are released first: the others have nothing to do before the next step's words come.
  kernel_.sync_roles(kPartialBarrier, PersistentKernel::Warps::Computing, [&] {
    for (std::size_t group = 0; group < groups_.size(); ++group)
      if (groups_[group].level == level) take_over(group, count);
  });
}

void FragmentGatherProducts::multiply_role() {
  auto& b = kernel_.builder();
  load_own_matrices();
  b.for_("step", b.constant(0), kernel_.threads().walked().steps(), b.constant(1), 1, [&](Value count) {
    for (int level = 0; level < levels_of(groups_); ++level) {
      multiply(level, count, geometry_.p.poll_delay);
      kernel_.sync_roles(kPartialBarrier, PersistentKernel::Warps::Computing);
      b.if_(
          kernel_.here().part == 1, [&] { clear_sent(level, count, true); },
          [&] { clear_sent(level, count, false); });
    }
  });
}

Value FragmentGatherProducts::value(std::size_t group, int product, int channel) const {
  const PersistentGeometry& g = geometry_;
  const int tile = g.unit_of(channel) * g.p.batch_tiles + g.tile_of(channel);
  auto& b = kernel_.builder();
  return b.read(own_[group].sums, b.constant((tile * products(group) + product) * 2 + channel % 2));
}

void FragmentGatherProducts::rearm(int level, Value count) {
  clear_sent(level, count, geometry_.p.split_k == 1);
}

// Every thread that reads the words fences; of those that share units, one clears.
void FragmentGatherProducts::clear_sent(int level, Value count, bool clears) {
  const auto clear = [&](Value slot) {
    const std::vector<Value> absent(word_places_[0].size(), kernel_.builder().constant(kernel::kEmpty));
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (int c = 0; groups_[group].level == level && c < geometry_.channels(); c += 2)
        send(group, slot, c, absent);
  };
  clear_slots(kernel_, ring_, count, clears ? std::function<void(Value)>(clear) : nullptr);
}

}  // namespace rondo::schedule
