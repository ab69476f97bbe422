#include "compiler/schedule/persistent/fragment_gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

FragmentGatherProducts::FragmentGatherProducts(PersistentKernel& kernel, const Task& task,
                                               const step::StepGraph& step,
                                               const std::vector<ProductGroup>& groups,
                                               const std::vector<ProductSum>& sums, std::int64_t other_words)
    : kernel_(kernel),
      problem_(task.problem),
      geometry_(kernel.geometry()),
      step_(step),
      groups_(groups),
      reads_(read_inputs(task.cell, step.graph, groups, kernel.geometry())),
      levels_(at(levels_of(groups))),
      source_(kernel, task.problem),
      ring_(AllGatherProducts::slot_words(kernel.geometry(),
                                          static_cast<std::size_t>(std::ranges::count(reads_, false))) +
                other_words,
            1) {
  for (ProductSum& row : product_rows(sums)) levels_[at(row.level)].rows.push_back(std::move(row));
}

int FragmentGatherProducts::vectors_of_tile() const {
  return geometry_.k_tiles_of_warp() / kernel_.elements().vector_k_tiles();
}

FragmentGatherProducts::Group FragmentGatherProducts::group_of(std::size_t number) {
  const ProductGroup& group = groups_[number];
  const std::vector<ProductSum>& rows = levels_[at(group.level)].rows;
  std::vector<int> product_of_row, tiles;
  for (const ProductSum& row : rows) {
    const auto term = std::ranges::find(row.terms, number, &ProductSum::Term::group);
    product_of_row.push_back(term == row.terms.end() ? -1 : term->product);
  }
  const int halves = static_cast<int>(rows.size()) * block_units();
  const auto has = [&](int half) { return half < halves && product_of_row[at(half) % rows.size()] >= 0; };
  const int all = geometry_.row_tiles(static_cast<int>(rows.size()));
  for (int tile = 0; tile < all; ++tile)
    if (has(2 * tile) || has(2 * tile + 1)) tiles.push_back(tile);
  Group own{{kernel_, problem_, static_cast<int>(tiles.size()), geometry_.k_tiles_of_warp()},
            tiles,
            product_of_row,
            nullptr};
  own.matrix.add_to(std::move(tiles), all);
  if (reads_[number])
    own.input = std::make_unique<InputFragments>(kernel_, step_.graph.at(group.vector), vectors_of_tile());
  return own;
}

void FragmentGatherProducts::declare() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const int level = groups_[group].level;
    own_.push_back(group_of(group));
    own_.back().matrix.declare(group);
    if (own_.back().input) own_.back().input->declare();
    if (&first_of(level) == &own_.back())
      levels_[at(level)].partial =
          b.shared(fmt::format("partial_{}", group), kernel::Storage::F32, kSlots * slot_sums(level),
                   fmt::format("[slots {}, unit blocks {}, batch tiles {}, products {} in pairs, "
                               "warps {}, lanes 32, 2 of each]",
                               kSlots, block_units(), g.p.batch_tiles, rows(level), g.matrix_warps()));
  }
  source_.declare(groups_);
  ring_.declare(kernel_);
}

const FragmentGatherProducts::Group& FragmentGatherProducts::first_of(int level) const {
  const auto first = std::ranges::find(groups_, level, &ProductGroup::level);
  return own_[at(first - groups_.begin())];
}

// Even words of an A operand are row g, odd ones row g + 8. The 16 rows are two of the level's [unit
// block][sum] of 8 rows; an odd last one stands alone. A warp's first k-tile begins a vector.
Value FragmentGatherProducts::fragment(std::size_t group, int tile, Value k, int i) {
  const int count = rows(groups_[group].level);
  const int half = 2 * own_[group].tiles[at(tile)] + i % 2;
  const int product = half < count * block_units() ? own_[group].product_of_row[at(half % count)] : -1;
  if (product < 0) return kernel_.elements().zero();
  const Value unit = kernel_.here().first_unit + (kernel_.here().group + half / count * 8);
  const ChipElements& elements = kernel_.elements();
  const int together = elements.vector_k_tiles();
  return source_.word(groups_[group].products[at(product)], unit,
                      k / together * (16 * together) + elements.fragment_column(k, i));
}

void FragmentGatherProducts::load_matrices() {
  auto& b = kernel_.builder();
  load_own_matrices();
  for (std::size_t group = 0; group < groups_.size(); ++group)
    if (const int level = groups_[group].level; &first_of(level) == &own_[group])
      levels_[at(level)].sums =
          b.array(fmt::format("product_sums_{}", group), Type::F32, rows(level) * geometry_.channels());
}

