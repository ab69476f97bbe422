// The parameters of shoot.
#pragma once

#include "compiler/schedule/channelwise/team.h"
#include "compiler/schedule/problem/parameters.h"
#include "compiler/schedule/rewrite/rewrite_step.h"

namespace rondo::schedule {

// Where a warp finds the inputs of its segment when it sweeps again.
enum class KeptInputs {
  Memory,     // or the L2: it reads them again
  Shared,     // in its ring, which holds the whole segment
  Registers,  // in those of its threads
};

// Of Team: a segment is a part of all of time, and each warp has one segment of 32 * per_thread channels.
struct ShootParameters : Team {
  int steps = 16;      // time steps of a stage
  int stages = 3;      // of a warp's ring
  int unroll = 4;      // steps whose values are loaded together
  int vector = 8;      // elements that one asynchronous copy moves
  int warmup = 0;      // steps before its segment from which a thread starts, at zero; whole stages
  bool newton = true;  // starts are corrected with the segments' Jacobians; or by their ends alone
  int sweeps = 3;      // side by side, before what is left is finished in order; more where they pay
  Rewrite rewrite = Rewrite::None;
  KeptInputs keep_inputs = KeptInputs::Memory;
  bool stream_stores = false;  // what each step writes leaves the L2 first (st.global.cs)

  static ShootParameters from(const Parameters& parameters);
  int warp_channels() const { return 32 * per_thread; }
  int warps() const { return computing() / 32; }
  int all_segments() const { return segments * time_split; }
  // How many more sweeps are made side by side where those before brought nearly all starts close.
  static constexpr int kMoreSweeps = 3;
  int more_sweeps() const { return newton && all_segments() > 1 ? kMoreSweeps : 0; }
  // Rounds of sweep and scan, at most: those side by side, then one for each block that finishes its part in
  // order.
  int rounds() const { return sweeps + more_sweeps() + time_split; }
  // Where each round is a launch, one more scans what the last round left.
  int launches() const { return by_launch() ? rounds() + 1 : 1; }
  // Where blocks split time, the scan warp comes after the others.
  int threads() const { return computing() + (among_blocks() ? 32 : 0); }
  bool keeps_on_chip() const { return keep_inputs >= KeptInputs::Shared; }
  // Steps whose inputs a thread has in registers from sweep to sweep.
  int kept_steps() const { return keep_inputs == KeptInputs::Registers ? steps : 0; }
  kernel::CacheHint writing() const {
    return stream_stores ? kernel::CacheHint::Streaming : kernel::CacheHint::Default;
  }
};

}  // namespace rondo::schedule
