// A step whose reductions wait for each other as little as possible, for every strategy. Where a head lies
// spread over lanes, warps, blocks or launches, reductions whose operands are there at the same time share
// one exchange; one whose operand depends on another's result needs a second one. Three rewritings let them
// share it, and how an exchange is made is left to the strategy:
//
// - sum(a) + sum(b) becomes sum(a + b), and so do sums that are scaled alike.
// - sum(a + s * b), where the number s is itself the result of a reduction, becomes sum(a) + s * sum(b). A
//   difference a - s, of a vector and such a number, is never taken apart: a and s might be nearly equal.
// - sum((x - m)^2 + (y - m)^2 + ...), where the number m is the result of a reduction, becomes
//   spread(x, y, ...) + n * (sum(x + y + ...) / n - m)^2 for n numbers, whatever m is. Both terms are
//   squares, so nothing cancels; the second is nothing where m is the mean. Spread and sum are moments that
//   parts of the head combine (Chan et al. 1983).
#pragma once

#include <vector>

#include "compiler/schedule/analysis/shorten_chain.h"

namespace rondo::schedule {

// Whether sums or maxima over the head are part of the step or of its derivative, beside the sums in
// gradients of scalar parameters: each channel carries its share of those, and they are added up after all
// steps.
bool adds_over_head(const step::Cell& cell);
// Whether a step of such a cell has something to rewrite: reductions, or roots that are to be shares. A
// forward step need not, where one number a head is read alone.
bool reduces_over_head(const step::Cell& cell, const StepGraph& step, const std::vector<bool>& shares);

struct RewrittenStep {
  StepGraph step;
  std::vector<step::NodeId> origin;  // by node: the node of the original that it is a copy of, or kNoNode
};

// How products take turns with reductions. Levels: all products of a level come together, and reductions
// follow the last level that they wait for. Chain: a product is an exchange like a reduction, and a value is
// there after as many as the longest way to it has.
enum class ExchangeOrder { Levels, Chain };

// `shares`: roots that are sums over the channels, e.g. gradients of scalar parameters, and that somebody
// sums later: their value becomes one for each channel, which add up to it. Others keep their value.
RewrittenStep fewer_exchanges(const StepGraph& step, const std::vector<bool>& shares, ExchangeOrder order);

// Where a node stands among a step's exchanges: products that it waits for, one after the other, and
// reductions since the last of them; of a chain, all of them are turns.
struct Depth {
  int level = 0;
  int turn = 0;
  auto operator<=>(const Depth&) const = default;
};
// By node. Products without an operand are values made elsewhere. A spread stands where its sum does.
std::vector<Depth> exchange_depths(const step::Graph& graph, ExchangeOrder order);

}  // namespace rondo::schedule
