#include "compiler/schedule/stream/exchange_step.h"

#include "compiler/schedule/stream/lane_sums.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

ExchangeStep::ExchangeStep(StreamBody& body, const StreamBody::LeafOf& leaf,
                           const std::function<void(const StreamBody::Results&)>& consume)
    : body_(body), leaf_(leaf), consume_(consume) {
  if (body.parameters_.whole_head)
    over_head_.emplace(body.stream_, body.parameters_, body.task_.problem, body.reductions_);
}

void ExchangeStep::walk() {
  if (over_head_) over_head_->declare();
  body_.stream_.walk([&](const StreamKernel::Staged& staged, bool at_start) {
    const StreamBody::Results results = step(staged, at_start);
    consume_(results);
    body_.assign_carries(results);
  });
  if (over_head_) over_head_->finish();
}

// Every lane of a channel adds the same numbers, so all have the same bits.
std::vector<HeadExchange::Totals> ExchangeStep::run(int level,
                                                    const std::vector<std::vector<Value>>& operands) {
  if (over_head_) return over_head_->run(level, operands);
  std::vector<HeadExchange::Totals> totals;
  for (std::vector<Value>& sums :
       summed_over_lanes(body_.stream_.builder(), operands, 1, body_.parameters_.row_lanes))
    totals.push_back({{}, {}, std::move(sums)});
  return totals;
}

// What a reduction needs is computed for all channels of the thread before the exchange, the rest after the
// last one.
StreamBody::Results ExchangeStep::step(const StreamKernel::Staged& staged, bool at_start) {
  const HeadReductions& of = body_.reductions_;
  const int channels = body_.parameters_.per_thread;
  std::vector<GraphLowering::Values> values;
  for (int channel = 0; channel < channels; ++channel) values.push_back(body_.lowering_.start(channel));
  // By channel of the thread: what goes along the head differs.
  std::vector<std::vector<Value>> made(
      at(channels), std::vector<Value>(at(HeadReductions::place(static_cast<int>(of.reductions.size()), 0))));
  const auto emit = [&](int channel, const std::vector<NodeId>& roots) {
    return body_.lowering_.emit_roots(values[at(channel)], roots, [&](const step::Node& node) {
      if (node.kind == step::NodeKind::MatVec) return made[at(channel)][at(node.row)];
      return leaf_(node, staged, {at_start, {}}, channel);
    });
  };
  for (int level = 0; level < of.levels; ++level) {
    const std::vector<std::size_t> numbers = of.of_level(level);
    std::vector<std::vector<Value>> operands;
    for (const std::size_t i : numbers) {
      operands.emplace_back();
      for (int channel = 0; channel < channels; ++channel)
        for (const Value value : emit(channel, of.reductions[i].operands)) operands.back().push_back(value);
    }
    const std::vector<HeadExchange::Totals> totals = run(level, operands);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool along = of.reductions[numbers[i]].along();
      const auto number = static_cast<int>(numbers[i]);
      for (int c = 0; c < channels; ++c) {
        made[at(c)][at(HeadReductions::place(number, 0))] =
            along ? totals[i].channels[at(c)] : totals[i].total;
        made[at(c)][at(HeadReductions::place(number, 1))] = totals[i].squares;
      }
    }
  }
  StreamBody::Results results;
  const std::vector<NodeId> roots(of.step.roots.begin(),
                                  of.step.roots.begin() + static_cast<std::ptrdiff_t>(of.roots));
  for (int channel = 0; channel < channels; ++channel) results.push_back(emit(channel, roots));
  return results;
}

}  // namespace rondo::schedule
