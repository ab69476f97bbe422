#include "compiler/kernel/simulator/flags.h"

#include <algorithm>

namespace rondo::kernel::simulator {

void Flags::arrive(const GlobalBuffer* buffer, std::int64_t index, const Party& lane, std::int64_t value) {
  auto& arrivals = counters_[{buffer, index}];
  Arrival next{value, lane.agent, __builtin_ctz(lane.lanes), clocks_.now(lane.agent), clocks_.nothing()};
  if (!arrivals.empty()) next.knowledge = arrivals.back().knowledge;
  clocks_.release(lane, next.knowledge);
  arrivals.push_back(std::move(next));
}

void Flags::acquire(const GlobalBuffer* buffer, std::int64_t index, const Party& party, std::int64_t target) {
  const auto counter = counters_.find({buffer, index});
  if (counter == counters_.end()) return;
  // Values only grow. A plain store may have set the counter back, and then what the latest arrivals made of
  // it counts: search from the end.
  const auto& arrivals = counter->second;
  const Arrival* found = nullptr;
  for (auto a = arrivals.rbegin(); a != arrivals.rend() && a->value >= target; ++a) found = &*a;
  if (found != nullptr) clocks_.acquire(party, found->knowledge);
}

bool Flags::unordered(const GlobalBuffer* buffer, std::int64_t index, const Thread& by) const {
  const auto counter = counters_.find({buffer, index});
  if (counter == counters_.end()) return false;
  return std::ranges::any_of(counter->second, [&](const Arrival& a) {
    const bool same = clocks_.shape().agent(by) == a.agent && by.lane == a.lane;
    return !same && !clocks_.seen(by, a.agent, a.lane, a.clock);
  });
}

}  // namespace rondo::kernel::simulator
