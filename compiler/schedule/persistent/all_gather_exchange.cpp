// How the vectors of a step reach all blocks of the team: through shared memory of the block, of the cluster,
// or through global memory.
#include <algorithm>

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/schedule/persistent/even_turns.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

std::int64_t AllGatherProducts::slot_words(const PersistentGeometry& geometry, std::size_t groups) {
  return static_cast<std::int64_t>(groups) * geometry.p.batch_tiles * geometry.padded * 4 *
         geometry.row_vectors();
}

void AllGatherProducts::expect_first() {
  if (!geometry_.in_cluster()) return;
  auto& b = kernel_.builder();
  b.comment("what the first two steps will bring");
  b.if_(b.thread() == 0, [&] {
    for (int level = 0; level < levels_of(groups_); ++level) expect(level, {});
  });
}

void AllGatherProducts::expect(int level, Value slot) {
  auto& b = kernel_.builder();
  std::int64_t bytes = 0;
  for (const ProductGroup& group : groups_)
    bytes += group.level == level ? geometry_.element_bytes * exchange_elements() : 0;
  if (slot.valid()) return b.expect(ready_[at(level)], slot, b.constant(bytes));
  for (int first = 0; first < 2; ++first) b.expect(ready_[at(level)], b.constant(first), b.constant(bytes));
}

void AllGatherProducts::publish(std::size_t group, Value count, const std::vector<Value>& values) {
  const PersistentGeometry& g = geometry_;
  const Value slot = count % 2;
  for (int c = 0; c < g.channels(); c += 2) {
    std::vector<Value> packed = packed_rows(kernel_, values, c);
    if (g.in_cluster()) packed = let_words(kernel_, "packed", packed);  // sent more than once
    const Value line = (kernel_.threads().unit_index(g.unit_of(c)) + g.tile_of(c) * g.padded) * 8 +
                       slot * exchange_elements();
    if (g.in_grid())
      send_to_grid(group, count % ring_.slots(), c, packed);
    else if (g.in_cluster())
      send_to_all(kernel_, own_[group].exchange, line, packed, g.p.blocks, ready_[at(groups_[group].level)],
                  slot);
    else
      kernel_.elements().store(own_[group].exchange[line + kernel_.here().quarter * 2], packed);
  }
}

void AllGatherProducts::send_to_grid(std::size_t group, Value slot, int channel,
                                     const std::vector<Value>& packed) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const ChipElements& elements = kernel_.elements();
  const Value place = (kernel_.threads().unit_index(g.unit_of(channel)) + g.tile_of(channel) * g.padded) *
                          elements.row_words() +
                      kernel_.here().quarter * elements.pair_words();
  const std::int64_t first = static_cast<std::int64_t>(group) * elements.words(exchange_elements());
  b.store_self_flagged(ring_.at(kernel_, slot, place + first), packed);
}

// Loads a thread issues to bring its share of the vectors of 16 bytes of a group.
int AllGatherProducts::collect_turns() const {
  return even_turns(geometry_.p.batch_tiles * geometry_.padded * geometry_.row_vectors(), collectors());
}

// The multiplying threads, or those that only multiply, bring a group's vectors from global memory into
// shared memory, 16 bytes at a time, as many of a thread's loads in flight at once as there are registers
// for.
void AllGatherProducts::collect(std::size_t group, Value count) {
  auto& b = kernel_.builder();
  const int turns = collect_turns();
  const int threads = geometry_.p.batch_tiles * geometry_.padded * geometry_.row_vectors() / turns;
  const ChipElements& elements = kernel_.elements();
  const int of_vector = 4 * elements.per_word();
  const Value thread = others_collect() ? b.thread() - 32 * geometry_.warps : b.thread();
  const auto bring = [&] {
    const Value from = thread * 4 + static_cast<std::int64_t>(group) * elements.words(exchange_elements());
    const Value to = thread * of_vector;
    for (int first = 0; first < turns; first += kMostCollected) {
      const int now = std::min(turns - first, kMostCollected);
      b.load_self_flagged(collected_, b.constant(0), now,
                          ring_.at(kernel_, count % ring_.slots(), from + first * threads * 4),
                          b.constant(threads * 4));
      for (int turn = 0; turn < now; ++turn) {
        std::vector<Value> words;
        for (int i = 0; i < 4; ++i) words.push_back(b.read(collected_, b.constant(turn * 4 + i)));
        elements.store(own_[group].exchange[to + (first + turn) * threads * of_vector], words);
      }
    }
  };
  if (threads == collectors()) return bring();
  b.if_(thread < threads, bring);
}

// Where tiles take turns, the vectors of the next one are under way while the computing warps make the
// results of this one. So the others bring them, and multiply them, without waiting for the computing warps.
// All have met for the sums of this tile (kPartialBarrier): nobody reads its vectors any more, and its sums
// have been taken over.
void AllGatherProducts::bring_vectors(int level, Value count) {
  if (!others_collect()) return sync_roles(level, count);
  auto& b = kernel_.builder();
  for (std::size_t group = 0; group < groups_.size(); ++group)
    if (groups_[group].level == level) collect(group, count);
  b.named_barrier(kStepBarrier, collectors());
  b.named_barrier(kCollectBarrier, geometry_.multiplying(), false);
}

void AllGatherProducts::await_vectors(int level, Value count) {
  if (!others_collect()) return sync_roles(level, count);
  kernel_.builder().named_barrier(kCollectBarrier, geometry_.multiplying());
}

// All warps multiply next. The warps that only multiply are released first: they must then hand over their
// sums, for which the computing warps wait.
void AllGatherProducts::sync_roles(int level, Value count) {
  auto& b = kernel_.builder();
  constexpr auto kFirst = PersistentKernel::Warps::Multiplying;
  if (geometry_.in_grid()) {
    // After this barrier all warps have read the vectors of the step before. Where sums are handed over the
    // warps have met since then anyway. But without this barrier the warps that only multiply would poll for
    // words long before there are any, and get in the way of the computing warps (1.5% of a step of LSTM with
    // 2048 units, 4 to 5% of sLSTM with 768, on an H200).
    kernel_.sync_roles(kStepBarrier, kFirst);
    for (std::size_t group = 0; group < groups_.size(); ++group)
      if (groups_[group].level == level) collect(group, count);
    return kernel_.sync_roles(kCollectBarrier, kFirst);
  }
  if (!geometry_.in_cluster()) return kernel_.sync_roles(kStepBarrier, kFirst);
  b.wait(ready_[at(level)], count % 2, count / 2 % 2);
}

// Early bytes are safe: the phase completes only after expect_tx, its sole arrival (PTX ISA, mbarrier,
// tx-count).
void AllGatherProducts::rearm(int level, Value count) {
  if (geometry_.in_grid()) return clear_sent(level, count, geometry_.p.split_k == 1);
  if (!geometry_.in_cluster()) return;
  auto& b = kernel_.builder();
  b.if_(b.thread() == 0, [&] { expect(level, count % 2); });
}

// Every thread that reads the words fences; of those that share columns, one clears.
void AllGatherProducts::clear_sent(int level, Value count, bool clears) {
  const std::vector<Value> absent(at(kernel_.elements().pair_words()),
                                  kernel_.builder().constant(kernel::kEmpty));
  const auto clear = [&](Value slot) {
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (int c = 0; groups_[group].level == level && c < geometry_.channels(); c += 2)
        send_to_grid(group, slot, c, absent);
  };
  clear_slots(kernel_, ring_, count, clears ? std::function<void(Value)>(clear) : nullptr);
}

}  // namespace rondo::schedule
