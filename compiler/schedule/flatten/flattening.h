// A strategy for cells whose states have many rows that a step treats alike (flattened_cell.h): another
// strategy walks one row, with the rows of the batch times as many. Tensors with a time axis it reads and
// writes where they are; states at both ends of the walk are brought into the order of its rows and back, and
// what outputs and gradients of shared inputs add up over rows a launch behind it adds. Other cells it hands
// on as they are, and those that the other strategy cannot walk so.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/flatten/flattened_cell.h"
#include "compiler/schedule/plan/wrapping.h"

namespace rondo::schedule {

class Flattening final : public Wrapping {
 public:
  using Wrapping::Wrapping;

  Legality legal(const Task& task) const override;
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override;

 private:
  std::optional<Walk> walk_of(const Task& task) const override;
  // The task that is walked in the place of this one; none: the task itself.
  std::optional<Task> flat_of(const Task& task) const;
};

}  // namespace rondo::schedule
