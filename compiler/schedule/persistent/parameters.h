// The parameters of persistent.
#pragma once

#include "compiler/schedule/problem/parameter_table.h"

namespace rondo::schedule {

struct PersistentParameters {
  int blocks = 1;  // a team
  // Further batch tiles are launched one part after the other. In a cluster the launch is not bounded.
  int batch_tiles_in_flight = 1;
  Exchange exchange = Exchange::Cluster;
  bool reduce_scatter = false;  // or all-gather
  int cluster_k_split = 1;
  bool setmaxnreg = false;  // PTX ISA, setmaxnreg
  int unit_blocks = 1;
  int batch_tiles = 1;
  int tiles_in_turn = 1;          // each of `batch_tiles` tiles
  bool gather_fragments = false;  // or vectors through shared memory
  // A k-tile has 16 columns. What is not in registers lies in shared memory.
  int register_k_tiles = 0;
  // With reduce-scatter, multiplying warps for each computing one.
  int split_k = 1;
  int accumulators = 2;  // against the latency of dependent mma
  int steps = 4;
  int stages = 4;
  int vector = 8;
  int producer_warps = 1;
  int store_warps = 1;
  int poll_delay = 0;
};

template <>
inline constexpr auto kParameters<PersistentParameters> = [] {
  using P = PersistentParameters;
  return parameter_table<P>(
      "persistent",
      {row<P, &P::blocks>(
           "blocks", Between{1, 4096},
           "blocks that share a head: powers of two, and through global memory also D by channels "
           "a block"),
       row<P, &P::exchange>(Exchange::Global,
                            "how blocks exchange; 0: in a cluster, 1: through global memory",
                            {.was = "grid"}),
       row<P, &P::reduce_scatter>("reduce_scatter",
                                  "1: blocks exchange sums of products, 0: the vectors that are multiplied",
                                  {.added = true}),
       row<P, &P::cluster_k_split>("cluster_k_split", PowersOfTwo{1, 8},
                                   "blocks of a cluster that split the k extent of a product (reduce-scatter "
                                   "through global memory)",
                                   {.added = true, .was = "share"}),
       row<P, &P::setmaxnreg>("setmaxnreg", "1: producer and store warps give registers to the others",
                              {.added = true, .was = "lend"}),
       row<P, &P::unit_blocks>("unit_blocks", PowersOfTwo{1, 2}, "blocks of 8 channels a warp"),
       row<P, &P::batch_tiles>("batch_tiles", PowersOfTwo{1, 4},
                               "tiles of 8 batch rows that a block multiplies together"),
       row<P, &P::tiles_in_turn>("tiles_in_turn", PowersOfTwo{1, 4},
                                 "sets of that many tiles that a block walks in turn (through global memory)",
                                 {.added = true}),
       row<P, &P::gather_fragments>(
           "gather_fragments",
           "1: a warp loads its k-tiles of the vectors from global memory as fragments, for all rows of "
           "the block; 0: the vectors come through shared memory",
           {.added = true}),
       row<P, &P::register_k_tiles>(
           "register_k_tiles", Between{0, 4096},
           "k-tiles of the matrices in registers: a few numbers up to 64, or a warp's whole share",
           {.was = "resident"}),
       row<P, &P::split_k>("split_k", PowersOfTwo{1, 16}, "warps that split the k extent of a product",
                           {.was = "splits"}),
       row<P, &P::accumulators>("accumulators", PowersOfTwo{1, 2},
                                "accumulators that a product is spread over", {.was = "chains"}),
       row<P, &P::steps>("steps", PowersOfTwo{2, 8}, "time steps a stage"),
       row<P, &P::stages>("stages", {3, 4}, "stages in the ring; 3 through global memory"),
       row<P, &P::vector>("vector", PowersOfTwo{1, 8}, "elements a copy or store moves, at most 16 bytes"),
       row<P, &P::producer_warps>("producer_warps", PowersOfTwo{1, 4}, "warps that stage inputs",
                                  {.was = "loaders"}),
       row<P, &P::store_warps>("store_warps", PowersOfTwo{1, 2},
                               "warps that store results; 1 through global memory", {.was = "writers"}),
       row<P, &P::poll_delay>("poll_delay", {0, 128, 256, 384, 512},
                              "cycles before the first look for what blocks of a grid send", {.added = true}),
       row<P, &P::batch_tiles_in_flight>(
           "batch_tiles_in_flight", PowersOfTwo{1, 16},
           "batch tiles of a launch whose blocks exchange through global memory; 1 "
           "in a cluster",
           {.was = "together"})});
}();

}  // namespace rondo::schedule
