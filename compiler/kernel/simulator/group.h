// A group of blocks that runs together: each warp as far as it gets, in turn, and who waits for whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/flags.h"
#include "compiler/kernel/simulator/mbarrier.h"
#include "compiler/kernel/simulator/memory.h"
#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel::simulator {

class Group {
 public:
  // `warps` are those of shape.blocks blocks; they and `memory` are used again by the next group.
  Group(const Program& program, const GroupShape& shape, const Launch& launch, std::vector<Warp>& warps,
        Memory& memory, FaultLog& log, std::int64_t& steps, std::int64_t step_limit);
  // Until all warps have finished, are stuck, or the log stops the run. With `give_up` (SimulationOptions)
  // waits end when all are stuck.
  void run(bool give_up);
  bool gave_up() const { return context_.gave_up; }

 private:
  bool release_barriers();
  bool release_block(int first);
  bool release_cluster(int first, int count);
  bool release_named();
  void release(const std::vector<int>& agents);
  bool stuck() const;
  void give_up();
  void deadlock();
  std::string reason(const Warp& warp) const;
  std::string barrier_reason(const Warp& warp, Pc pc) const;
  Warp& warp(int agent) { return warps_[static_cast<std::size_t>(agent)]; }
  const Warp& warp(int agent) const { return warps_[static_cast<std::size_t>(agent)]; }

  const Program& program_;
  GroupShape shape_;
  std::vector<Warp>& warps_;
  FaultLog& log_;
  Clocks clocks_;
  Mbarriers mbarriers_;
  Flags flags_;
  Words words_;
  NamedBarriers named_;
  Publications publications_;
  Accessor memory_;
  GroupContext context_;
};

}  // namespace rondo::kernel::simulator