void FragmentGatherProducts::load_own_matrices() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  b.comment("the matrices, for all of time");
  const Value first = kernel_.threads().matrix_warp() * g.k_tiles_of_warp();
  bool outside = false;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& sums_of = first_of(groups_[i].level);
    own_[i].matrix.load(
        i, [&](int tile, Value k, int word) { return fragment(i, tile, first + k, word); },
        &sums_of == &own_[i] ? nullptr : &sums_of.matrix);
    outside = outside || own_[i].matrix.outside_registers();
  }
  const Type word = kernel_.elements().type();
  if (outside) scratch_.piece = b.array("matrix_piece", word, kernel_.elements().matrix_words());
  vectors_ = b.array("vector_now", word, 4 * g.p.batch_tiles * vectors_of_tile());
  place_words();
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (own_[i].input)
      own_[i].input->begin(fmt::format("input_{}", i), kernel_.threads().matrix_warp() * vectors_of_tile());
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

std::int64_t FragmentGatherProducts::before(std::size_t group) const {
  const auto sent =
      std::ranges::count(reads_.begin(), reads_.begin() + static_cast<std::ptrdiff_t>(group), false);
  return sent * kernel_.elements().words(std::int64_t{geometry_.turn_batch} * geometry_.padded);
}

void FragmentGatherProducts::send(std::size_t group, Value slot, int channel,
                                  const std::vector<Value>& words) {
  const PersistentGeometry& g = geometry_;
  const std::int64_t first = before(group) + std::int64_t{g.tile_of(channel)} * vectors_of_tile() * 128;
  const std::vector<Value>& places = word_places_[at(g.unit_of(channel))];
  for (std::size_t i = 0; i < words.size(); ++i)
    kernel_.builder().store_self_flagged(ring_.at(kernel_, slot, places[i] + first), {words[i]});
}

void FragmentGatherProducts::publish(std::size_t group, Value count, const std::vector<Value>& values) {
  for (int c = 0; c < geometry_.channels(); c += 2) {
    const TwoRows rows = rows_of_unit(kernel_, values, c);
    send(group, count % ring_.slots(), c, kernel_.elements().fragment_words_of(rows.low, rows.high));
  }
}

bool FragmentGatherProducts::has_inputs(int level) const {
  return std::ranges::any_of(own_, [&](const Group& own) {
    return own.input != nullptr && groups_[at(&own - own_.data())].level == level;
  });
}

// The products of the rows of inputs, which wait for no block.
void FragmentGatherProducts::multiply_inputs(int level) {
  bool adds = false;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].level != level || !own_[group].input) continue;
    own_[group].matrix.multiply(own_[group].input->words(), scratch_, adds);
    adds = true;
  }
}

// This warp's k-tiles of the other vectors of a level, by all rows of the block. `rest`: cycles before the
// first look for words.
void FragmentGatherProducts::multiply_sent(int level, Value count, int rest) {
  auto& b = kernel_.builder();
  const int vectors = geometry_.p.batch_tiles * vectors_of_tile();
  bool adds = has_inputs(level);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group].level != level || own_[group].input) continue;
    const Value from =
        kernel_.threads().matrix_warp() * (vectors * 128) + kernel_.here().lane * 4 + before(group);
    b.load_self_flagged(vectors_, b.constant(0), vectors, ring_.at(kernel_, count % ring_.slots(), from),
                        b.constant(128), false, rest);
    own_[group].matrix.multiply(vectors_, scratch_, adds);
    rest = 0;
    adds = true;
  }
  // Loads come back in order: before the looks for words they would be in their way, which takes an LSTM of
  // 768 channels 0.26 us a step on an H200.
  for (std::size_t group = 0; group < groups_.size(); ++group)
    if (groups_[group].level == level && own_[group].input) own_[group].input->load_next(count);
  hand_over(level, count);
}

std::int64_t FragmentGatherProducts::slot_sums(int level) const {
  return std::int64_t{block_units()} * geometry_.p.batch_tiles * rows(level) * geometry_.matrix_warps() * 64;
}

// `row`: the first of its pair.
Value FragmentGatherProducts::sums_at(int level, Value slot, Value unit_block, int batch_tile, int row,
                                      Value warp) const {
  const int of_row = geometry_.matrix_warps() * 64;
  const int width = row + 1 < rows(level) ? 2 * kPair : 2;
  const Value tile = (unit_block * geometry_.p.batch_tiles + batch_tile) * (rows(level) * of_row);
  return slot * slot_sums(level) + tile + row * of_row + warp * (32 * width) + kernel_.here().lane * width;
}

