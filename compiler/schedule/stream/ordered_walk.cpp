#include "compiler/schedule/stream/ordered_walk.h"

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/rewrite/rewrite_step.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

OrderedWalk::OrderedWalk(StreamBody& body, const StreamBody::LeafOf& leaf,
                         const std::function<void(const StreamBody::Results&)>& consume)
    : body_(body),
      leaf_(leaf),
      consume_(consume),
      b_(body.stream_.builder()),
      step_(rewritten(body.task_, body.in_order_, body.parameters_.rewrite)),
      lowering_(b_, body.task_, step_.graph, step_.roots, body.parameters_.rewrite == Rewrite::Throughput) {}

Value OrderedWalk::last_step() {
  StreamThreads& threads = body_.stream_.threads();
  return threads.forward() ? threads.last_step() : b_.constant(0);
}

Value OrderedWalk::owns(Value t) {
  const StreamParameters& p = body_.parameters_;
  StreamThreads& threads = body_.stream_.threads();
  const Value steps = b_.named("kSteps", p.steps);
  const Value place = threads.forward() ? t % steps : b_.constant(p.steps - 1) - t % steps;
  const Value in_segment = place / p.unroll == threads.here().segment;
  return p.time_split == 1 ? in_segment : in_segment && t / steps % p.time_split == threads.part();
}

void OrderedWalk::emit(const CarryEnds& ends, const std::function<std::vector<Value>()>& telling) {
  body_.stream_.threads().if_active([&] {
    b_.comment("a carry that is not finite: the walk in order tells whether it is one");
    if_not_finite(b_, telling(), [&] { walk(ends); });
  });
}

void OrderedWalk::walk(const CarryEnds& ends) {
  StreamThreads& threads = body_.stream_.threads();
  const bool among_blocks = body_.parameters_.among_blocks();
  if (!among_blocks) carries_ = body_.carry_;
  for (std::size_t k = 0; among_blocks && k < body_.task_.cell.next.size(); ++k)
    for (int channel = 0; channel < body_.parameters_.per_thread; ++channel)
      carries_.push_back(b_.variable("ordered_" + carried_name(body_.task_.cell, k), b_.real(0)));
  body_.load_carries(ends, carries_);
  hoist();
  for (const Value& sum : body_.sums_) b_.assign(sum, b_.real(0));
  b_.for_("walked", b_.constant(0), threads.time(), b_.constant(1), 1, [&](Value walked) {
    step(b_.let("t", threads.forward() ? walked : threads.last_step() - walked));
  });
  if (among_blocks) b_.if_(owns(last_step()), [&] { body_.store_carries(ends, carries_); });
}

void OrderedWalk::hoist() {
  for (int c = 0; c < body_.parameters_.per_thread; ++c)
    lowering_.hoist(c, [&](const step::Node& node) { return body_.param(node, c); });
}

StreamBody::Results OrderedWalk::results(const StreamKernel::Staged& staged,
                                         const StreamBody::AtStart& at_start,
                                         const std::vector<Value>& carries) {
  StreamBody::Results results;
  for (int c = 0; c < body_.parameters_.per_thread; ++c) {
    results.push_back(
        lowering_.lower(c, [&](const step::Node& node) { return leaf(node, staged, at_start, carries, c); }));
    for (Value& result : results.back()) result = b_.let("v", result);
  }
  return results;
}

void OrderedWalk::step(Value t) {
  StreamKernel& kernel = body_.stream_;
  kernel.values().set(kernel.load_values_at(t));
  kernel.stand_at(t, b_.constant(0));
  kernel.written().begin(t);
  const StreamRing::Rows rows = kernel.ring().load_step(t);
  const auto staged = [&](int id, int row, int channel) { return rows[at(id)][at(row)][at(channel)]; };
  StreamBody::AtStart at_start;
  if (kernel.starts_apart()) at_start.maybe = b_.let("at_start", t == 0);
  const StreamBody::Results results = this->results(staged, at_start, carries_);
  b_.if_(owns(t), [&] { consume_(results); });
  for (std::size_t k = 0; k < body_.task_.cell.next.size(); ++k)
    for (int c = 0; c < body_.parameters_.per_thread; ++c)
      b_.assign(carries_[body_.index(k, c)], results[at(c)][k]);
}

Value OrderedWalk::leaf(const step::Node& node, const StreamKernel::Staged& staged,
                        const StreamBody::AtStart& at_start, const std::vector<Value>& carries, int channel) {
  if (step::is_of_place(node)) return body_.draw(lowering_, node, channel);
  if (!is_carried(body_.task_, node)) return leaf_(node, staged, at_start, channel);
  const bool state = node.kind == step::NodeKind::Leaf;
  return carries[body_.index(carried_row(body_.task_.cell, state ? node.tensor : node.gradient.tensor,
                                         state ? node.row : node.gradient.row),
                             channel)];
}

}  // namespace rondo::schedule
