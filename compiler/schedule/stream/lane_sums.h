// Sums over lanes of a warp that every one of them gets.
#pragma once

#include <vector>

#include "compiler/kernel/builder/builder.h"

namespace rondo::schedule {

// Each of `values` summed over the lanes whose numbers differ in the bits from `from` up to, not including,
// `to`, both powers of two: exchanges at distances from, 2 from, ... Both of two lanes add the same numbers.
// All values make an exchange before the next one, so that no sum waits for its own.
inline std::vector<std::vector<kernel::Value>> summed_over_lanes(
    kernel::Builder& b, std::vector<std::vector<kernel::Value>> values, int from, int to) {
  for (int apart = from; apart < to; apart *= 2)
    for (std::vector<kernel::Value>& some : values)
      for (kernel::Value& value : some) {
        const kernel::Value own = apart == from ? b.let("part", value) : value;
        value = b.let("sum", own + b.shuffle("other", own, kernel::ShuffleMode::Xor, b.constant(apart)));
      }
  return values;
}

}  // namespace rondo::schedule