void FragmentGatherProducts::hand_over(int level, Value count) {
  auto& b = kernel_.builder();
  const OnChipMatrix& matrix = first_of(level).matrix;
  const Value warp = kernel_.threads().matrix_warp();
  for (int unit_block = 0; unit_block < block_units(); ++unit_block)
    for (int tile = 0; tile < geometry_.p.batch_tiles; ++tile)
      for (int row = 0; row < rows(level); row += kPair) {
        std::vector<Value> sums;
        for (int i = row; i < std::min(row + kPair, rows(level)); ++i) {
          const int half = unit_block * rows(level) + i;
          for (int batch = 0; batch < 2; ++batch)
            sums.push_back(matrix.sum(half / 2, tile, half % 2 * 2 + batch));
        }
        const Value to = sums_at(level, count % kSlots, b.constant(unit_block), tile, row, warp);
        b.store_vector(levels_[at(level)].partial[to], sums);
      }
}

// Adds up what all warps have of this warp's units, always in the same order.
void FragmentGatherProducts::take_over(int level, Value count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (int own = 0; own < g.p.unit_blocks; ++own)
    for (int tile = 0; tile < g.p.batch_tiles; ++tile)
      for (int row = 0; row < rows(level); row += kPair) {
        const int width = std::min(kPair, rows(level) - row) * 2;
        const Value unit_block = kernel_.here().warp * g.p.unit_blocks + own;
        std::vector<Value> total;
        for (int warp = 0; warp < g.matrix_warps(); ++warp) {
          const Value from = sums_at(level, count % kSlots, unit_block, tile, row, b.constant(warp));
          std::vector<Value> part = b.load_vector("partial", levels_[at(level)].partial[from], width);
          for (int i = 0; warp > 0 && i < width; ++i) part[at(i)] = total[at(i)] + part[at(i)];
          total = std::move(part);
        }
        const int first = ((own * g.p.batch_tiles + tile) * rows(level) + row) * 2;
        for (int i = 0; i < width; ++i) b.write(levels_[at(level)].sums, b.constant(first + i), total[at(i)]);
      }
}

void FragmentGatherProducts::finish(int level, Value count) {
  multiply_sent(level, count, 0);
  // The computing warps are released first: the others have nothing to do before the next step's words come.
  kernel_.sync_roles(kPartialBarrier, PersistentKernel::Warps::Computing, [&] { take_over(level, count); });
}

void FragmentGatherProducts::multiply_role() {
  auto& b = kernel_.builder();
  load_own_matrices();
  b.for_("step", b.constant(0), kernel_.threads().walked().steps(), b.constant(1), 1, [&](Value count) {
    for (int level = 0; level < levels_of(groups_); ++level) {
      multiply_inputs(level);
      multiply_sent(level, count, geometry_.p.poll_delay);
      kernel_.sync_roles(kPartialBarrier, PersistentKernel::Warps::Computing);
      b.if_(
          kernel_.here().part == 1, [&] { clear_sent(level, count, true); },
          [&] { clear_sent(level, count, false); });
    }
  });
}

// The first product of a row stands for all of its sum (ProductSum).
Value FragmentGatherProducts::value(std::size_t group, int product, int channel) const {
  const PersistentGeometry& g = geometry_;
  auto& b = kernel_.builder();
  const int level = groups_[group].level;
  const std::vector<int>& products = own_[group].product_of_row;
  const auto row = static_cast<int>(std::ranges::find(products, product) - products.begin());
  const ProductSum::Term& first = levels_[at(level)].rows[at(row)].terms.front();
  if (first.group != group) return b.real(-0.0);
  const int tile = g.unit_of(channel) * g.p.batch_tiles + g.tile_of(channel);
  return b.read(levels_[at(level)].sums, b.constant((tile * rows(level) + row) * 2 + channel % 2));
}

void FragmentGatherProducts::rearm(int level, Value count) {
  clear_sent(level, count, geometry_.p.split_k == 1);
}

// Every thread that reads the words fences; of those that share units, one clears.
void FragmentGatherProducts::clear_sent(int level, Value count, bool clears) {
  const auto clear = [&](Value slot) {
    const std::vector<Value> absent(word_places_[0].size(), kernel_.builder().constant(kernel::kEmpty));
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (int c = 0; groups_[group].level == level && !reads_[group] && c < geometry_.channels(); c += 2)
        send(group, slot, c, absent);
  };
  clear_slots(kernel_, ring_, count, clears ? std::function<void(Value)>(clear) : nullptr);
}

}  // namespace rondo::schedule
