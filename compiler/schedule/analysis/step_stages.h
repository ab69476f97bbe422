// Cuts a step into stages at its products: all channels must have made a vector before any of its products
// can be computed. With one launch a stage, the end of a launch is the barrier.
//
// Stage 0 computes what needs no product of its own step; stage s begins with the products of level s - 1
// (product_groups.h). A value is computed in the first stage that needs it, and kept for later stages.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"

namespace rondo::schedule {

struct StepStage {
  std::vector<std::size_t> groups;     // multiplied first
  std::vector<std::size_t> vectors;    // groups whose vectors are made here
  std::vector<std::size_t> roots;      // indices of the roots that are made here
  std::vector<step::NodeId> kept_in;   // values that an earlier stage has kept
  std::vector<step::NodeId> kept_out;  // values to keep for later ones
  // The step's graph. Products, and values that earlier stages have kept, stand in it as products without
  // operands, so that GraphLowering asks its caller for their values.
  step::Graph graph;
  std::vector<step::NodeId> demand;  // of this graph: what the stage has to make
};

struct StepStages {
  std::vector<ProductGroup> groups;
  std::vector<StepStage> stages;   // levels_of(groups) + 1
  std::vector<int> stage_of_root;  // by root
  std::vector<step::NodeId> kept;  // all values kept between stages

  int row_of_kept(step::NodeId node) const;
};

StepStages step_stages(const step::Cell& cell, const step::Graph& graph,
                       const std::vector<step::NodeId>& roots);

}  // namespace rondo::schedule
