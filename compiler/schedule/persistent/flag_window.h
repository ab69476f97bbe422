// Flags of the sequence (lower/flags.h) in a computing warp. A step's vector is sent at the end of the step
// before it, masked by the step's resets, so those must be in registers by then, and a load takes longer than
// a step may. So the bytes of eight steps are loaded together, eight steps ahead: lane 4g + q loads those of
// step g for the two batch rows of each tile that lanes of quarter q hold, and a shuffle fetches a step's.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "compiler/schedule/lower/flags.h"

namespace rondo::schedule {

class FlagWindow {
 public:
  struct Places {
    int batch_tiles;
    kernel::Value group, quarter;           // g and q of the lane
    std::function<kernel::Value(int)> row;  // batch row of the thread, by 2 * batch tile + its pair's
    std::function<kernel::Value(kernel::Value)> time;  // of a step of the walk, or of the last one past it
  };
  // `reader` must outlive this.
  FlagWindow(const FlagReader& reader, Places places) : reader_(reader), places_(std::move(places)) {}

  // Before the walk, by whole warps: afterwards the step ahead is the first.
  void begin(kernel::Builder& b);
  // Where step `done` begins, by whole warps: it is under way, and the one ahead comes after it.
  void advance(kernel::Value done);
  // What the leaf has at time t in a batch row of the thread, numbered as Places::row does: for the step
  // under way, or for the one ahead.
  kernel::Value value(step::TensorId tensor, int row, kernel::Value t, bool ahead) const;

 private:
  static constexpr int kSteps = 8;  // of a window: groups of lanes

  // Of a batch tile: bytes on their way, the window that they become, and what a step has. A window's word
  // has 1 for a reset of the first row of the pair, 2 for one of the second.
  struct Tile {
    std::vector<kernel::Value> bytes;
    kernel::Value window, now, next;
  };
  kernel::Value load(step::TensorId tensor, int row, kernel::Value first_step) const;
  static kernel::Value word(const Tile& tile);
  kernel::Value of_step(const Tile& tile, kernel::Value count) const;

  const FlagReader& reader_;
  Places places_;
  std::map<step::TensorId, std::vector<Tile>> resets_;
  std::map<step::TensorId, std::vector<kernel::Value>> lengths_;  // by row of the thread
};

}  // namespace rondo::schedule
