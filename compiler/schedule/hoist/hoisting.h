// A strategy for cells whose matrices multiply inputs alone (input_products.h): one launch makes the products
// of all steps, another strategy walks the cell without them, and in a backward pass products over all steps
// give the gradients of inputs and matrices from those of the products. What the other strategy computes by
// itself it gets as it is, unless inputs have extents of their own: no walk sees these.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/hoist/input_products.h"
#include "compiler/schedule/plan/wrapping.h"

namespace rondo::schedule {

class Hoisting final : public Wrapping {
 public:
  using Wrapping::Wrapping;

  Legality legal(const Task& task) const override;
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override;

 private:
  std::optional<Walk> walk_of(const Task& task) const override;
  // What is walked in the place of the task; none: the task itself.
  struct Split {
    InputProducts products;
    Task walked;
  };
  std::shared_ptr<const std::optional<Split>> split(const Task& task) const;
};

}  // namespace rondo::schedule
