// How the sums of a step reach the blocks that own their channels: through the shared memory of the cluster,
// or through global memory. Parts are rounded to the storage type on the way; a total's error is then that of
// one rounding, as independent errors add up as their squares do.

#include "compiler/schedule/persistent/reduce_scatter.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

std::int64_t ReduceScatterProducts::slot_words(const PersistentGeometry& geometry, std::size_t sums) {
  return static_cast<std::int64_t>(sums) * geometry.p.batch_tiles * geometry.padded * geometry.senders() * 4 *
         geometry.row_vectors();
}

// A thread sums what some of the senders have sent for one channel; a power of two that divides them, so that
// every thread has as many.
int ReduceScatterProducts::collect_lines(const PersistentGeometry& geometry) {
  int lines = 1;
  while (lines < kMostLines && geometry.senders() % (2 * lines) == 0 &&
         2 * lines * geometry.units <= 32 * geometry.matrix_warps())
    lines *= 2;
  return lines;
}

void ReduceScatterProducts::expect_first() {
  if (ready_.empty() && gathered_.empty()) return;
  auto& b = kernel_.builder();
  b.comment("what the first two steps will bring");
  b.if_(b.thread() == 0, [&] {
    for (int level = 0; level < levels_of(groups_); ++level)
      for (int slot = 0; slot < 2; ++slot) expect(level, b.constant(slot));
  });
}

void ReduceScatterProducts::expect(int level, Value slot) {
  auto& b = kernel_.builder();
  std::int64_t sums = 0, vectors = 0;
  for (const std::size_t sum : of_level(level)) {
    sums += std::int64_t{geometry_.p.batch_tiles} * geometry_.padded * 8 * geometry_.element_bytes;
    vectors += own_[sum].elements * geometry_.element_bytes;
  }
  if (!ready_.empty()) b.expect(ready_[at(level)], slot, b.constant(sums));
  if (!gathered_.empty()) b.expect(gathered_[at(level)], slot, b.constant(vectors));
}

void ReduceScatterProducts::rearm(int level, Value count) {
  auto& b = kernel_.builder();
  if (ready_.empty() && gathered_.empty()) return;
  b.if_(b.thread() == 0, [&] { expect(level, count % 2); });
}

void ReduceScatterProducts::clear_sent(int level, Value count) {
  clear_slots(kernel_, ring_, count, [&](Value slot) {
    for (const std::size_t sum : of_level(level)) send_to_grid(sum, slot, true);
  });
}

Value ReduceScatterProducts::multiplying_thread() const {
  return kernel_.builder().thread() - 32 * geometry_.warps;
}

Value ReduceScatterProducts::row_share() const {
  if (geometry_.p.cluster_k_split == 1) return kernel_.threads().matrix_warp();
  return kernel_.here().rank % geometry_.p.cluster_k_split * geometry_.matrix_warps() +
         kernel_.threads().matrix_warp();
}

Value ReduceScatterProducts::block_of_rows(Value piece) const {
  return row_share() * (2 * geometry_.sum_tiles()) + piece / geometry_.p.batch_tiles;
}

// This lane's row and pair of batch rows.
std::vector<Value> ReduceScatterProducts::packed(std::size_t sum, int piece) const {
  const int half = piece / geometry_.p.batch_tiles, tile = piece % geometry_.p.batch_tiles;
  const OnChipMatrix& matrix = own_[sum].matrix;
  return kernel_.elements().pack(matrix.sum(half / 2, tile, half % 2 * 2),
                                 matrix.sum(half / 2, tile, half % 2 * 2 + 1));
}

void ReduceScatterProducts::send_to_cluster(std::size_t sum, Value slot) {
  for (int first = 0; first < pieces();) {
    const int count = pieces() - first >= 4 ? 4 : 2;
    send_pieces(sum, slot, first, count);
    first += count;
  }
}

// Neighbouring lanes hold the pairs of a row. They are transposed between two or four lanes, so that each
// lane sends neighbouring pairs of one piece.
void ReduceScatterProducts::send_pieces(std::size_t sum, Value slot, int first, int count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const Value lane = kernel_.here().quarter % count;
  std::vector<std::vector<Value>> words;
  for (int piece = 0; piece < count; ++piece)
    words.push_back(let_words(kernel_, "word", packed(sum, first + piece)));
  for (int apart = 1; apart < count; apart *= 2) {
    const Value upper = b.let("upper", lane / apart % 2 == 1);
    for (int low = 0; low < count; ++low) {
      if (low / apart % 2 == 1) continue;
      for (std::size_t word = 0; word < words[at(low)].size(); ++word) {
        Value &a = words[at(low)][word], &z = words[at(low + apart)][word];
        const Value other =
            b.shuffle("word", b.select(upper, a, z), kernel::ShuffleMode::Xor, b.constant(apart));
        const Value next = b.let("word", b.select(upper, other, a));
        z = b.let("word", b.select(upper, z, other));
        a = next;
      }
    }
  }
  std::vector<Value> row;
  for (const std::vector<Value>& of_lane : words) row.insert(row.end(), of_lane.begin(), of_lane.end());
  const Value piece = lane + first;
  const Value rows = b.let("rows", block_of_rows(piece));
  const Value unit = rows % (g.units / 8) * 8 + kernel_.here().group;
  const Value line =
      ((slot * g.p.batch_tiles + piece % g.p.batch_tiles) * g.p.blocks + kernel_.here().rank) * g.units;
  const Value place = (line + unit) * 8 + kernel_.here().quarter / count * (2 * count);
  if (g.in_cluster())
    return send_words(kernel_, own_[sum].parts, place, row, rows / (g.units / 8),
                      ready_[at(sums_[sum].level)], slot);
  const ChipElements& elements = kernel_.elements();
  const int size = static_cast<int>(row.size()), together = std::min(4, size);
  for (int word = 0; word < size; word += together)
    elements.store(own_[sum].parts[place + word * elements.per_word()],
                   {row.begin() + word, row.begin() + word + together});
}

