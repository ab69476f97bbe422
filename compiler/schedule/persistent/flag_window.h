// Flags of the sequence (lower/flags.h) in a computing warp. A step's vector is sent at the end of the step
// before it, masked by the step's resets, so those must be in registers by then, and a load takes longer than
// a step may. So the bytes of eight steps are loaded together, eight steps ahead: lane 4g + q loads those of
// step g for the two batch rows of each tile that lanes of quarter q hold. Where a stage begins, the lanes of
// a quarter put them together to one word with two bits a step, so that a step takes a shift and no shuffle.
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
  // Where a stage of `steps` steps (2, 4 or 8) begins, with step `first`, by whole warps.
  void begin_stage(kernel::Value first, int steps);
  // Where step `done` begins: it is under way, and the one ahead comes after it.
  void advance(kernel::Value done);
  // What the leaf has at time t in a batch row of the thread, numbered as Places::row does: for the step
  // under way, or for the one ahead.
  kernel::Value value(step::TensorId tensor, int row, kernel::Value t, bool ahead) const;

 private:
  static constexpr int kSteps = 8;  // of a window: groups of lanes

  // Of a batch tile. What a step has is 1 for a reset of the first row of the pair, 2 for one of the second.
  // A window has that of eight steps, two bits each, from the second step of the stage that began it.
  struct Tile {
    std::vector<kernel::Value> bytes;  // on their way, by row of the pair
    kernel::Value window, now, next;
  };
  void load(step::TensorId tensor, int tile, kernel::Value first_step,
            std::vector<kernel::Value>& bytes) const;
  static kernel::Value of_pair(const std::vector<kernel::Value>& bytes);
  kernel::Value of_quarter(const std::vector<kernel::Value>& bytes) const;

  const FlagReader& reader_;
  Places places_;
  std::map<step::TensorId, std::vector<Tile>> resets_;
  std::map<step::TensorId, std::vector<kernel::Value>> lengths_;  // by row of the thread
};

}  // namespace rondo::schedule
