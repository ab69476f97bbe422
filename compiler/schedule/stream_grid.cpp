#include "compiler/schedule/stream_grid.h"

#include <fmt/format.h>

#include "compiler/schedule/even_turns.h"

namespace rondo::schedule {

using kernel::Type;
using kernel::Value;

namespace {

constexpr int kWords = 4;                  // of a vector
constexpr std::int32_t kNan = 0x7fffffff;  // what arithmetic makes (CUDA guide, floating-point standard)

}  // namespace

GridMaps::GridMaps(StreamKernel& kernel, const StreamParameters& parameters, int states)
    : kernel_(kernel), builder_(kernel.builder()), parameters_(parameters) {
  const int blocks = parameters.cluster;
  table_ = {{}, blocks, states, parameters.channels, {}};
  table_.memory = builder_.shared("block_maps", kernel::Storage::F32, table_.elements(),
                                  fmt::format("[blocks {}, entries {}, channels {}, 2]", blocks,
                                              MapTable::entries(states) / 2, parameters.channels));
  sent_ = kernel.signature().writes({Role::Exchange, -1});
  turns_ = even_turns(static_cast<int>(table_.elements() / kWords), parameters.computing());
}

void GridMaps::begin() { collected_ = builder_.array("collected", Type::I32, kWords * turns_); }

kernel::Place GridMaps::word(Value round, Value element) {
  auto& b = builder_;
  const Value table = b.wide(kernel_.team()) * b.wide(kernel_.rounds()) + b.wide(round);
  return sent_.memory[table * table_.elements() + b.wide(element)];
}

// A NaN whose bits say "absent" would be waited for without end; a step that only copies an input could make
// one.
void GridMaps::send(Value round, int channel, const std::vector<Value>& map) {
  auto& b = builder_;
  const auto word_of = [&](Value entry) {
    const Value bits = b.let("word", b.bits(entry));
    return b.select(bits == kernel::kAbsent, b.constant(kNan), bits);
  };
  const Value place = kernel_.lane_channel() + channel;
  for (std::size_t pair = 0; pair < map.size() / 2; ++pair)
    b.store_flagged(word(round, table_.element(kernel_.rank(), static_cast<int>(pair), place)),
                    {word_of(map[2 * pair]), word_of(map[2 * pair + 1])});
}

void GridMaps::if_bringing(const std::function<void()>& action) {
  if (bringing() == parameters_.computing()) return action();
  builder_.if_(builder_.thread() < bringing(), action);
}

int GridMaps::bringing() const { return static_cast<int>(table_.elements()) / kWords / turns_; }

// All of a thread's loads are in flight at once.
void GridMaps::bring(Value round, kernel::Look look) {
  auto& b = builder_;
  b.load_flagged(collected_, b.constant(0), turns_, word(round, b.thread() * kWords),
                 b.constant(bringing() * kWords), look);
}

// Into shared memory, for all threads.
void GridMaps::spread() {
  auto& b = builder_;
  for (int turn = 0; turn < turns_; ++turn) {
    std::vector<Value> entries;
    for (int i = 0; i < kWords; ++i)
      entries.push_back(b.from_bits(b.read(collected_, b.constant(turn * kWords + i))));
    b.store_vector(table_.memory[(b.thread() + turn * bringing()) * kWords], entries);
  }
}

void GridMaps::look(Value round) {
  if_bringing([&] { bring(round, kernel::Look::Once); });
}

void GridMaps::fetch(Value round) {
  if_bringing([&] {
    bring(round, kernel::Look::Rest);
    spread();
  });
}

MapTable GridMaps::wait(Value round) {
  auto& b = builder_;
  if (parameters_.behind) return table_;
  if_bringing([&] {
    bring(round, kernel::Look::Wait);
    spread();
  });
  b.barrier();
  return table_;
}

}  // namespace rondo::schedule
