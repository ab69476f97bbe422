// The parts that the strategies for cells with matrices share: the test of which cells are legal, and the
// backward pass without its sweep.
#pragma once

#include <functional>

#include "compiler/schedule/gemm/matrix_gradient.h"
#include "compiler/schedule/gemm/time_product.h"
#include "compiler/schedule/gemm/time_threads.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

Legality dense_legal(const step::Cell& cell);
// Whether products over max and plus can be made of matrices on the chip: not of rounded fp32.
Legality max_plus_legal(const Task& task);

// The cost of what a backward pass computes before its sweep, namely vectors that are no saved states, and
// products that were not saved: seconds, and the bytes that the sweep reads beside the tensors of the pass.
// Zero for other passes.
struct BeforeSweep {
  double seconds = 0;
  std::int64_t bytes = 0;
};
BeforeSweep before_sweep(const Task& task);

// Who multiplies for all steps at once.
struct TimeLaunches {
  // Products that share their vector; `group`: which of the backward pass's.
  std::function<std::vector<Launch>(const std::vector<TimeProduct>& products, std::size_t group)> products;
  // The gradients of all matrices.
  std::function<std::vector<Launch>(const std::vector<MatrixTerm>& terms)> gradients;
  // fp32 elements of workspace that the gradients use.
  std::function<std::int64_t(const std::vector<MatrixTerm>& terms)> workspace;
  // How vectors of all steps are made that are no saved states.
  TimeAccess vectors = {};
};

// Appends the launches of a backward pass, in order: products of all steps again, unless they were saved,
// what `add_sweep` appends, sums of parameter gradients, matrix gradients; and their workspace and scratch.
// plan.in_result is set before `add_sweep` is called, which takes it back where its sweep reads a product
// when a gradient may lie there.
void dense_backward(const Task& task, const BackwardSplit& split, const TimeLaunches& launches,
                    const std::function<void()>& add_sweep, KernelPlan& plan);
// The same with the tiles of GPUs (GemmTile). `vector`: the widest copies that the plan's alignment allows.
void dense_backward(const Task& task, const BackwardSplit& split, int vector,
                    const std::function<void()>& add_sweep, KernelPlan& plan);

}  // namespace rondo::schedule
