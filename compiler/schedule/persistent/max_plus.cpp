// Products over max and plus of a matrix that lies on the chip. Its words are those of an A operand of mma.
// Each lane holds rows g and g + 8 of a row tile at a quarter of the warp's columns, and keeps the largest
// sum of each row for all 8 batch rows of a tile. Then the four lanes of a row exchange what they have: each
// ends with the two batch rows of its accumulator of mma. Backward no matrix is read: the lane that has a
// channel's sums adds the gradients of those that have chosen it.
#include "compiler/schedule/lower/product_terms.h"
#include "compiler/schedule/persistent/matrix.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Memory;

void OnChipMatrix::take_largest(const Memory& vector, Value from, std::int64_t tile_pitch) {
  auto& b = kernel_.builder();
  b.for_("i", 0, row_tiles_ * geometry_.p.batch_tiles * 16, kernel::kFullUnroll,
         [&](Value i) { b.write(largest_, i, b.real(neutral(kind_))); });
  const Value first = b.let("from_slot", from);
  const auto tiles = [&](int begin, int end, int unroll, Home home) {
    if (begin < end)
      b.for_("k", begin, end, unroll,
             [&](Value k) { take_largest_of_tile(vector, first, tile_pitch, k, home); });
  };
  tiles(0, resident_, kernel::kFullUnroll, Home::Registers);
  tiles(resident_, k_tiles_, 1, Home::Shared);
  join_lanes();
}

// Eight batch rows of a channel.
std::vector<Value> OnChipMatrix::batch_rows(const Memory& vector, Value from) {
  const ChipElements& elements = kernel_.elements();
  std::vector<Value> rows;
  for (int first = 0; first < 8; first += 4 * elements.per_word()) {
    const std::vector<Value> words = elements.load("v", vector[from + first], 4);
    for (int i = 0; i < 4 * elements.per_word(); ++i)
      rows.push_back(kernel_.builder().let("v", elements.element(words, i)));
  }
  return rows;
}

void OnChipMatrix::take_largest_of_tile(const Memory& vector, Value from, std::int64_t tile_pitch, Value k,
                                        Home home) {
  auto& b = kernel_.builder();
  const ChipElements& elements = kernel_.elements();
  std::vector<std::vector<Value>> matrix(at(row_tiles_));
  for (int tile = 0; tile < row_tiles_; ++tile)
    for (int word = 0; word < words(); word += 4) {
      std::vector<Value> parts;
      if (home == Home::Shared)
        parts = elements.load("piece", shared_[place(tile, k - resident_, word / 4)], 4);
      else
        for (int i = 0; i < 4; ++i)
          parts.push_back(b.read(fragments_, k * words() + (tile * resident_ * words() + word + i)));
      matrix[at(tile)].insert(matrix[at(tile)].end(), parts.begin(), parts.end());
    }
  for (int batch = 0; batch < geometry_.p.batch_tiles; ++batch)
    for (int word = 0; word < words(); word += 2)
      for (int e = 0; e < elements.per_word(); ++e) {
        const Value channel = k * 16 + elements.column(word) + e;
        const std::vector<Value> rows = batch_rows(vector, from + channel * 8 + batch * tile_pitch);
        for (int half = 0; half < 2 * row_tiles_; ++half) {
          const Value r = b.let("r", elements.element({matrix[at(half / 2)][at(word + half % 2)]}, e));
          const int first = ((half / 2 * geometry_.p.batch_tiles + batch) * 2 + half % 2) * 8;
          for (int row = 0; row < 8; ++row) {
            const Value largest = b.constant(first + row);
            b.write(largest_, largest, with_term(b, kind_, b.read(largest_, largest), r, rows[at(row)]));
          }
        }
      }
}

// First lanes two apart exchange four batch rows, then neighbours two: lane q keeps rows 2q and 2q + 1.
void OnChipMatrix::join_lanes() {
  auto& b = kernel_.builder();
  const Value high = b.let("has_high_rows", kernel_.here().quarter >= 2);
  const Value odd = b.let("has_odd_rows", kernel_.here().quarter % 2 == 1);
  const auto halve = [&](const std::vector<Value>& all, Value upper, int apart) {
    const std::size_t half = all.size() / 2;
    std::vector<Value> kept;
    for (std::size_t i = 0; i < half; ++i) {
      const Value other = b.shuffle("of_other_columns", b.select(upper, all[i], all[i + half]),
                                    kernel::ShuffleMode::Xor, b.constant(apart));
      kept.push_back(b.let("kept", joined(b, kind_, b.select(upper, all[i + half], all[i]), other)));
    }
    return kept;
  };
  for (int tile = 0; tile < row_tiles_; ++tile)
    for (int batch = 0; batch < geometry_.p.batch_tiles; ++batch)
      for (int half = 0; half < 2; ++half) {
        const int first = ((tile * geometry_.p.batch_tiles + batch) * 2 + half) * 8;
        std::vector<Value> rows;
        for (int row = 0; row < 8; ++row) rows.push_back(b.read(largest_, b.constant(first + row)));
        rows = halve(halve(rows, high, 2), odd, 1);
        for (int side = 0; side < 2; ++side)
          b.write(accumulators_, b.constant(accumulator(tile, batch, 0) + 2 * half + side), rows[at(side)]);
      }
}

void OnChipMatrix::add_chosen(const Rows& vector, const Rows& chosen, int columns, Value first_row) {
  auto& b = kernel_.builder();
  const ChipElements& elements = kernel_.elements();
  const Value own = b.let("own_channel", b.to_real(first_row + kernel_.here().group));
  const Value pair = kernel_.here().quarter * 2;
  b.for_("column", 0, columns, 2, [&](Value column) {
    for (int batch = 0; batch < geometry_.p.batch_tiles; ++batch) {
      const auto place = [&](const Rows& rows) {
        return rows.memory[rows.first + column * 8 + pair + batch * rows.tile_pitch];
      };
      const std::vector<Value> words = elements.load("v", place(vector), elements.pair_words());
      const std::vector<Value> channels = b.load_vector("chosen", place(chosen), 2);
      for (int side = 0; side < 2; ++side) {
        const Value value = b.let("v", elements.element(words, side));
        const Value row = b.let("chosen_row", channels[at(side)] - own);
        for (int half = 0; half < 2 * all_sum_tiles_; ++half) {
          const Value sum = b.constant(accumulator(half / 2, batch, 0) + half % 2 * 2 + side);
          b.write(accumulators_, sum,
                  with_chosen(b, b.read(accumulators_, sum), row, b.real(8 * half), value));
        }
      }
    }
  });
}

}  // namespace rondo::schedule
