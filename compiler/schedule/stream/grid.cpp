#include "compiler/schedule/stream/grid.h"

namespace rondo::schedule {

using kernel::Type;
using kernel::Value;

namespace {

constexpr int kWords = 4;  // of a vector

}  // namespace

GridMaps::GridMaps(StreamKernel& kernel, const StreamParameters& parameters, int states)
    : kernel_(kernel), builder_(kernel.builder()) {
  table_ = {kernel.signature().writes({Role::Exchange, -1}).memory,
            parameters.time_split,
            states,
            parameters.channels,
            {}};
}

int GridMaps::vectors_of_block(const CarryLanes& lanes) const {
  return MapTable::entries(table_.states) * lanes.each / kWords;
}

kernel::Place GridMaps::word(Value round, Value element) {
  auto& b = builder_;
  const Value table = b.wide(kernel_.team()) * b.wide(kernel_.rounds()) + b.wide(round);
  return table_.memory[table * table_.elements() + b.wide(element)];
}

void GridMaps::send(Value round, const CarryLanes& lanes, const std::vector<FlatMap>& maps) {
  for (int pair = 0; pair < MapTable::entries(table_.states) / 2; ++pair)
    for (int c = 0; c < lanes.each; c += 2)
      builder_.store_flagged(word(round, table_.element(kernel_.rank(), pair, lanes.first + c)),
                             side_by_side(maps, static_cast<std::size_t>(c), pair));
}

// All vectors of a block's pair of entries and two channels are in flight at once, those of all blocks side
// by side: `words_` is [channels / 2, pairs, blocks] vectors.
void GridMaps::await(Value round, const CarryLanes& lanes) {
  auto& b = builder_;
  const int blocks = table_.parts, pairs = MapTable::entries(table_.states) / 2;
  words_ = b.array("words", Type::F32, kWords * blocks * vectors_of_block(lanes));
  const Value block_stride = b.constant(table_.elements() / blocks);
  lanes.if_any(b, [&] {
    for (int c = 0; c < lanes.each; c += 2)
      for (int pair = 0; pair < pairs; ++pair)
        b.load_flagged(words_, b.constant(kWords * blocks * (c / 2 * pairs + pair)), blocks,
                       word(round, table_.element(b.constant(0), pair, lanes.first + c)), block_stride);
  });
}

std::vector<FlatMap> GridMaps::maps(Value, const CarryLanes& lanes, int block) {
  const int blocks = table_.parts, pairs = MapTable::entries(table_.states) / 2;
  std::vector<FlatMap> maps(static_cast<std::size_t>(lanes.each));
  for (int c = 0; c < lanes.each; ++c)
    for (int entry = 0; entry < 2 * pairs; ++entry) {
      const int vector = blocks * (c / 2 * pairs + entry / 2) + block;
      const int word = c % 2 * 2 + entry % 2;
      maps[static_cast<std::size_t>(c)].push_back(
          builder_.read(words_, builder_.constant(kWords * vector + word)));
    }
  return maps;
}

}  // namespace rondo::schedule
