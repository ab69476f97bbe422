// Happens-before between the threads of a block by vector clocks (FastTrack, Flanagan & Freund, PLDI 2009),
// one clock a warp.
//
// A warp's clock advances at each synchronisation it takes part in. An access carries the clock its warp had;
// thread (w, l) is ordered after it if the same thread made it, or if w has since synchronised with the
// accessing warp. Lanes of a warp are threads of their own (PTX ISA, Memory Consistency Model: only
// synchronisation orders them): bar.warp.sync orders them, running in lockstep does not, nor do shuffles
// (CUDA C++ Programming Guide, Warp Shuffle Functions: "do not imply a memory barrier").
#pragma once

#include <cstdint>
#include <vector>

namespace rondo::kernel::simulator {

using Clock = std::uint32_t;

class Clocks {
 public:
  explicit Clocks(int warps) : warps_(static_cast<std::size_t>(warps)), seen_(warps_ * warps_, 0) {
    for (std::size_t w = 0; w < warps_; ++w) seen_[w * warps_ + w] = 1;
  }

  Clock now(int warp) const { return seen(warp, warp); }
  // Whether `viewer` has synchronised with `warp` since the latter's clock was `clock`.
  bool after(int viewer, int warp, Clock clock) const { return clock < seen(viewer, warp); }

  // bar.warp.sync
  void sync_warp(int warp) {
    const auto w = static_cast<std::size_t>(warp);
    ++seen_[w * warps_ + w];
  }
  // barrier.sync of the whole block: everybody has seen everything. (PTX ISA, barrier: "memory accesses
  // requested by this thread prior to the barrier are performed relative to all threads participating".)
  void sync_block() {
    for (std::size_t w = 0; w < warps_; ++w) ++seen_[w * warps_ + w];
    for (std::size_t viewer = 0; viewer < warps_; ++viewer)
      for (std::size_t w = 0; w < warps_; ++w) seen_[viewer * warps_ + w] = seen_[w * warps_ + w];
  }

 private:
  Clock seen(int viewer, int warp) const {
    return seen_[static_cast<std::size_t>(viewer) * warps_ + static_cast<std::size_t>(warp)];
  }

  std::size_t warps_;
  std::vector<Clock>
      seen_;  // [viewer][warp]: clocks below it are ordered before the viewer; own entry: the warp's clock
};

}  // namespace rondo::kernel::simulator
