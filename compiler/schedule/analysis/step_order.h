// The order in which the parts of a step can be computed: the nodes that depend on no carry, and for every
// node the levels of products that come before it.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/analysis/shorten_chain.h"

namespace rondo::schedule {

struct StepOrder {
  std::vector<int> after;            // by node: levels of products that come before it
  std::vector<step::NodeId> early;   // arithmetic that depends on no carry and no product, but on the step
  std::vector<step::NodeId> handed;  // those of `early` that the rest of the step reads
};

StepOrder step_order(const step::Cell& cell, const Problem& problem, const StepGraph& step,
                     const std::vector<ProductGroup>& groups);

}  // namespace rondo::schedule
