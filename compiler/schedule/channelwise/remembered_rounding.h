// The rounding that a plain walk has accumulated where a segment starts, estimated from the maps of the
// segments before it: what the certificate lets a start be off by. docs/strategies/shoot.md has
// the argument.
#pragma once

#include <vector>

#include "compiler/schedule/channelwise/affine_transforms.h"

namespace rondo::schedule {

// The variance of the states of one channel, in squares of a step's rounding, carried from segment to
// segment: each adds its steps, as far as its map carries what came before them. Up to two states; none for
// more, as their covariances would not stay in registers.
class RememberedRounding {
 public:
  static constexpr int kMostStates = 2;
  static bool known(int states) { return states <= kMostStates; }
  // Of the lower triangle.
  static constexpr int entries(int states) { return states * (states + 1) / 2; }

  // Registers that begin at zero.
  RememberedRounding(kernel::Builder& builder, int states);
  // Goes through `steps` steps with this map, F32, from the states `from` to the states `to`.
  void pass(const AffineTransform& map, kernel::Value steps, const std::vector<kernel::Value>& from,
            const std::vector<kernel::Value>& to) const;
  // Takes the other's values where `condition`, a Pred, holds.
  void take_if(kernel::Value condition, const RememberedRounding& other) const;
  void take(const RememberedRounding& other) const;
  void clear() const;
  const std::vector<kernel::Value>& all() const { return entries_; }
  // The variance of a state.
  kernel::Value of(int state) const { return entry(state, state); }

 private:
  kernel::Value entry(int i, int j) const;
  kernel::Builder* b_;
  int states_;
  std::vector<kernel::Value> entries_;  // of the lower triangle, row after row
};

}  // namespace rondo::schedule
