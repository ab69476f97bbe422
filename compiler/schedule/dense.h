// What the strategies for cells with matrices share: which cells those are, and a backward pass but for its
// sweep over time.
#pragma once

#include <functional>

#include "compiler/schedule/persistent_plan.h"
#include "compiler/schedule/strategy.h"

namespace rondo::schedule {

Legality dense_legal(const step::Cell& cell);

// Appends the launches of a backward pass, in order: products of all steps again, what `add_sweep` appends,
// sums of parameter gradients, matrix gradients; and their workspace and scratch. `vector`: the widest copies
// that the plan's alignment allows.
void dense_backward(const step::Cell& cell, const Problem& problem, const BackwardSplit& split, int vector,
                    const std::function<void()>& add_sweep, KernelPlan& plan);

}  // namespace rondo::schedule
