// Affine maps of parts of time in shared memory, and walking through them: what every segment needs of the
// segments before it, and every block of a cluster of the blocks before it.
#pragma once

#include <vector>

#include "compiler/kernel/builder.h"

namespace rondo::schedule {

// One map for each part and channel: `states` rows of as many coefficients and a constant, row after row.
// Neighbours in a map lie side by side, two at a time: states * (states + 1) is even.
struct MapTable {
  kernel::Memory memory;  // [first + parts, entries / 2, channels, 2] fp32
  int parts = 1;
  int states = 1;
  int channels = 1;
  kernel::Value first;  // of the parts in memory; invalid: 0

  static int entries(int states) { return states * (states + 1); }
  static std::int64_t bytes(int states) {
    return std::int64_t{4} * entries(states);
  }  // of a part and channel
  std::int64_t elements() const { return std::int64_t{parts} * entries(states) * channels; }
  // Where entries 2 * pair and 2 * pair + 1 are: their element, and their place in memory.
  kernel::Value element(kernel::Value part, int pair, kernel::Value channel) const;
  kernel::Place pair(kernel::Value part, int pair, kernel::Value channel) const {
    return memory[element(part, pair, channel)];
  }
};

// What maps are applied to: carried rows, or a column of a composed map (which takes no constants, but for
// the last). Registers.
struct MapColumn {
  std::vector<kernel::Value> rows;
  bool constant = true;
};

// Applies the maps of all parts in order to `running`; what stood before part `own` is left in `before`.
void follow_maps(kernel::Builder& builder, const MapTable& table, kernel::Value channel, kernel::Value own,
                 const std::vector<MapColumn>& running, const std::vector<MapColumn>& before);

// Applies the maps of the parts before part `own` in order to `running`.
void follow_maps_before(kernel::Builder& builder, const MapTable& table, kernel::Value channel,
                        kernel::Value own, const std::vector<MapColumn>& running);

// map(column), a value a row; `map` row after row.
std::vector<kernel::Value> apply_map(kernel::Builder& builder, const std::vector<kernel::Value>& map,
                                     const MapColumn& column);

}  // namespace rondo::schedule
