// Affine maps of parts of time in shared memory, and walking through them: what every segment needs of the
// segments before it, and every block that splits time with others of the blocks before it.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"

namespace rondo::schedule {

// A map's entries in registers, row after row: as many coefficients as states and a constant.
using FlatMap = std::vector<kernel::Value>;

// One map for each part and channel: `states` rows of as many coefficients and a constant, row after row.
// Neighbours in a map lie side by side, two at a time: states * (states + 1) is even. So do those of
// neighbouring channels.
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
  // The same table, parts counted from `from` on.
  MapTable starting_at(kernel::Value from) const;

  // The maps of `count` neighbouring channels, the first of them a multiple of `count` or of 2.
  std::vector<FlatMap> load(kernel::Builder& builder, kernel::Value part, kernel::Value channel,
                            int count) const;
  void store(kernel::Builder& builder, kernel::Value part, kernel::Value channel,
             const std::vector<FlatMap>& maps) const;
};

// Words that lie side by side where maps of neighbouring channels do: `pair` of up to two of them, from
// channel `first` of the list on.
std::vector<kernel::Value> side_by_side(const std::vector<FlatMap>& maps, std::size_t first, int pair);

// What maps are applied to: carried rows, or a column of a composed map (which takes no constants, but for
// the last). Registers.
struct MapColumn {
  std::vector<kernel::Value> rows;
  bool constant = true;
};

// The columns of a map that changes nothing, and their entries.
std::vector<MapColumn> identity_map(kernel::Builder& builder, int states, const std::string& name);
FlatMap flat(const std::vector<MapColumn>& columns);

// map(column), a value a row.
std::vector<kernel::Value> apply_map(kernel::Builder& builder, const FlatMap& map, const MapColumn& column);
// column = map(column).
void follow_map(kernel::Builder& builder, const FlatMap& map, const MapColumn& column);

// Applies the maps of all parts in order to `running`; what stood before part `own` is left in `before`.
void follow_maps(kernel::Builder& builder, const MapTable& table, kernel::Value channel, kernel::Value own,
                 const MapColumn& running, const MapColumn& before);

}  // namespace rondo::schedule
