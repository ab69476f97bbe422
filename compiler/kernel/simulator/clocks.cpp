#include "compiler/kernel/simulator/clocks.h"

#include <algorithm>

namespace rondo::kernel::simulator {

namespace {

constexpr auto kByThread = [](const auto& mark, int thread) { return mark.thread < thread; };

}  // namespace

Clock Order::lane_before(int thread) const {
  const auto at = std::lower_bound(lanes_.begin(), lanes_.end(), thread, kByThread);
  return at != lanes_.end() && at->thread == thread ? at->before : 0;
}

void Order::raise(int column, Clock before) {
  Clock& mine = before_[static_cast<std::size_t>(column)];
  mine = std::max(mine, before);
}

void Order::raise_lane(int warp, int lane, Clock before) {
  if (before <= before_[static_cast<std::size_t>(warp)]) return;
  const int thread = warp * kLanes + lane;
  const auto at = std::lower_bound(lanes_.begin(), lanes_.end(), thread, kByThread);
  if (at != lanes_.end() && at->thread == thread)
    at->before = std::max(at->before, before);
  else
    lanes_.insert(at, {thread, before});
}

void Order::join(const Order& other) {
  if (before_.size() < other.before_.size()) before_.resize(other.before_.size(), 0);
  for (std::size_t c = 0; c < other.before_.size(); ++c) before_[c] = std::max(before_[c], other.before_[c]);
  std::erase_if(lanes_, [&](const LaneMark& mark) {
    return mark.before <= before_[static_cast<std::size_t>(mark.thread / kLanes)];
  });
  for (const LaneMark& mark : other.lanes_)
    raise_lane(mark.thread / kLanes, mark.thread % kLanes, mark.before);
}

void Order::clear() {
  std::ranges::fill(before_, 0);
  lanes_.clear();
}

Clocks::Clocks(const GroupShape& shape)
    : shape_(shape),
      now_(static_cast<std::size_t>(shape.agents()), 1),
      rows_(now_.size(), Knowledge(columns())),
      apart_(now_.size()),
      joined_(columns()) {
  for (int a = 0; a < shape.agents(); ++a) {
    rows_[static_cast<std::size_t>(a)].seen.raise(a, 1);
    rows_[static_cast<std::size_t>(a)].reached.raise(a, 1);
  }
}

void Clocks::gather(std::int64_t block, Knowledge& into) const {
  for (int w = 0; w < shape_.warps; ++w) {
    const auto agent = static_cast<std::size_t>(shape_.agent(block, w));
    into.join(rows_[agent]);
    for (const Apart& apart : apart_[agent]) into.join(apart.knowledge);
  }
}

void Clocks::sync_warp(int agent) {
  const auto a = static_cast<std::size_t>(agent);
  for (const Apart& apart : apart_[a]) rows_[a].join(apart.knowledge);
  apart_[a].clear();
  ++now_[a];
  rows_[a].seen.raise(agent, now_[a]);
  rows_[a].reached.raise(agent, now_[a]);
}

void Clocks::run_together(int agent) {
  const auto a = static_cast<std::size_t>(agent);
  for (const Apart& apart : apart_[a]) rows_[a].reached.join(apart.knowledge.reached);
  rows_[a].reached.raise(agent, ++now_[a]);
}

void Clocks::meet(const std::vector<int>& agents) {
  joined_.clear();
  for (const int agent : agents) {
    sync_warp(agent);
    joined_.join(rows_[static_cast<std::size_t>(agent)]);
  }
  for (const int agent : agents) rows_[static_cast<std::size_t>(agent)] = joined_;
}

void Clocks::advance(const Party& party, Order& into, Clock before) const {
  if (party.whole) return into.raise(party.agent, before);
  for (Mask rest = party.lanes; rest != 0; rest &= rest - 1)
    into.raise_lane(party.agent, __builtin_ctz(rest), before);
}

void Clocks::release(const Party& party, Knowledge& into) {
  const auto a = static_cast<std::size_t>(party.agent);
  into.join(rows_[a]);
  for (const Apart& apart : apart_[a])
    if ((apart.lanes & party.lanes) != 0) into.join(apart.knowledge);
  ++now_[a];
  advance(party, into.seen, now_[a]);
  advance(party, into.reached, now_[a]);
}

void Clocks::send(const Party& party, Knowledge& into) {
  const auto a = static_cast<std::size_t>(party.agent);
  into.reached.join(rows_[a].reached);
  for (const Apart& apart : apart_[a])
    if ((apart.lanes & party.lanes) != 0) into.reached.join(apart.knowledge.reached);
  ++now_[a];
  advance(party, into.reached, now_[a]);
}

void Clocks::fence(const Party& party, Knowledge& published) {
  const auto a = static_cast<std::size_t>(party.agent);
  Knowledge mine = nothing();
  mine.seen.join(rows_[a].fenced);
  for (const Apart& apart : apart_[a])
    if ((apart.lanes & party.lanes) != 0) mine.seen.join(apart.knowledge.fenced);
  acquire(party, mine);
  release(party, published);
}

void Clocks::acquire(const Party& party, const Knowledge& from) {
  const auto a = static_cast<std::size_t>(party.agent);
  if (party.whole) return rows_[a].join(from);
  for (Apart& apart : apart_[a])
    if (apart.lanes == party.lanes) return apart.knowledge.join(from);
  apart_[a].push_back({party.lanes, from});
}

}  // namespace rondo::kernel::simulator
