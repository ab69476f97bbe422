// The vectors of products that a step sends for the step after it.
#pragma once

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// Vectors of level 0 that are states, or states after a possible reset, are sent as soon as the step before
// has them.
bool sent_early(const Task& task, const step::StepGraph& step, const ProductGroup& group);

// Whether the task's sweep has such a vector.
bool sends_ahead(const Task& task);

}  // namespace rondo::schedule
