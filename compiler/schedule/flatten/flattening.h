// A strategy for cells whose states have many rows that a step treats alike (flattened_cell.h): another
// strategy walks a cell of one row, with so many times the batch. Tensors with a time axis it reads and
// writes where they are. Launches before and after it bring states into the order of its rows and back, and
// one more adds up results that rows share. Other cells are handed on as they are, and those that the other
// strategy cannot walk in this form.
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
