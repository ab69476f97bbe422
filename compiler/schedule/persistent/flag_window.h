// Flags of the sequence (lower/flags.h) in a computing warp. A step's vector is sent at the end of the step
// before it, masked by the step's resets, so those must be in registers by then, and a load takes longer than
// a step may. So the bytes of eight steps are loaded together, eight steps ahead: lane 4g + q loads those of
// step g for the two batch rows of each tile that lanes of quarter q hold. Where a stage begins, two votes of
// the warp give each lane the bits of its two rows, four bits a step, so that a step takes one shift.
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
    kernel::Value group, quarter;  // g and q of the lane
    // A batch row by its tile and place there, or the last one past the batch.
    std::function<kernel::Value(int tile, kernel::Value place)> row;
    std::function<kernel::Value(kernel::Value)> time;  // t of a step of the walk
    kernel::Value steps;                               // of the walk, at least one
  };
  // `reader` must outlive this.
  FlagWindow(const FlagReader& reader, Places places) : reader_(reader), places_(std::move(places)) {}

  // Before the walk, by whole warps: afterwards the step ahead is the first.
  void begin(kernel::Builder& b);
  // Where a stage of `steps` steps (2, 4 or 8) begins, with step `first`, by whole warps.
  void begin_stage(kernel::Value first, int steps);
  // Where a step begins: the one that was ahead is under way.
  void advance(kernel::Builder& b);
  // What the leaf has at time t in a batch row of the thread, 2 * batch tile + its place in the pair: for the
  // step under way, or for the one ahead.
  kernel::Value value(step::TensorId tensor, int row, kernel::Value t, bool ahead) const;

 private:
  static constexpr int kSteps = 8;  // of a window: groups of lanes

  // Of a batch tile. A step's resets are bit 0 of its word, for the first row of the pair, and bit 1 for the
  // second; bits from bit 4 on belong to steps after it. The window is the word of the step after the
  // one ahead.
  struct Tile {
    std::vector<kernel::Value> bytes;  // on their way, by row of the pair
    kernel::Value place;               // I64, of the first row's byte to be loaded next
    kernel::Value to_second;           // I64, elements from there to the second row's
    kernel::Value window, now, next;
  };
  static constexpr int of_row(int row) { return 1 << row % 2; }  // its bit
  Tile begin_tile(kernel::Builder& b, step::TensorId tensor, int tile) const;
  void load(step::TensorId tensor, Tile& tile, kernel::Value first_step) const;
  kernel::Value own_step(kernel::Value first_step) const;  // of a window, the lane's
  kernel::Value of_quarter(const std::vector<kernel::Value>& bytes) const;
  kernel::Value row_of_quarter(int row) const;  // a batch row, numbered as in value()

  const FlagReader& reader_;
  Places places_;
  std::map<step::TensorId, std::vector<Tile>> resets_;
  std::map<step::TensorId, kernel::Value> to_next_;  // I64, elements from a window to the one after it
  std::map<step::TensorId, std::vector<kernel::Value>> lengths_;  // by row of the thread
};

}  // namespace rondo::schedule