void ReduceScatterProducts::send_to_grid(std::size_t sum, Value slot, bool absent) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const auto sums = static_cast<std::int64_t>(sums_.size());
  const int vectors = g.row_vectors();
  for (int piece = 0; piece < pieces(); ++piece) {
    const Value rows = block_of_rows(b.constant(piece));
    const Value unit = rows % (g.units / 8) * 8 + kernel_.here().group;
    const Value block = rows / (g.units / 8);
    // A lane's pair is part of one of the row's vectors of 16 bytes.
    Value vector = block * sums + static_cast<std::int64_t>(sum);
    Value part = kernel_.here().quarter;
    if (vectors > 1) {
      vector = vector * vectors + part / (4 / vectors);
      part = part % (4 / vectors) * vectors;
    }
    const Value line = (vector * g.p.batch_tiles + piece % g.p.batch_tiles) * g.senders() +
                       kernel_.here().rank / g.p.cluster_k_split;
    const Value word = (line * g.units + unit) * 4 + part;
    const std::vector<Value> none(at(vectors), b.constant(kernel::kEmpty));
    b.store_self_flagged(ring_.at(kernel_, slot, word),
                         absent ? none : let_words(kernel_, "word", packed(sum, piece)));
  }
}

// The multiplying threads bring what all blocks have sent, 16 bytes of a channel, batch tile and block at a
// time, all of a thread's loads in flight at once, and leave the sums of some blocks each in shared memory.
void ReduceScatterProducts::collect(int level, Value count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const std::vector<std::size_t> sums = of_level(level);
  const int lines = collect_lines(g);
  const int threads = lines * g.units;
  const int turns = g.senders() / lines;  // for each sum and batch tile
  const auto bring = [&] {
    const auto all = static_cast<std::int64_t>(sums_.size());
    const Value first = (kernel_.here().rank * all + static_cast<std::int64_t>(sums[0])) *
                        (std::int64_t{g.row_vectors()} * g.p.batch_tiles * g.senders() * g.units * 4);
    const int every = static_cast<int>(sums.size()) * g.row_vectors() * g.p.batch_tiles * turns;
    b.load_self_flagged(collected_, b.constant(0), every,
                        ring_.at(kernel_, count % ring_.slots(), first + multiplying_thread() * 4),
                        b.constant(threads * 4), false, g.p.poll_delay);
    for (std::size_t sum = 0; sum < sums.size(); ++sum)
      for (int tile = 0; tile < g.p.batch_tiles; ++tile)
        add_lines(sums[sum], tile, static_cast<int>(sum), turns);
  };
  if (threads == 32 * g.matrix_warps())
    bring();
  else
    b.if_(multiplying_thread() < threads, bring);
}

void ReduceScatterProducts::add_lines(std::size_t sum, int tile, int place, int turns) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int of_vector = 8 / g.row_vectors();  // rows of the tile
  std::vector<Value> totals;
  for (int row = 0; row < 8; ++row) {
    Value total;
    for (int turn = 0; turn < turns; ++turn) {
      const int line = (place * g.row_vectors() + row / of_vector) * g.p.batch_tiles + tile;
      const int pair = ((line * turns + turn) * of_vector + row % of_vector) / 2;
      const Value part = kernel_.elements().element(collected_, pair, row % 2 == 1);
      total = total.valid() ? total + part : part;
    }
    totals.push_back(b.let("total", total));
  }
  const Value line = (multiplying_thread() + tile * collect_lines(g) * g.units) * 8;
  for (int half = 0; half < 2; ++half)
    b.store_vector(own_[sum].lines[line + half * 4],
                   {totals.begin() + half * 4, totals.begin() + half * 4 + 4});
}

void ReduceScatterProducts::total_of_cluster(std::size_t sum, Value slot) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  own_[sum].totals.clear();
  for (int c = 0; c < g.channels(); c += 2) {
    const Value line = (slot * g.p.batch_tiles + g.tile_of(c)) * g.p.blocks;
    const Value low = b.variable("total", b.real(0)), high = b.variable("total", b.real(0));
    b.for_("sender", 0, g.p.blocks, kernel::kFullUnroll, [&](Value sender) {
      const Value place = ((line + sender) * g.units + kernel_.threads().block_unit(g.unit_of(c))) * 8;
      const ChipElements& elements = kernel_.elements();
      const std::vector<Value> words =
          elements.load("part", own_[sum].parts[place + kernel_.here().quarter * 2], elements.pair_words());
      b.assign(low, low + elements.element(words, 0));
      b.assign(high, high + elements.element(words, 1));
    });
    own_[sum].totals.insert(own_[sum].totals.end(), {low, high});
  }
}

void ReduceScatterProducts::total_of_grid(std::size_t sum) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int lines = collect_lines(g);
  own_[sum].totals.clear();
  for (int c = 0; c < g.channels(); c += 2) {
    const Value low = b.variable("total", b.real(0)), high = b.variable("total", b.real(0));
    b.for_("line", 0, lines, kernel::kFullUnroll, [&](Value line) {
      const Value place =
          ((line + g.tile_of(c) * lines) * g.units + kernel_.threads().block_unit(g.unit_of(c))) * 8 +
          kernel_.here().quarter * 2;
      const std::vector<Value> parts = b.load_vector("part", own_[sum].lines[place], 2);
      b.assign(low, low + parts[0]);
      b.assign(high, high + parts[1]);
    });
    own_[sum].totals.insert(own_[sum].totals.end(), {low, high});
  }
}

}  // namespace rondo::schedule
