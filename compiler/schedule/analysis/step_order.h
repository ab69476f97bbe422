// The order in which the parts of a step can be computed: the nodes that depend on no carry, and for every
// node the exchanges that come before it: levels of products, and stages of reductions over the head.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Reductions whose operands are there at the same time: they share one exchange.
struct ReductionStage {
  int level = 0;                // of products that come after it; levels_of(groups) if none does
  bool before_vectors = false;  // a vector of that level waits for it
  bool early = false;           // none of them depends on a carry: stages of a step that are come first
  std::vector<step::NodeId> nodes;
};

struct StepOrder {
  // In the order of the step: the stages of a level, then its products.
  std::vector<ReductionStage> reductions;
  std::vector<int> after;  // by node: exchanges that come before it
  // Arithmetic that depends on no carry and no product, but on the step; and the reductions of early stages.
  std::vector<step::NodeId> early;
  std::vector<step::NodeId> handed;  // those of `early` that the rest of the step reads
};

// `reduces`: the step's reductions are such; otherwise they stand for the shares of a scalar parameter's
// gradient (GraphLowering).
StepOrder step_order(const Task& task, const step::StepGraph& step, const std::vector<ProductGroup>& groups,
                     bool reduces);

// Of each stage: how many reductions it has.
std::vector<int> reduction_words(const StepOrder& order);

}  // namespace rondo::schedule
