// What the strategies for cells with matrices share: which cells those are, and a backward pass but for its
// sweep over time.
#pragma once

#include <functional>

#include "compiler/schedule/analysis/backward_split.h"
#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

Legality dense_legal(const step::Cell& cell);

// What multiplying again costs a backward pass, whose products were not saved: before its sweep, and bytes
// that the sweep then reads beside the tensors of the pass. Nothing for other passes.
struct ProductsAgain {
  double seconds = 0;
  std::int64_t bytes = 0;
};
ProductsAgain products_again(const step::Cell& cell, const Problem& problem, const target::Profile& profile);

// Appends the launches of a backward pass, in order: products of all steps again, unless they were saved,
// what `add_sweep` appends, sums of parameter gradients, matrix gradients; and their workspace and scratch.
// `vector`: the widest copies that the plan's alignment allows.
void dense_backward(const step::Cell& cell, const Problem& problem, const target::Profile& profile,
                    const BackwardSplit& split, int vector, const std::function<void()>& add_sweep,
                    KernelPlan& plan);

}  // namespace rondo::schedule
