// Who holds what in a persistent kernel.
//
// A team of `blocks` blocks, a cluster or part of the grid, holds one head's matrices for `batch` batch rows.
// Each block owns `units()` neighbouring channels of the head, each computing warp 8 * unit_blocks of them.
// Lane 4g + q of a warp holds channel g of each block of 8, for batch rows 2q and 2q + 1 of each tile of 8:
// the accumulator layout of mma.m16n8k16 (PTX ISA), with the rows of two products, or of one product and two
// blocks of channels, as its 16 rows. So all products of a channel meet in one thread, and what follows needs
// no exchange.
#pragma once

#include <cstdint>

#include "compiler/schedule/problem/problem.h"

namespace rondo::schedule {

struct PersistentParameters {
  int blocks = 1;          // that share a head
  int together = 1;        // batch tiles of a launch, if they meet through global memory
  int grid = 0;            // 1: they meet through global memory, 0: they are a cluster
  int reduce_scatter = 0;  // 1: blocks exchange sums of products, 0: the vectors that are multiplied
  int share = 1;           // blocks of a cluster that multiply the same columns (reduce-scatter in a grid)
  int lend = 0;            // 1: staging and storing warps lend registers to the others
  int unit_blocks = 1;     // blocks of 8 channels a warp
  int batch_tiles = 1;     // tiles of 8 batch rows a block
  int resident =
      0;  // k-tiles (16 columns) of the matrices a warp keeps in registers; the rest in shared memory
  // Warps that share the columns of the same products; with reduce-scatter, multiplying warps a computing
  // one.
  int splits = 1;
  int chains = 2;   // accumulators a product is spread over, against the latency of dependent mma
  int steps = 4;    // time steps a stage
  int stages = 4;   // stages of inputs in flight
  int vector = 8;   // elements a copy of inputs or a store of results moves
  int loaders = 1;  // warps that stage inputs
  int writers = 1;  // warps that store results

  static PersistentParameters from(const Parameters& parameters);
};

struct PersistentGeometry {
  PersistentGeometry(std::int64_t dim, kernel::Storage storage, const PersistentParameters& parameters);

  std::int64_t dim;
  int element_bytes;  // of the storage type
  PersistentParameters p;
  int units;    // channels a block, those past the head's end included
  int padded;   // channels of the team: the k extent of products
  int k_tiles;  // padded / 16
  int warps;    // computing warps; each has parts() - 1 others that multiply for it
  int batch;    // batch rows a block

  bool reduces() const { return p.reduce_scatter == 1; }
  // With reduce-scatter: channels whose vectors a block multiplies, tiles of 16 of the head's channels that a
  // warp multiplies them into, and blocks or clusters that send a block their sums.
  int columns() const { return units * p.share; }
  int sum_tiles() const { return p.blocks * p.unit_blocks / (2 * p.splits * p.share); }
  int senders() const { return p.blocks / p.share; }
  int k_share() const { return k_tiles / p.splits; }  // k-tiles a warp multiplies
  // Shares of the multiplying warps: the first computes too, but with reduce-scatter it only computes.
  int parts() const { return p.splits + (reduces() ? 1 : 0); }
  int matrix_warps() const { return warps * p.splits; }  // that hold matrices
  int multiplying() const { return 32 * warps * parts(); }
  int first_loader() const { return multiplying(); }
  // Registers a thread of staging and storing warps, if they lend some, and of the others, which have them.
  static constexpr int kLent = 56;
  static int borrowed(int multiplying_threads);
  int first_writer() const { return first_loader() + 32 * p.loaders; }
  int threads() const { return p.lend == 1 ? first_loader() + 128 : first_writer() + 32 * p.writers; }
  bool in_cluster() const { return p.blocks > 1 && p.grid == 0; }
  bool in_grid() const { return p.grid == 1; }
  bool exact() const { return padded == dim; }  // no channels past the head's end
  // Channels of a thread: [unit block][batch tile][2].
  int channels() const { return p.unit_blocks * p.batch_tiles * 2; }
  int unit_of(int channel) const { return channel / (2 * p.batch_tiles); }  // its block of units
  int tile_of(int channel) const { return channel / 2 % p.batch_tiles; }
  // Vectors of 16 bytes that hold a unit's rows of a tile of 8 batch rows.
  int row_vectors() const { return 8 * element_bytes / 16; }
  // m16 tiles of a group of `products` products.
  int row_tiles(int products) const { return (products * p.unit_blocks + 1) / 2; }
  // Elements from row to row of a staged tile: 16 bytes more than the units, so that the eight rows of a
  // matrix that ldmatrix reads lie in different banks (fp32: persistent_elements.cpp).
  int staged_pitch() const { return units + 16 / element_bytes; }
};

// Threads that sum what blocks sent for one channel, at most: more would make the last additions long.
inline constexpr int kMostLines = 16;

// Channels a block for a head of `dim` channels.
// `whole_tiles`: a multiple of 16.
int persistent_units(std::int64_t dim, int blocks, int unit_blocks, bool whole_tiles = false);

}  // namespace rondo::schedule
