#include "compiler/kernel/simulator/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/kernel/ir/print_expression.h"

namespace rondo::kernel::simulator {

namespace {

// PTX ISA, mbarrier: the tx-count ranges over -(2^20 - 1) .. 2^20 - 1.
constexpr std::int64_t kMaxBytes = (1 << 20) - 1;

std::string of_block(const Mbarrier& m) { return fmt::format("{} of block {}", m.name, m.block); }

}  // namespace

int mbarriers_per_block(const Kernel& kernel) {
  int count = 0;
  for (const MbarrierArray& array : kernel.mbarriers) count += array.count;
  return count;
}

std::string progress(const Mbarrier& m) {
  std::string text = fmt::format("{} of {} arrivals have come", m.arrivals - m.pending, m.arrivals);
  if (m.bytes > 0) text += fmt::format(", {} bytes are still expected", m.bytes);
  if (m.bytes < 0) text += fmt::format(", {} bytes came that nobody expects", -m.bytes);
  return text;
}

Mbarriers::Mbarriers(const Kernel& kernel, Clocks& clocks, FaultLog& log)
    : kernel_(kernel), clocks_(clocks), log_(log) {
  const GroupShape& shape = clocks.shape();
  int next = 0;
  for (const MbarrierArray& array : kernel.mbarriers) {
    first_.push_back(next);
    next += array.count;
  }
  for (std::int64_t block = shape.first_block; block < shape.first_block + shape.blocks; ++block)
    for (std::size_t id = 0; id < kernel.mbarriers.size(); ++id)
      for (int k = 0; k < kernel.mbarriers[id].count; ++k)
        mbarriers_.emplace_back(fmt::format("{}[{}]", mbarrier_name(kernel, static_cast<MbarrierId>(id)), k),
                                block, clocks.column(block, first_[id] + k), kernel.mbarriers[id].arrivals,
                                clocks.nothing());
}

Mbarrier* Mbarriers::find(const Stmt* stmt, const Thread& by, std::int64_t block, MbarrierId id,
                          std::int64_t index) {
  const GroupShape& shape = clocks_.shape();
  const std::int64_t rank = block - shape.in_cluster(by.block, 0);
  if (rank < 0 || rank >= shape.cluster) {
    log_.report(Fault::Kind::OutOfRange, stmt,
                fmt::format("{} names rank {} of a cluster of {} blocks", describe(by), rank, shape.cluster));
    return nullptr;
  }
  const int count = kernel_.mbarriers[static_cast<std::size_t>(id)].count;
  if (index < 0 || index >= count) {
    log_.report(
        Fault::Kind::OutOfRange, stmt,
        fmt::format("{} uses mbarrier {}[{}] of {}", describe(by), mbarrier_name(kernel_, id), index, count));
    return nullptr;
  }
  const std::int64_t at =
      (block - shape.first_block) * shape.mbarriers + first_[static_cast<std::size_t>(id)] + index;
  return &mbarriers_[static_cast<std::size_t>(at)];
}

// What counts for a phase must come after the phase before it has completed, in every interleaving: else it
// may be counted for that one.
bool Mbarriers::in_phase(const Mbarrier& m, const Stmt* stmt, const Party& party, const char* what) {
  if (m.phase == 0) return true;
  for (Mask rest = party.lanes; rest != 0; rest &= rest - 1) {
    const Thread by = clocks_.shape().thread(party.agent, __builtin_ctz(rest));
    if (clocks_.reached_all(by, m.column, m.phase - 1)) continue;
    log_.report(
        Fault::Kind::Protocol, stmt,
        fmt::format("{} {} phase {} of mbarrier {}, but has not waited, nor heard from who has, until "
                    "phase {} completed: it may be counted for that one",
                    describe(by), what, m.phase, of_block(m), m.phase - 1));
    return false;
  }
  return true;
}

void Mbarriers::arrive(Mbarrier& m, const Stmt* stmt, const Party& party, std::int64_t bytes) {
  in_phase(m, stmt, party, "arrives in");
  const Clock clock = clocks_.now(party.agent);
  clocks_.release(party, m.gathering);
  note_arrival(m, stmt, party, clock);
  const int count = std::popcount(party.lanes);
  if (count > m.pending)
    log_.report(Fault::Kind::Protocol, stmt,
                fmt::format("{} arrivals at mbarrier {} by warp {} of block {}, whose phase {} waits for {}",
                            count, of_block(m), party.agent % clocks_.shape().warps,
                            clocks_.shape().thread(party.agent, 0).block, m.phase, m.pending));
  m.pending = std::max(m.pending - count, 0);
  m.bytes += bytes;
  complete_if_done(m, stmt);
}

void Mbarriers::receive(Mbarrier& m, const Stmt* stmt, const Party& party, std::int64_t bytes) {
  in_phase(m, stmt, party, "sends in");
  m.sent = {stmt, clocks_.shape().thread(party.agent, __builtin_ctz(party.lanes)), clocks_.now(party.agent),
            m.phase};
  clocks_.send(party, m.gathering);
  m.bytes -= bytes;
  complete_if_done(m, stmt);
}

void Mbarriers::complete_if_done(Mbarrier& m, const Stmt* stmt) {
  if (m.bytes > kMaxBytes || m.bytes < -kMaxBytes)
    log_.report(Fault::Kind::Protocol, stmt,
                fmt::format("mbarrier {} counts {} bytes; it can count {}", of_block(m), m.bytes, kMaxBytes));
  if (m.pending > 0 || m.bytes != 0) return;
  ++m.phase;
  m.pending = m.arrivals;
  m.completed.join(m.gathering);
  m.completed.seen.raise(m.column, m.phase);
  m.completed.reached.raise(m.column, m.phase);
}

void Mbarriers::note_arrival(Mbarrier& m, const Stmt* stmt, const Party& party, Clock clock) {
  const Thread by = clocks_.shape().thread(party.agent, __builtin_ctz(party.lanes));
  if (by.block == m.block) return;
  const RemoteUse use{stmt, by, clock, m.phase};
  for (RemoteUse& known : m.remote)
    if (known.by.block == by.block && known.by.warp == by.warp && known.by.lane == by.lane) {
      known = use;
      return;
    }
  m.remote.push_back(use);
}

// PTX ISA, mapa and st.async: shared memory of another block is there only while that block runs. A block
// runs until the last of its warps has finished, so what one of them knows to be over did not come too late.
void Mbarriers::check_exits() {
  std::int64_t gathered = -1;
  Knowledge known = clocks_.nothing();
  for (const Mbarrier& m : mbarriers_) {
    if (m.sent.stmt == nullptr && m.remote.empty()) continue;
    if (gathered != m.block) {
      known = clocks_.nothing();
      clocks_.gather(m.block, known);
      gathered = m.block;
    }
    const auto report = [&](const RemoteUse& use, const char* what) {
      log_.report(Fault::Kind::Protocol, use.stmt,
                  fmt::format("block {} may have left when {} {}: no thread of it has waited for phase {} of "
                              "mbarrier {}, nor for that thread",
                              m.block, describe(use.by), what, use.phase, m.name));
    };
    if (m.sent.stmt != nullptr && !known.reached.covers(m.column, m.sent.phase))
      report(m.sent, "stores to its shared memory");
    for (const RemoteUse& use : m.remote)
      if (!known.reached.covers(m.column, use.phase) &&
          !known.reached.covers_lane(clocks_.shape().agent(use.by), use.by.lane, use.clock))
        report(use, "arrives at its mbarrier");
  }
}

}  // namespace rondo::kernel::simulator
