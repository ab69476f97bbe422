#include "compiler/schedule/lower/along_head.h"

#include <algorithm>
#include <vector>

namespace rondo::schedule {

using kernel::Builder;
using kernel::Value;

HeadMove::HeadMove(const step::Node& node, std::int64_t dim)
    : around_(node.kind == step::NodeKind::Rotate),
      offset_(std::clamp<std::int64_t>(node.offset, -dim, dim)),
      dim_(dim),
      distance_(((node.offset % dim) + dim) % dim) {}

Value HeadMove::source(Value channel) const {
  Builder& b = *channel.builder();
  if (distance_ == 0) return channel;
  const Value before = channel - distance_;
  return b.let("from", b.select(before < 0, before + dim_, before));
}

Value HeadMove::target(Value channel) const {
  Builder& b = *channel.builder();
  if (distance_ == 0) return channel;
  const Value after = channel + distance_;
  return b.let("to", b.select(after >= dim_, after - dim_, after));
}

Value HeadMove::gets(Value channel) const {
  if (around_ || offset_ == 0) return {};
  return offset_ > 0 ? channel >= offset_ : channel < dim_ + offset_;
}

std::pair<Value, Value> sums_of_lanes(Builder& b, kernel::Memory lanes, int count, Value own, bool up) {
  b.barrier();
  b.store(lanes[b.thread()], own);
  b.barrier();
  Value before = b.real(0);
  std::vector<Value> values;
  for (int lane = 0; lane < count; ++lane) {
    values.push_back(b.load("lane", lanes[b.constant(lane)]));
    const Value counts = up ? b.constant(lane) < b.thread() : b.thread() < lane;
    before = b.let("before", before + b.select(counts, values.back(), b.real(0)));
  }
  for (; values.size() > 1; values.resize(values.size() / 2))
    for (std::size_t i = 0; i < values.size() / 2; ++i) values[i] = values[2 * i] + values[2 * i + 1];
  return {before, b.let("of_lanes", values.front())};
}

std::pair<Value, Value> sums_of_warp_lanes(Builder& b, int count, Value lane, Value own, bool up) {
  Value before = b.real(0), total = own;
  for (int apart = 1; apart < count; apart *= 2) {
    const Value other = b.shuffle("other", total, kernel::ShuffleMode::Xor, b.constant(apart));
    const Value second = (lane & apart) == apart;
    before = b.let("before",
                   before + (up ? b.select(second, other, b.real(0)) : b.select(second, b.real(0), other)));
    total = b.let("sum", total + other);
  }
  return {before, total};
}

}  // namespace rondo::schedule
