// The parameters of shoot.
#pragma once

#include "compiler/schedule/channelwise/team.h"
#include "compiler/schedule/problem/parameter_table.h"

namespace rondo::schedule {

// Of Team: a segment is a part of all of time, and each warp has one segment of 32 * per_thread channels.
struct ShootParameters : Team {
  int steps = 16;
  int stages = 3;
  int unroll = 4;
  int vector = 8;
  int warmup = 0;  // of starts at zero; whole stages
  bool newton = true;
  int sweeps = 3;  // more where they pay
  Rewrite rewrite = Rewrite::None;
  KeptInputs keep_inputs = KeptInputs::Memory;
  bool stream_stores = false;  // st.global.cs

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

template <>
inline constexpr auto kParameters<ShootParameters> = [] {
  using P = ShootParameters;
  return parameter_table<P>(
      "shoot",
      {row<P, &P::channels>("channels", {32, 64, 128, 256}, "channels a block"),
       row<P, &P::per_thread>("per_thread", PowersOfTwo{1, 2},
                              "neighbouring channels a thread; 1 in fp32, and where blocks split time"),
       // 7, 15 and 31 make whole groups of warps together with the scan warp.
       row<P, &P::segments>("segments", {1, 2, 4, 7, 8, 15, 16, 31, 32}, "segments of time in a block"),
       row<P, &P::time_split>("time_split", PowersOfTwo{1, 16}, "blocks that share channels and split time"),
       row<P, &P::exchange>(Exchange::Launch,
                            "how those blocks exchange; 0: in a cluster, 1: through global memory, 2: by a "
                            "launch for each round"),
       row<P, &P::steps>("steps", {8, 16, 32}, "time steps a stage"),
       row<P, &P::stages>("stages", {2, 3, 4, 6, 8, 12, 16},
                          "stages in a warp's ring; more than 4 only to hold a segment"),
       row<P, &P::unroll>("unroll", {4, 8}, "steps whose values are loaded together"),
       row<P, &P::vector>("vector", PowersOfTwo{1, 8}, "elements an asynchronous copy moves"),
       row<P, &P::warmup>("warmup", {0, 32, 64, 128, 256}, "steps before its segment where a guess begins"),
       row<P, &P::newton>("newton", "1: Jacobians correct the starts; 0: the ends of the segments before"),
       row<P, &P::sweeps>("sweeps", {1, 2, 3, 4},
                          "sweeps side by side before the rest is finished in order; a search has up to 3"),
       row<P, &P::rewrite>(Rewrite::Throughput,
                           "how the step is rewritten; 0: not, 1: for a short dependent chain, 2: for few "
                           "instructions"),
       row<P, &P::keep_inputs>(KeptInputs::Registers,
                               "where inputs stay between sweeps; 0: memory or the L2, 1: shared memory, 2: "
                               "registers",
                               {.added = true}),
       row<P, &P::stream_stores>("stream_stores", "1: what is written at each step leaves the L2 first")});
}();

}  // namespace rondo::schedule
