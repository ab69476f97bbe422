// Warp: blocks of a cooperative launch wait for each other through global memory.

#include <bit>
#include <optional>

#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel::simulator {

void Warp::act(const ArriveFlag& a, GroupContext& context) {
  for_lanes(active_, [&](int l) {
    const Span counter = span(a.arrive->counter, lanes_[a.index].i[l], 1);
    if (!context.memory.atomic(counter, thread(l))) return;
    GlobalBuffer& data = context.memory.data(counter);
    std::int32_t& value = data.integers[static_cast<std::size_t>(counter.index)];
    ++value;
    context.flags.arrive(&data, counter.index, party(bit(l)), value);
  });
}

void Warp::act(const AwaitFlag& a, GroupContext& context) {
  const Lanes& index = lanes_[a.index];
  const Lanes& target = lanes_[a.target];
  std::optional<AtFlag> blocked;
  for_equal(active_ & ~passed_, index, target, [&](Mask lanes) {
    const int leader = __builtin_ctz(lanes);
    const Span counter = span(a.wait->counter, index.i[leader], 1);
    passed_ |= lanes;
    if (!context.memory.atomic(counter, thread(leader))) return;
    const GlobalBuffer& data = context.memory.data(counter);
    if (data.integers[static_cast<std::size_t>(counter.index)] >= target.i[leader])
      return context.flags.acquire(&data, counter.index, party(lanes), target.i[leader]);
    passed_ &= ~lanes;
    blocked = AtFlag{pc_ - 1, counter, target.i[leader]};
  });
  if (blocked && !context.gave_up) return wait_here(*blocked, context);
  passed_ = 0;
}

void Warp::act(const SendWords& a, GroupContext& context) {
  const Words::Luggage luggage = context.words.pack(party(active_));
  for_lanes(active_, [&](int l) {
    const Span to = span(a.store->to, lanes_[a.index].i[l], static_cast<int>(a.values.size()));
    if (!context.memory.atomic(to, thread(l))) return;
    GlobalBuffer& data = context.memory.data(to);
    std::int64_t at = to.index;
    for (std::size_t word = 0; word < a.values.size(); ++word) {
      const Lanes& from = lanes_[a.values[word]];
      const bool real = program_.kernel->expr(a.store->values[word]).type == Type::F32;
      std::int32_t value = static_cast<std::int32_t>(from.i[l]);
      if (real && lanes_.fp64()) {
        data.doubles.resize(data.integers.size());
        data.doubles[static_cast<std::size_t>(at)] = from.d[l];
        value = flagged_word(static_cast<float>(from.d[l]));
      } else if (real) {
        value = flagged_word(from.f[l]);
      }
      if (const auto conflict = context.words.store(&data, at, thread(l), value, luggage))
        context.memory.report(*conflict, thread(l), "sends to", to, at);
      data.integers[static_cast<std::size_t>(at++)] = value;
    }
  });
}

// The lane takes its words if all have come; else tells the first that has not.
std::optional<Span> Warp::take_words(const AwaitWords& a, int lane, Lanes* into, Words::Carried& carried,
                                     GroupContext& context) {
  constexpr int kVector = 4;
  const auto vector = [&](int i) {
    return span(a.load->from, lanes_[a.index].i[lane] + i * lanes_[a.stride].i[lane], kVector);
  };
  for (int i = 0; i < a.load->vectors; ++i) {
    const Span from = vector(i);
    if (!context.memory.atomic(from, thread(lane))) return std::nullopt;
    for (int k = 0; k < kVector && !a.load->once; ++k)
      if (context.memory.data(from).integers[static_cast<std::size_t>(from.index + k)] == kEmpty)
        return Span{from.space, from.id, from.index + k, 1, from.block};
  }
  const bool reals = program_.kernel->arrays[static_cast<std::size_t>(a.load->into.array)].type == Type::F32;
  for (int i = 0; i < a.load->vectors; ++i) {
    const Span from = vector(i);
    const GlobalBuffer& data = context.memory.data(from);
    for (int k = 0; k < kVector; ++k) {
      const std::int64_t at = from.index + k;
      // Who does not wait learns nothing, and nobody relies on its having read.
      std::optional<Conflict> conflict;
      if (!a.load->once) conflict = context.words.load(&data, at, thread(lane), carried);
      if (conflict) context.memory.report(*conflict, thread(lane), "reads", from, at);
      const std::int32_t word = data.integers[static_cast<std::size_t>(at)];
      Lanes& element = into[i * kVector + k];
      if (reals && lanes_.fp64())
        element.d[lane] = data.doubles.empty() ? 0 : data.doubles[static_cast<std::size_t>(at)];
      else if (reals)
        element.f[lane] = std::bit_cast<float>(word);
      else
        element.i[lane] = word;
    }
  }
  return std::nullopt;
}

// The lanes whose words are there go on together, and know together what these carry.
void Warp::act(const AwaitWords& a, GroupContext& context) {
  if (a.load->together && !all_lanes("a load of words by whole warps", context)) return;
  const int count = 4 * a.load->vectors;
  Lanes* into = slice(a.load->into, a.first, count, context);
  if (into == nullptr) return;
  Words::Carried carried(context.clocks.nothing());
  std::optional<AtWords> blocked;
  Mask passed = 0;
  for_lanes(active_ & ~passed_, [&](int l) {
    if (const auto missing = take_words(a, l, into, carried, context))
      blocked = AtWords{pc_ - 1, l, *missing};
    else
      passed |= bit(l);
  });
  if (passed != 0) context.clocks.acquire(party(passed), carried.knowledge);
  passed_ |= passed;
  if (blocked && !context.gave_up) return wait_here(*blocked, context);
  for (int r = 0; r < count; ++r) into[r].undefined &= ~active_;
  passed_ = 0;
}

void Warp::act(const FenceGrid&, GroupContext& context) { context.words.fence(party(active_)); }

}  // namespace rondo::kernel::simulator
