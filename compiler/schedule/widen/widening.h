// A strategy for cells of which states, parameters or outputs have extents of their own: another strategy
// walks the cell with D channels in their place (widened_cell.h). Launches before it bring what is given into
// tensors of such channels in the workspace, and launches behind it take the results out of them. Cells
// without such extents it hands on as they are.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/plan/wrapping.h"
#include "compiler/schedule/widen/widened_cell.h"

namespace rondo::schedule {

class Widening final : public Wrapping {
 public:
  using Wrapping::Wrapping;

  Legality legal(const Task& task) const override;
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override;

 private:
  std::optional<Walk> walk_of(const Task& task) const override;
};

}  // namespace rondo::schedule
