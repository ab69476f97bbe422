// The tuning parameters of kernels for CPUs.
#pragma once

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/parameter_table.h"

namespace rondo::schedule {

struct HostParameters {
  int lanes = 16;
  int vectors = 1;
  int rows = 1;
  int together = 4;
  int tile = 4;
  int segments = 1;
  int ahead = 0;
  bool stream_stores = false;
  bool matrix_tiles = false;

  kernel::CacheHint writing() const {
    return stream_stores ? kernel::CacheHint::Streaming : kernel::CacheHint::Default;
  }
  int channels() const { return lanes * vectors; }
  // More vectors than that are walked by a rolled loop, one a turn.
  static constexpr int kMostInRegisters = 16;
  bool rolled() const { return vectors > kMostInRegisters; }
  int vectors_a_turn() const { return rolled() ? 1 : vectors; }
};

// Earlier versions walked time as one, asked for nothing ahead, and wrote through the caches.
template <>
inline constexpr auto kParameters<HostParameters> = [] {
  using P = HostParameters;
  return parameter_table<P>(
      "host",
      {row<P, &P::lanes>("lanes", {16}, "channels a vector"),
       row<P, &P::vectors>("vectors", {1, 2, 3, 4, 8, 16, 32, 64, 128, 256}, "vectors of channels a block"),
       row<P, &P::rows>("rows", PowersOfTwo{1, 32}, "batch rows a block, of cells with matrices"),
       row<P, &P::together>("together", PowersOfTwo{1, 8}, "products of the step added up at once"),
       row<P, &P::tile>("tile", {1, 2, 3, 4, 6, 8, 12}, "batch rows for which they are"),
       // One more than a number of threads: each of both launches then has a segment for each thread.
       row<P, &P::segments>("segments", {1, 3, 5, 9, 17, 33, 65},
                            "parts of time that threads walk side by side", {.added = true}),
       row<P, &P::ahead>("ahead", {0, 2, 4},
                         "steps that inputs are asked for before they are loaded; 0: they are not",
                         {.added = true}),
       row<P, &P::stream_stores>("stream_stores", "1: what is written at each step goes past the caches",
                                 {.added = true}),
       row<P, &P::matrix_tiles>("matrix_tiles", "1: products of bf16 by the CPU's matrix tiles",
                                {.added = true})});
}();

}  // namespace rondo::schedule
