// The parts that the strategies for cells with matrices share: the test of which cells are legal, and the
// backward pass without its sweep.
#pragma once

#include <functional>

#include "compiler/schedule/analysis/backward_split.h"
#include "compiler/schedule/plan/strategy.h"

namespace rondo::schedule {

Legality dense_legal(const step::Cell& cell);

// The cost of multiplying again, for a backward pass whose products were not saved: seconds before its sweep,
// and the bytes that the sweep reads beside the tensors of the pass. Zero for other passes.
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
