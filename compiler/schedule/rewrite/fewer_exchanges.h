// A step whose reductions wait for each other as little as possible, for every strategy. Where a head lies
// spread over lanes, warps, blocks or launches, reductions whose operands are there at the same time share
// one exchange; one whose operand depends on another's result needs a second one. Three rewritings let them
// share it, and how an exchange is made is left to the strategy:
//
// - sum(a) + sum(b) becomes sum(a + b), and so do sums that are scaled alike.
// - sum(a + s * b), where the per-head value s is itself the result of a reduction, becomes sum(a) + s *
// sum(b). A
//   difference a - s, of a vector and such a value, is never taken apart: a and s might be nearly equal.
// - sum((x - m)^2 + (y - m)^2 + ...), where the per-head value m is the result of a reduction, becomes
//   spread(x, y, ...) + n * (sum(x + y + ...) / n - m)^2 for n values, whatever m is. Both terms are
//   squares, so nothing cancels; the second is nothing where m is the mean. Spread and sum are moments that
//   parts of the head combine (Chan et al. 1983).
#pragma once

#include <vector>

#include "compiler/schedule/analysis/exchanges.h"
#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

struct RewrittenStep {
  step::StepGraph step;
  std::vector<step::NodeId> origin;  // by node: the node of the original that it is a copy of, or kNoNode
};

// `shares`: roots that are sums over the channels, e.g. gradients of scalar parameters, and that somebody
// sums later: their value becomes one for each channel, which add up to it. Others keep their value.
RewrittenStep fewer_exchanges(const Task& task, const step::StepGraph& step, const std::vector<bool>& shares,
                              ExchangeOrder order);

}  // namespace rondo::schedule
