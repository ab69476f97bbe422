// The exchanges of a step: its products and its reductions over the head, which all channels wait for.
#pragma once

#include <compare>
#include <vector>

#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// Whether sums or maxima over the head, or what goes along its channels, are part of the step or of its
// derivative, beside the sums in gradients of scalar parameters: each channel carries its share of those, and
// they are added up after all steps.
bool adds_over_head(const step::Cell& cell);
// Whether a step of such a cell has something to rewrite: exchanges over the head, or roots that are to be
// shares. A forward step need not, where a per-head value is read alone.
bool reduces_over_head(const step::Cell& cell, const step::StepGraph& step, const std::vector<bool>& shares);

// How products take turns with reductions. Levels: all products of a level come together, and reductions
// follow the last level that they wait for. Chain: a product is an exchange like a reduction, and a value is
// there after as many as the longest way to it has.
enum class ExchangeOrder { Levels, Chain };

// Where a node stands among a step's exchanges: products that it waits for, one after the other, and
// reductions since the last of them; of a chain, all of them are turns.
struct Depth {
  int level = 0;
  int turn = 0;
  auto operator<=>(const Depth&) const = default;
};
// Of one node, from those of the nodes before it.
Depth depth_of(const step::Node& node, const std::vector<Depth>& depths, ExchangeOrder order);
// By node. Products without an operand are values made elsewhere. A spread stands where its sum does.
std::vector<Depth> exchange_depths(const step::Graph& graph, ExchangeOrder order);

}  // namespace rondo::schedule
