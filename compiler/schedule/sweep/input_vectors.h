// Products of matrices with rows of inputs. Such a vector is in memory before the walk over time begins.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"

namespace rondo::schedule {

// The input whose row the group's vector is, channel by channel; none where it is something else.
const step::Node* input_of(const step::Cell& cell, const step::Graph& graph, const ProductGroup& group);

// Inputs of which the step reads nothing but such vectors.
std::vector<step::TensorId> only_multiplied(const step::Cell& cell, const step::StepGraph& step,
                                            const std::vector<ProductGroup>& groups,
                                            const std::vector<bool>& reads);

}  // namespace rondo::schedule
