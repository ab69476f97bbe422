// Warp: waiting for others and letting others know.
#include <fmt/format.h>

#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel::simulator {

void Warp::wait_here(const WarpState& state, GroupContext& context) {
  state_ = state;
  --pc_;
  --context.steps;  // the instruction has not been run
}

void Warp::act(const BlockBarrier&, GroupContext& context) {
  if (whole_warp("a barrier", context)) state_ = AtBarrier{pc_ - 1};
}

// Lanes that wait have waited for each other too.
void Warp::act(const ComeToBarrier& a, GroupContext& context) {
  if (!whole_warp("a named barrier", context)) return;
  if (a.waits) context.clocks.sync_warp(agent_);
  const auto come = context.named.come(source_, party(active_), a.id, a.threads);
  if (come && a.waits) state_ = AtNamedBarrier{pc_ - 1, a.id, come->barrier, come->turn};
}

void Warp::act(const ClusterMeeting&, GroupContext& context) {
  if (whole_warp("a cluster barrier", context)) state_ = AtClusterBarrier{pc_ - 1};
}

void Warp::act(const SyncWarp&, GroupContext& context) {
  if (whole_warp("a warp_sync", context)) context.clocks.sync_warp(agent_);
}

void Warp::act(const ArriveMbarrier& a, GroupContext& context) {
  const Lanes& index = lanes_[a.index];
  const Lanes& rank = a.rank >= 0 ? lanes_[a.rank] : index;
  for_equal(active_, index, rank, [&](Mask lanes) {
    const int leader = __builtin_ctz(lanes);
    const std::int64_t owner =
        a.rank >= 0 ? context.clocks.shape().in_cluster(block_, rank.i[leader]) : block_;
    Mbarrier* m = context.mbarriers.find(source_, thread(leader), owner, a.id, index.i[leader]);
    if (m == nullptr) return;
    std::int64_t bytes = 0;
    if (a.bytes >= 0) for_lanes(lanes, [&](int l) { bytes += lanes_[a.bytes].i[l]; });
    context.mbarriers.arrive(*m, source_, party(lanes), bytes);
  });
}

void Warp::act(const AwaitPhase& a, GroupContext& context) {
  const Lanes& index = lanes_[a.index];
  const Lanes& parity = lanes_[a.parity];
  AtPhase blocked{pc_ - 1, nullptr, 0};
  for_equal(active_ & ~passed_, index, parity, [&](Mask lanes) {
    const int leader = __builtin_ctz(lanes);
    passed_ |= lanes;
    Mbarrier* m = context.mbarriers.find(source_, thread(leader), block_, a.id, index.i[leader]);
    if (m == nullptr) return;
    if (parity.i[leader] != 0 && parity.i[leader] != 1)
      return context.log.report(Fault::Kind::Protocol, source_,
                                fmt::format("{} waits for parity {}; 0 and 1 are legal",
                                            describe(thread(leader)), parity.i[leader]));
    if (m->has_completed(parity.i[leader])) return context.clocks.acquire(party(lanes), m->completed);
    passed_ &= ~lanes;
    blocked = {pc_ - 1, m, parity.i[leader]};
  });
  if (blocked.mbarrier != nullptr && !context.gave_up) return wait_here(blocked, context);
  passed_ = 0;
}

void Warp::act(const SendElements& a, GroupContext& context) {
  for_equal(active_, lanes_[a.rank], lanes_[a.barrier], [&](Mask lanes) { send_part(a, lanes, context); });
}

// The lanes that send to one block and mbarrier.
void Warp::send_part(const SendElements& a, Mask lanes, GroupContext& context) {
  constexpr int kWordBytes = 4;
  const int leader = __builtin_ctz(lanes);
  const std::int64_t owner = context.clocks.shape().in_cluster(block_, lanes_[a.rank].i[leader]);
  Mbarrier* m = context.mbarriers.find(source_, thread(leader), owner, a.store->barrier.id,
                                       lanes_[a.barrier].i[leader]);
  if (m == nullptr) return;
  const int words = static_cast<int>(a.values.size());
  for_lanes(lanes, [&](int l) {
    Span to = span(a.store->to, lanes_[a.index].i[l], words);
    to.block = owner;
    const Storage storage = context.memory.data(to).storage;
    const int elements = kWordBytes / storage_bytes(storage);  // of a word
    to.count *= elements;
    if (!context.memory.send(to, thread(l), m->column, m->phase)) return;
    GlobalBuffer& data = context.memory.data(to);
    auto at = static_cast<std::size_t>(to.index);
    for (const Slot value : a.values) {
      store_element(data, at, lanes_[value], l, elements == 2);
      at += static_cast<std::size_t>(elements);
    }
  });
  context.mbarriers.receive(*m, source_, party(lanes),
                            std::int64_t{__builtin_popcount(lanes)} * words * kWordBytes);
}

}  // namespace rondo::kernel::simulator
