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
#include <numeric>

#include "compiler/schedule/persistent/parameters.h"
#include "compiler/schedule/problem/problem.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

// Neighbouring rows of the batch whose summands a store warp adds up, where so many rows are one to the
// caller (flatten/): those of a tile of 8 that are of one row of the caller's.
inline int rows_added_by_tiles(int batch_rows) { return std::gcd(batch_rows, 8); }

struct PersistentGeometry {
  PersistentGeometry(std::int64_t dim, kernel::Storage storage, const PersistentParameters& parameters);

  std::int64_t dim;
  int element_bytes;  // of the storage type
  PersistentParameters p;
  int units;       // channels a block, those past the head's end included
  int padded;      // channels of the team: the k extent of products
  int k_tiles;     // padded / 16
  int warps;       // computing warps; each has parts() - 1 others that multiply for it
  int turn_batch;  // batch rows that a block multiplies together: a tile in turn
  int batch;       // batch rows a block

  bool reduces() const { return p.reduce_scatter; }
  // With reduce-scatter: channels whose vectors a block multiplies, tiles of 16 of the head's channels that a
  // warp multiplies them into, and blocks or clusters that send a block their sums.
  int columns() const { return units * p.cluster_k_split; }
  int sum_tiles() const { return p.blocks * p.unit_blocks / (2 * p.split_k * p.cluster_k_split); }
  int senders() const { return p.blocks / p.cluster_k_split; }
  // k-tiles that a warp multiplies, for the units of the warp, or, where it gathers fragments, of the block.
  int k_tiles_of_warp() const { return k_tiles / (p.gather_fragments ? matrix_warps() : p.split_k); }
  int multiplied_unit_blocks() const { return p.gather_fragments ? units / 8 : p.unit_blocks; }
  // Shares of the multiplying warps: the first computes too, but with reduce-scatter it only computes.
  int parts() const { return p.split_k + (reduces() ? 1 : 0); }
  int matrix_warps() const { return warps * p.split_k; }  // that hold matrices
  int multiplying() const { return 32 * warps * parts(); }
  int first_producer_thread() const { return multiplying(); }
  // With setmaxnreg: registers a thread of producer and store warps, which need more for tensors with one
  // value a head (nvcc 13.0 puts 4 to 32 bytes of them into memory with 56), and of all other warps.
  static constexpr int helper_registers(bool head_values) { return head_values ? 64 : 56; }
  static int compute_registers(int multiplying_threads, bool head_values);
  int first_store_thread() const { return first_producer_thread() + 32 * p.producer_warps; }
  int threads() const {
    return p.setmaxnreg ? first_producer_thread() + 128 : first_store_thread() + 32 * p.store_warps;
  }
  bool in_cluster() const { return p.blocks > 1 && p.exchange == Exchange::Cluster; }
  bool in_grid() const { return p.exchange == Exchange::Global; }
  bool exact() const { return padded == dim; }  // no channels past the head's end
  // Channels of a thread: [unit block][batch tile][2].
  int channels() const { return p.unit_blocks * p.batch_tiles * 2; }
  // Of the same batch row in the first unit block, whose register all hold per-head values in.
  int head_value_channel(int channel) const { return channel % head_values(); }
  int head_values() const {
    return 2 * p.batch_tiles;
  }  // of a row with one value a head, that a thread holds
  int unit_of(int channel) const { return channel / (2 * p.batch_tiles); }  // its block of units
  int tile_of(int channel) const { return channel / 2 % p.batch_tiles; }
  // Vectors of 16 bytes that hold a unit's rows of a tile of 8 batch rows.
  int row_vectors() const { return 8 * element_bytes / 16; }
  // m16 tiles of a group of `products` products that a warp multiplies.
  int row_tiles(int products) const { return (products * multiplied_unit_blocks() + 1) / 2; }
};

// Teams that come after each other, as each needs blocks of its own.
double waves(const PersistentGeometry& geometry, const step::Sizes& sizes, const target::Limits& limits);

// Threads that sum what blocks sent for one channel, at most: more would make the last additions long.
inline constexpr int kMostLines = 16;

// Channels a block for a head of `dim` channels.
// `whole_tiles`: a multiple of 16.
int persistent_units(std::int64_t dim, int blocks, int unit_blocks, bool whole_tiles = false);

}  // namespace rondo::schedule
