// Packed matrices multiplied by many vectors, a part of the matrix in the first cache at a time.
#pragma once

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/host/packed.h"

namespace rondo::schedule {

// Multiplies all products of a group for the rows of `vectors`. A block of columns of a chunk of products is
// multiplied by all rows, tile after tile, before the next: it comes from memory once, and the next one is
// asked for meanwhile.
struct BlockedProduct {
  const HostParameters& p;
  const HostPacked& packed;
  kernel::Memory matrices;  // Role::Packed
  kernel::Memory vectors;   // fp32, or for matrix tiles bf16, [row][pitch]
  std::int64_t pitch = 0;
  kernel::Memory sums;  // fp32, [chunk][row][product of the chunk][channel of the block]
  int rows = 1, tile = 1;
  ProductKind kind = ProductKind::Sum;  // but for a Scatter
  kernel::Value any = {};   // whether a row has the step; where none has, sums are zero. Without it one has
  kernel::Value from = {};  // element of the matrices where those of `packed` begin; without it 0
  bool adds = false;        // to what the sums have, which otherwise begin anew

  // Elements of `sums` that a group needs: where channels are asked for, the largest sums before them.
  static std::int64_t sum_elements(const HostParameters& p, int products, int rows,
                                   ProductKind kind = ProductKind::Sum) {
    return std::int64_t{products} * rows * p.channels() * (kind == ProductKind::Channel ? 2 : 1);
  }
  // Where what a product comes to for lane 0's channel of vector 0 lies, less `first_sum`.
  kernel::Value sum_at(int product, kernel::Value row) const;
  // `block`: head * tiles + tile of the matrices; `first_vector`, `first_sum`: elements where the group's
  // begin. `count`: rows that are there, at most `rows`; all of them without it.
  void multiply(kernel::Builder& b, kernel::Value block, std::int64_t first_vector, std::int64_t first_sum,
                kernel::Value count = {}) const;

 private:
  // By matrix tiles (`packed.in_tiles`): all rows at once.
  void multiply_tiles(kernel::Builder& b, kernel::Value block, kernel::Value chunk, int products,
                      std::int64_t first_vector, std::int64_t first_sum) const;
  std::int64_t largest() const { return sum_elements(p, packed.products, rows); }
  struct Tiles {
    int first, rows;      // first row of the first tile; rows of each tile
    int number;           // how many there may be
    kernel::Value count;  // how many there are
  };
  std::vector<Tiles> tiles(kernel::Builder& b, kernel::Value count, int products) const;
  void multiply_chunk(kernel::Builder& b, kernel::Value block, kernel::Value chunk, int products,
                      std::int64_t first_vector, std::int64_t first_sum,
                      const std::vector<Tiles>& tiles) const;
};

// Elements between rows of vectors: no power of two, so that rows do not push each other out of the cache.
std::int64_t vector_pitch(std::int64_t dim, int lanes);

}  // namespace rondo::schedule
