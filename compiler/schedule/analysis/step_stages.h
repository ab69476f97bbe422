// Cuts a step into stages at its products and its reductions over the head: all channels must have made a
// vector before any of its products can be computed, or what it reduces to is known. With one launch a stage,
// the end of a launch is the barrier.
//
// Stage 0 computes what needs neither of its own step; stage s begins with the products of vectors that stage
// s - 1 has made. A value is computed in the first stage that needs it, and kept for later stages.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/product_groups.h"

namespace rondo::schedule {

// A node that reduces a vector over the head, of a cell that does (adds_over_head). Spread: the squares of
// the distances from the mean of one or several vectors, whose sum is a reduction, too
// (NodeKind::ReduceSpread). Prefix, Suffix and Move give each channel a value of its own, from those of other
// channels: running sums from the first and from the last channel, and a shift or a rotation.
struct Reduction {
  enum class Kind { Sum, Max, Spread, Prefix, Suffix, Move } kind = Kind::Sum;
  bool along() const { return kind >= Kind::Prefix; }
  bool runs() const { return kind == Kind::Prefix || kind == Kind::Suffix; }
  step::NodeId node = step::kNoNode;
  std::vector<step::NodeId> vectors;  // what is reduced
  step::NodeId sum = step::kNoNode;   // of a spread: the node that adds its vectors up
  int made = 0;                       // the stage that has made the vectors
  int known = 1;                      // the stage from which on it is known
};

// When a spread is reduced. Each part of a head that hands on its sum and the squares about its own mean
// gives both at once (Chan, Golub and LeVeque 1979). Who holds a whole head knows the mean before the
// squares: a stage more is another walk over what it has, and not another exchange.
enum class Spreads { WithTheirSum, AfterTheirSum };

struct StepStage {
  std::vector<std::size_t> groups;     // multiplied first
  std::vector<std::size_t> totals;     // reductions that are read here
  std::vector<std::size_t> partials;   // reductions whose vectors are made here
  std::vector<std::size_t> vectors;    // groups whose vectors are made here
  std::vector<std::size_t> roots;      // indices of the roots that are made here
  std::vector<step::NodeId> kept_in;   // values that an earlier stage has kept
  std::vector<step::NodeId> kept_out;  // values to keep for later ones
  // The step's graph. Products, reductions, and values that earlier stages have kept, stand in it as products
  // without operands, so that GraphLowering asks its caller for their values.
  step::Graph graph;
  std::vector<step::NodeId> demand;  // of this graph: what the stage has to make
};

struct StepStages {
  std::vector<ProductGroup> groups;   // level: of the stage that makes the vector
  std::vector<Reduction> reductions;  // in the order of their nodes
  std::vector<StepStage> stages;      // at least one
  std::vector<int> stage_of_root;     // by root
  std::vector<step::NodeId> kept;     // all values kept between stages

  int row_of_kept(step::NodeId node) const;
  const Reduction* reduction_of(step::NodeId node) const;  // null if it is none
};

// Of a step that fewer_exchanges() has rewritten in the order of a chain.
StepStages step_stages(const step::Cell& cell, const step::Graph& graph,
                       const std::vector<step::NodeId>& roots, Spreads spreads = Spreads::WithTheirSum);

}  // namespace rondo::schedule
