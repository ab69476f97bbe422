// Pieces of kernels for what goes along the channels of a head: shifts, rotations and running sums.
#pragma once

#include <utility>

#include "compiler/kernel/builder/builder.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Where a shift or a rotation of heads of `dim` channels takes its values from.
class HeadMove {
 public:
  // `node`: a Shift or a Rotate.
  HeadMove(const step::Node& node, std::int64_t dim);
  // The channel whose value `channel` gets, one of the head's in any case; and the other way round, where the
  // value of `channel` goes. I32 of the head.
  kernel::Value source(kernel::Value channel) const;
  kernel::Value target(kernel::Value channel) const;
  // Pred: whether `channel` gets a value and no zero; invalid if all do.
  kernel::Value gets(kernel::Value channel) const;

 private:
  bool around_;
  std::int64_t offset_, dim_;
  std::int64_t distance_;  // of a rotation that does the same, 0 to D - 1
};

// Sums over lanes that share `lanes`, a word of shared memory for each: of those before this one (with `up`
// false: after it), and of all. All threads take part; they meet twice.
std::pair<kernel::Value, kernel::Value> sums_of_lanes(kernel::Builder& b, kernel::Memory lanes, int count,
                                                      kernel::Value own, bool up);

// The same over `count` neighbouring lanes of a warp, a power of two; `lane`: I32, of which the low bits say
// which the thread is. By shuffles at distances 1, 2, 4, ...: groups of so many lanes meet the group beside
// them, and who is of the second one adds the first one's sum (Blelloch 1990, "Prefix sums and their
// applications"). All lanes have the same bits of the sum of all.
std::pair<kernel::Value, kernel::Value> sums_of_warp_lanes(kernel::Builder& b, int count, kernel::Value lane,
                                                           kernel::Value own, bool up);

}  // namespace rondo::schedule
