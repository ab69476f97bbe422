// Flags of the sequence (lower/flags.h) in a persistent kernel. A step's vector is sent at the end of the
// step before it, masked by the step's resets, so those must be in registers by then, and a load takes longer
// than a step may. So a staging warp loads the bytes of a stage's steps beside its inputs and leaves them in
// shared memory as words: one for each pair of batch rows, with four bits a step. A computing warp reads its
// word where the stage begins, and a step takes one shift.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "compiler/schedule/lower/flags.h"

namespace rondo::schedule {

class FlagWindow {
 public:
  struct Places {
    int batch_tiles;    // of a block, at most 4: a lane loads the bytes of a batch row
    int stages, steps;  // steps of a stage: 2, 4 or 8
    // The batch row at a place in the block; places past the batch have its last row.
    std::function<kernel::Value(kernel::Value place)> row;
    std::function<kernel::Value(kernel::Value)> time;  // t of a step of the walk
    kernel::Value walked;                              // steps of the walk, at least one
  };
  // Declares the words in shared memory. `reader` must outlive this.
  FlagWindow(kernel::Builder& b, const FlagReader& reader, Places places);

  // By the first staging warp, whose threads are counted from 0 by `lane`: the words of a stage, which begins
  // with step `first`, into its slot.
  void stage(kernel::Value lane, kernel::Value first, kernel::Value slot) const;

  // In computing warps; `quarter` of the lane has the pair of batch rows. Before the walk: afterwards the
  // step ahead is the first.
  void begin(kernel::Builder& b, kernel::Value quarter);
  // Where a stage begins whose slot is full.
  void begin_stage(kernel::Value slot);
  // Where a step begins: the one that was ahead is under way.
  void advance(kernel::Builder& b);
  // What the leaf has at time t in a batch row of the thread, 2 * batch tile + its place in the pair: for the
  // step under way, or for the one ahead.
  kernel::Value value(step::TensorId tensor, int row, kernel::Value t, bool ahead) const;

 private:
  // Of a batch tile. A step's resets are bit 0 of its word, for the first row of the pair, and bit 1 for the
  // second; bits from bit 4 on belong to steps after it. The window is the word of the step after the
  // one ahead.
  struct Tile {
    kernel::Value window, now, next;
  };
  static constexpr int of_row(int row) { return 1 << row % 2; }  // its bit
  int pairs() const { return 4 * places_.batch_tiles; }
  kernel::Value load(step::TensorId tensor, kernel::Value place, kernel::Value step) const;

  const FlagReader& reader_;
  Places places_;
  kernel::Value quarter_;
  std::map<step::TensorId, kernel::Memory> words_;  // [stages, batch tiles, quarters 4]
  std::map<step::TensorId, std::vector<Tile>> resets_;
  std::map<step::TensorId, std::vector<kernel::Value>> lengths_;  // by row of the thread
};

}  // namespace rondo::schedule
