// Happens-before between the threads of a group by vector clocks (FastTrack, Flanagan & Freund, PLDI 2009).
//
// A group is what runs together: a block, a cluster, or the whole grid of a cooperative kernel. Each warp has
// a clock; an access carries the clock its warp had. Lanes of a warp are threads of their own (PTX ISA,
// Memory Consistency Model: only synchronisation orders them): bar.warp.sync orders them, running in lockstep
// does not, nor do shuffles (CUDA C++ Programming Guide, Warp Shuffle Functions: "do not imply a memory
// barrier"). So what a warp has in common is kept once, and what single lanes know, or have made known, is
// kept apart until the warp synchronises.
//
// Data stored by st.async belongs to no thread's clock: its write is an event of the mbarrier that counts its
// bytes, at the number of the phase, and is ordered before who has waited for that phase.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernel/simulator/faults.h"
#include "compiler/kernel/simulator/lanes.h"

namespace rondo::kernel::simulator {

using Clock = std::uint32_t;

// Blocks first_block .. first_block + blocks - 1.
struct GroupShape {
  std::int64_t first_block = 0;
  int blocks = 1;
  int cluster = 1;
  int warps = 1;      // a block
  int mbarriers = 0;  // a block

  bool holds(std::int64_t block) const { return block >= first_block && block < first_block + blocks; }
  // Warps are numbered across the group.
  int agents() const { return blocks * warps; }
  int agent(std::int64_t block, int warp) const {
    return static_cast<int>(block - first_block) * warps + warp;
  }
  int agent(const Thread& thread) const { return agent(thread.block, thread.warp); }
  Thread thread(int agent, int lane) const { return {first_block + agent / warps, agent % warps, lane}; }
  std::int64_t in_cluster(std::int64_t block, std::int64_t rank) const {
    return block / cluster * cluster + rank;
  }
};

// A set of events. Of each column (a warp or an mbarrier) it holds those below a clock; of single lanes also
// later ones, below a clock of their own.
class Order {
 public:
  explicit Order(std::size_t columns) : before_(columns, 0) {}

  bool covers(int column, Clock clock) const { return clock < before_[static_cast<std::size_t>(column)]; }
  bool covers_lane(int warp, int lane, Clock clock) const {
    return covers(warp, clock) || (!lanes_.empty() && clock < lane_before(warp * kLanes + lane));
  }
  void raise(int column, Clock before);
  void raise_lane(int warp, int lane, Clock before);
  void join(const Order& other);
  void clear();

 private:
  struct LaneMark {
    int thread;  // warp * kLanes + lane
    Clock before;
  };
  Clock lane_before(int thread) const;

  std::vector<Clock> before_;
  std::vector<LaneMark> lanes_;  // by thread; only those above before_ of the warp
};

// What somebody knows of the past.
struct Knowledge {
  explicit Knowledge(std::size_t columns) : seen(columns), reached(columns), fenced(0) {}
  void join(const Knowledge& other) {
    seen.join(other.seen);
    reached.join(other.reached);
    fenced.join(other.fenced);
  }
  void clear() {
    seen.clear();
    reached.clear();
    fenced.clear();
  }

  Order seen;  // events whose effects are visible
  // Events that are over, though what they wrote need not be visible: `seen`, and what the senders of
  // st.async data, or of words that are their own flags, had reached when they sent it. Their loads had
  // returned, so the places may be overwritten; but these stores are weak or relaxed (PTX ISA, st.async and
  // st) and publish nothing else that their threads have written.
  Order reached;
  // What a fence would make visible: what the senders of words had published by fences of their own (PTX ISA,
  // Memory Consistency Model, release and acquire patterns). Empty until the first word.
  Order fenced;
};

// Some lanes of a warp, or all that it has.
struct Party {
  int agent;
  Mask lanes;
  bool whole;
};

class Clocks {
 public:
  explicit Clocks(const GroupShape& shape);

  const GroupShape& shape() const { return shape_; }
  int column(std::int64_t block, int mbarrier) const {
    return shape_.agents() + static_cast<int>(block - shape_.first_block) * shape_.mbarriers + mbarrier;
  }
  Knowledge nothing() const { return Knowledge(columns()); }
  Clock now(int agent) const { return now_[static_cast<std::size_t>(agent)]; }

  // Whether the effects of what lane `lane` of warp `agent` did at `clock` are visible to the viewer; whether
  // it was over.
  bool seen(const Thread& viewer, int agent, int lane, Clock clock) const {
    return knows(viewer, [&](const Knowledge& k) { return k.seen.covers_lane(agent, lane, clock); });
  }
  bool reached(const Thread& viewer, int agent, int lane, Clock clock) const {
    return knows(viewer, [&](const Knowledge& k) { return k.reached.covers_lane(agent, lane, clock); });
  }
  // The same for all lanes of a warp, or for the events of an mbarrier.
  bool seen_all(const Thread& viewer, int column, Clock clock) const {
    return knows(viewer, [&](const Knowledge& k) { return k.seen.covers(column, clock); });
  }
  bool reached_all(const Thread& viewer, int column, Clock clock) const {
    return knows(viewer, [&](const Knowledge& k) { return k.reached.covers(column, clock); });
  }
  // Adds what the block knows, all warps together.
  void gather(std::int64_t block, Knowledge& into) const;

  // bar.warp.sync
  void sync_warp(int agent);
  // An instruction whose results need operands of all lanes (mma, ldmatrix, shfl): what they had loaded
  // before is over, as the operands were there; nothing becomes visible by it.
  void run_together(int agent);
  // A barrier of these warps: each has seen everything that any of them has. (PTX ISA, barrier: "memory
  // accesses requested by this thread prior to the barrier are performed relative to all threads
  // participating"; barrier.cluster likewise.)
  void meet(const std::vector<int>& agents);
  // A release: adds what the party has seen and done. What other lanes have done since the warp last
  // synchronised is not in it.
  void release(const Party& party, Knowledge& into);
  // A st.async: see Knowledge::reached.
  void send(const Party& party, Knowledge& into);
  void acquire(const Party& party, const Knowledge& from);
  // A fence of the whole GPU: what is fenced becomes visible; adds to `published` what later words carry.
  void fence(const Party& party, Knowledge& published);

 private:
  // What some lanes know that their warp has not in common.
  struct Apart {
    Mask lanes;
    Knowledge knowledge;
  };
  std::size_t columns() const {
    return now_.size() + static_cast<std::size_t>(shape_.blocks) * static_cast<std::size_t>(shape_.mbarriers);
  }
  template <class F>
  bool knows(const Thread& viewer, F&& covers) const {
    const auto agent = static_cast<std::size_t>(shape_.agent(viewer));
    if (covers(rows_[agent])) return true;
    for (const Apart& apart : apart_[agent])
      if (has(apart.lanes, viewer.lane) && covers(apart.knowledge)) return true;
    return false;
  }
  void advance(const Party& party, Order& into, Clock before) const;

  GroupShape shape_;
  std::vector<Clock> now_;
  std::vector<Knowledge> rows_;  // of each warp; its own column: what its lanes know of each other
  std::vector<std::vector<Apart>> apart_;
  Knowledge joined_;
};

}  // namespace rondo::kernel::simulator
