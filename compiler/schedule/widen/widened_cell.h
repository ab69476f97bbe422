// A cell of which all that a walk over time sees has D channels: tensors with extents of the cell's own
// (step/extents.h) are its first channels, and those behind them are 0 where they are given. What the others
// come to in a step is of no meaning, and no product takes it in. Matrices that are multiplied transposed
// have parameters of their own there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/schedule/problem/names.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

struct WidenedCell {
  // Tensors keep their numbers; masks and transposes come after them.
  step::Cell cell;
  // Parameters that are 1 in the first `size` channels and 0 in those behind.
  struct Mask {
    step::TensorId param;
    std::int64_t size;
  };
  std::vector<Mask> masks;
  // A parameter that is another one with its output channels in the place of its input channels.
  struct Transpose {
    step::TensorId param, of;
  };
  std::vector<Transpose> transposes;
  std::int64_t largest = 0;  // of the extents
  // Whether a tensor of the cell that was given has other sizes there, or a transpose beside it.
  std::vector<bool> narrow;
};

// None where no extent of the cell's own is one that a walk has, and no matrix is multiplied transposed.
std::optional<WidenedCell> widened(const step::Cell& cell);

}  // namespace rondo::schedule
