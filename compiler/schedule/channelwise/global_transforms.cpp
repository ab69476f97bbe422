#include "compiler/schedule/channelwise/global_transforms.h"

namespace rondo::schedule {

namespace {

constexpr int kWords = 4;  // of a vector

}  // namespace

GlobalTransforms::GlobalTransforms(ChannelThreads& kernel, const TransformTable& table, std::int64_t of_round,
                                   std::int64_t first)
    : kernel_(kernel), builder_(kernel.builder()), table_(table), of_round_(of_round), first_(first) {}

int GlobalTransforms::vectors_of_block(const ScanLanes& lanes) const {
  return table_.entries() * lanes.each / kWords;
}

kernel::Place GlobalTransforms::word(Value round, Value element) {
  auto& b = builder_;
  const Value table = b.wide(kernel_.here().team) * b.wide(kernel_.most_rounds()) + b.wide(round);
  const Value place = first_ == 0 ? element : element + first_;
  return table_.memory[table * of_round_ + b.wide(place)];
}

void GlobalTransforms::send(Value round, const ScanLanes& lanes,
                            const std::vector<AffineTransform>& transforms) {
  for (int pair = 0; pair < table_.entries() / 2; ++pair)
    for (int c = 0; c < lanes.each; c += 2)
      builder_.store_self_flagged(word(round, table_.element(kernel_.here().rank, pair, lanes.first + c)),
                                  side_by_side(transforms, static_cast<std::size_t>(c), pair));
}

// All vectors of a block's pair of entries and two channels are in flight at once, those of all blocks side
// by side: `words_` is [channels / 2, pairs, blocks] vectors.
void GlobalTransforms::await(Value round, const ScanLanes& lanes) {
  auto& b = builder_;
  const int blocks = table_.parts, pairs = table_.entries() / 2;
  words_ = b.array("words", Type::F32, kWords * blocks * vectors_of_block(lanes));
  const Value block_stride = b.constant(table_.elements() / blocks);
  lanes.if_any(b, [&] {
    for (int c = 0; c < lanes.each; c += 2)
      for (int pair = 0; pair < pairs; ++pair)
        b.load_self_flagged(words_, b.constant(kWords * blocks * (c / 2 * pairs + pair)), blocks,
                            word(round, table_.element(b.constant(0), pair, lanes.first + c)), block_stride);
  });
}

std::vector<AffineTransform> GlobalTransforms::transforms(Value, const ScanLanes& lanes, int block) {
  const int blocks = table_.parts, pairs = table_.entries() / 2;
  std::vector<AffineTransform> transforms;
  for (int c = 0; c < lanes.each; ++c) {
    std::vector<Value> words;
    for (int entry = 0; entry < 2 * pairs; ++entry) {
      const int vector = blocks * (c / 2 * pairs + entry / 2) + block;
      const int word = c % 2 * 2 + entry % 2;
      words.push_back(builder_.read(words_, builder_.constant(kWords * vector + word)));
    }
    transforms.push_back(table_.pattern.spread(words));
  }
  return transforms;
}

}  // namespace rondo::schedule
