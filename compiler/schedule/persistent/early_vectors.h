// Where the vectors of products come from: states that a step sends for the step after it, and inputs, which
// nobody has to send.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/persistent/geometry.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/sweep/backward_split.h"

namespace rondo::schedule {

// Vectors of level 0 that are states, or states after a possible reset, are sent as soon as the step before
// has them.
bool sent_early(const Task& task, const step::StepGraph& step, const ProductGroup& group);

// Whether the task's sweep has such a vector.
bool sends_ahead(const Task& task);

// By group, whether the warps of this kernel read its vector out of the input: with fragments, where all
// channels of the team exist and 16 bytes are loaded at once. Where all vectors are inputs the blocks send
// them like others, for then nothing else orders their steps.
std::vector<bool> read_inputs(const step::Cell& cell, const step::Graph& graph,
                              const std::vector<ProductGroup>& groups, const PersistentGeometry& geometry);

// The same of the sweep's shape; and the number of groups whose vectors blocks send each other.
std::vector<bool> read_inputs(const SweepShape& shape, const PersistentGeometry& geometry);
std::size_t groups_sent(const SweepShape& shape, const PersistentGeometry& geometry);
// Row tiles of a group that a warp multiplies. With fragments the rows are those of the level's sums, and a
// tile may hold but one of this group's.
int group_tiles(const SweepShape& shape, const PersistentGeometry& geometry, std::size_t group);

}  // namespace rondo::schedule
