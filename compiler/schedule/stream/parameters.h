// The parameters of stream.
#pragma once

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/channelwise/team.h"
#include "compiler/schedule/problem/parameter_table.h"

namespace rondo::schedule {

// Of Team: more segments than one, which are parts of a stage, need a step that is affine in what it
// carries (linear_step.h) and unroll * segments == steps.
struct StreamParameters : Team {
  int steps = 16;
  int stages = 4;
  int unroll = 4;
  int vector = 8;
  int producer_warps = 0;
  Rewrite rewrite = Rewrite::None;
  bool stream_stores = false;  // st.global.cs
  // How reads and writes are spread over a stage. Without it, a stage's copies are issued at its start with
  // arithmetic between them, and each step stores its results. With it, copies come in bursts between the
  // steps, and the compiler may gather the stores of a group of steps. Which is faster depends on the
  // problem.
  bool interleaved_copies = false;
  // A block holds all channels of a head, so that its threads can reduce over them. No parameter: the cell
  // says whether it must (holds_whole_head).
  bool whole_head = false;

  kernel::CacheHint writing() const {
    return stream_stores ? kernel::CacheHint::Streaming : kernel::CacheHint::Default;
  }
  int first_producer() const { return producer_warps == 0 ? 0 : (computing() + 31) / 32 * 32; }
  int staging() const {
    return producer_warps == 0 ? computing() : 32 * producer_warps;
  }  // threads that stage inputs
  int walking() const {
    return producer_warps > 0 ? first_producer() + 32 * producer_warps : computing();
  }  // threads that compute or stage
  // Where blocks split time, the scan warp comes after the others (scan_warp.h).
  int threads() const { return walking() + (among_blocks() ? 32 : 0); }
};

// Values below 8 channels or steps, and those of more than two channels a thread, are for blocks that hold
// whole heads (head_space.h). Tiles that are no powers of two matter: they are what lets the blocks of a
// launch divide evenly among the SMs.
template <>
inline constexpr auto kParameters<StreamParameters> = [] {
  using P = StreamParameters;
  return parameter_table<P>(
      "stream",
      {row<P, &P::channels>(
           "channels", Between{1, 4096},
           "channels a block: 8 to 256, also 24, 48, 96 and 192; or as many as a head asks for"),
       row<P, &P::per_thread>("per_thread", PowersOfTwo{1, 8}, "neighbouring channels a thread"),
       row<P, &P::steps>("steps", {1, 2, 4, 8, 16, 32, 56, 64, 88, 112, 120, 128, 176, 240, 256},
                         "time steps a stage; up to 64 without segments"),
       row<P, &P::stages>("stages", {2, 3, 4, 6, 8}, "stages in the ring"),
       row<P, &P::unroll>("unroll", PowersOfTwo{1, 16},
                          "steps whose values are loaded together; with segments, a segment's steps"),
       row<P, &P::vector>("vector", PowersOfTwo{1, 8},
                          "elements an asynchronous copy moves, at most 16 bytes"),
       row<P, &P::producer_warps>("producer_warps", {0, 1, 2},
                                  "warps that only stage inputs; 0: those that compute do it",
                                  {.was = "loaders"}),
       row<P, &P::rewrite>(Rewrite::Throughput,
                           "how the step is rewritten; 0: not, 1: for a short dependent chain, 2: for few "
                           "instructions",
                           {.was = "shorten"}),
       row<P, &P::segments>("segments", {1, 2, 4, 7, 8, 11, 15, 16, 32},
                            "parts of a stage worked on at once"),
       row<P, &P::time_split>("time_split", PowersOfTwo{1, 32}, "blocks that share channels and split time",
                              {.added = true, .was = "cluster"}),
       row<P, &P::exchange>(Exchange::Global,
                            "how those blocks exchange; 0: in a cluster, 1: through global memory",
                            {.added = true, .was = "grid"}),
       row<P, &P::stream_stores>("stream_stores", "1: what is written at each step leaves the L2 first",
                                 {.added = true}),
       row<P, &P::interleaved_copies>("interleaved_copies",
                                      "1: a stage is copied in bursts between the steps computed",
                                      {.added = true, .was = "pieces"}),
       row<P, &P::pipeline_depth>("pipeline_depth", {1, 2},
                                  "rounds in flight; 2: a round is applied in the next one",
                                  {.added = true, .was = "behind", .shift = 1}),
       row<P, &P::heads>("heads", PowersOfTwo{1, 16}, "heads a block, of cells that need the whole head",
                         {.optional = true}),
       row<P, &P::head_split>("head_split", PowersOfTwo{1, 16},
                              "blocks of a cluster that hold a head together", {.optional = true}),
       row<P, &P::row_lanes>("row_lanes", PowersOfTwo{1, 16},
                             "lanes of a warp that share a channel's rows, of states with many rows",
                             {.optional = true})});
}();

}  // namespace rondo::schedule
