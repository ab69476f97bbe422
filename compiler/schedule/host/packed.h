// Matrices in the order in which CPUs multiply them: output channels side by side, a block's together.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/host/parameters.h"
#include "compiler/schedule/plan/kernel_plan.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

// [head][tile][chunk of products][column][product of the chunk][channel of the block], zeros past the head's
// end; the chunks have `together` products each, the last one the rest. With `in_tiles` they are those of
// kernel::TileMma: [32 columns][product of the chunk][16 channels of the block][tile].
struct HostPacked {
  // `tiles`: whether matrix tiles may multiply them (host_tiles), which they then do where they divide them.
  HostPacked(const Problem& problem, const HostParameters& parameters, int products, bool tiles,
             std::int64_t first = 0);
  // The same of matrices of other extents, as they are multiplied.
  HostPacked(const Problem& problem, const HostParameters& parameters, int products, bool tiles,
             std::int64_t rows, std::int64_t columns, std::int64_t first);

  std::int64_t rows, dim;  // channels that a product gives, and columns, which it adds up
  kernel::Storage storage;
  int channels, tiles, together, products;
  std::int64_t heads, first;  // first: element of Role::Packed where it begins
  bool in_tiles;

  std::int64_t elements() const { return heads * tiles * products * dim * channels; }
  int chunks() const { return ceil_div(products, together); }
  int chunk_products(int chunk) const;
  // Where a chunk of a block begins; `block`: head * tiles + tile.
  kernel::Value chunk_at(kernel::Value block, kernel::Value chunk) const;
};

// Brings the matrices of products, which read one vector, into that order.
Launch host_pack(const Task& task, const HostParameters& parameters, const HostPacked& packed,
                 const std::vector<Product>& products, const std::string& name);

}  // namespace rondo::schedule
