#include "compiler/schedule/persistent_products.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::schedule {

using kernel::Array;
using kernel::Type;
using kernel::Value;

namespace {

std::size_t at(int id) { return static_cast<std::size_t>(id); }

}  // namespace

PersistentProducts::PersistentProducts(PersistentKernel& kernel, const step::Cell& cell,
                                       const Problem& problem, const std::vector<ProductGroup>& groups)
    : kernel_(kernel), cell_(cell), problem_(problem), geometry_(kernel.geometry()), groups_(groups) {}

// Two k-tiles at a time: what one ldmatrix.x4 brings.
int PersistentProducts::resident() const { return std::min(geometry_.p.resident, geometry_.k_share()); }

Value PersistentProducts::first_tile() { return kernel_.part() * geometry_.k_share(); }

// Of the fragments in shared memory: 8 elements, the four pairs of a lane.
Value PersistentProducts::matrix_place(const Group& own, int tile, Value k) {
  const int outside = geometry_.k_share() - resident();
  const Value warp = kernel_.part() * geometry_.warps + kernel_.warp();
  return (((warp * own.row_tiles + tile) * outside + k) * 32 + kernel_.lane()) * 8;
}

std::int64_t PersistentProducts::exchange_elements() const {
  return std::int64_t{8} * geometry_.p.batch_tiles * geometry_.padded;
}

int PersistentProducts::fragment_registers(const PersistentGeometry& geometry,
                                           const std::vector<ProductGroup>& groups) {
  int registers = 0;
  for (const ProductGroup& group : groups)
    registers += 4 * geometry.row_tiles(static_cast<int>(group.products.size())) *
                 std::min(geometry.p.resident, geometry.k_share());
  return registers;
}

void PersistentProducts::declare() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  for (const ProductGroup& group : groups_) {
    Group own;
    own.row_tiles = g.row_tiles(static_cast<int>(group.products.size()));
    const std::string name = fmt::format("vector_{}", own_.size());
    own.exchange = b.shared(
        name, problem_.storage, exchange_slots() * exchange_elements(),
        fmt::format("[{}, batch tiles {}, channels {}, 8]", exchange_slots(), g.p.batch_tiles, g.padded));
    if (const int outside = g.k_share() - resident(); outside > 0)
      own.matrix = b.shared(fmt::format("matrix_{}", own_.size()), problem_.storage,
                            std::int64_t{g.warps} * g.p.splits * own.row_tiles * outside * 32 * 8,
                            fmt::format("[warps {}, row tiles {}, k-tiles {}, lanes 32, 8]",
                                        g.warps * g.p.splits, own.row_tiles, outside));
    if (g.p.splits > 1)
      own.partial =
          b.shared(fmt::format("partial_{}", own_.size()), kernel::Storage::F32,
                   std::int64_t{g.p.splits - 1} * g.warps * own.row_tiles * g.p.batch_tiles * 32 * 4,
                   fmt::format("[splits {} - 1, warps {}, row tiles {}, batch tiles {}, lanes 32, 4]",
                               g.p.splits, g.warps, own.row_tiles, g.p.batch_tiles));
    own_.push_back(own);
    for (const Product& product : group.products)
      if (matrices_.count(product.matrix) == 0)
        matrices_[product.matrix] = kernel_.signature().reads({Role::Param, product.matrix});
  }
  if (g.in_grid()) sent_ = kernel_.signature().writes({Role::Exchange, -1});
  if (g.p.splits > 1)
    partial_ready_ = b.mbarrier("partial_ready", g.warps, g.p.splits - 1, "other warps' sums are there");
  if (g.in_cluster())
    for (int level = 0; level < levels_of(groups_); ++level)
      ready_.push_back(b.mbarrier(fmt::format("ready_{}", level), 2, 1, "vectors have come from all blocks"));
}

// R[row][out][in] of this head, zero outside of the head.
Value PersistentProducts::element(const Product& product, Value out, Value in) {
  auto& b = kernel_.builder();
  const std::int64_t dim = problem_.sizes.dim;
  const KernelTensor& matrix = matrices_.at(product.matrix);
  const Value line = product.transposed ? in : out;
  const Value column = product.transposed ? out : in;
  const Value first = (b.wide(kernel_.head()) * matrix.rows + product.row) * (dim * dim);
  const auto load = [&] { return b.load("r", matrix.memory[first + b.wide(line * dim + column)]); };
  if (geometry_.exact()) return load();
  const Value result = b.variable("entry", b.real(0));
  b.if_(out < dim && in < dim, [&] { b.assign(result, load()); });
  return result;
}

Value PersistentProducts::pair(const Product& product, Value out, Value in) {
  auto& b = kernel_.builder();
  const std::int64_t dim = problem_.sizes.dim;
  if (product.transposed || dim % 2 != 0 || !geometry_.exact())
    return b.let("pair", b.pack(problem_.storage, element(product, out, in), element(product, out, in + 1)));
  const KernelTensor& matrix = matrices_.at(product.matrix);
  const Value first = (b.wide(kernel_.head()) * matrix.rows + product.row) * (dim * dim);
  return b.load_packed("pair", matrix.memory[first + b.wide(out * dim + in)], 1)[0];
}

// PTX ISA, mma.m16n8k16, matrix A: pairs 0 and 2 are row g, pairs 1 and 3 row g + 8; 2 and 3 are columns 8
// on. The 16 rows are two of the group's [product][unit block] of 8 rows; an odd last one stands alone.
std::vector<Value> PersistentProducts::fragment(const ProductGroup& group, int tile, Value k) {
  auto& b = kernel_.builder();
  const int blocks = geometry_.p.unit_blocks;
  std::vector<Value> pairs;
  for (int i = 0; i < 4; ++i) {
    const int half = 2 * tile + i % 2;
    if (half >= static_cast<int>(group.products.size()) * blocks) {
      pairs.push_back(b.constant(0));
      continue;
    }
    const Product& product = group.products[at(half / blocks)];
    const Value in = k * 16 + (kernel_.quarter() * 2 + i / 2 * 8);
    pairs.push_back(pair(product, kernel_.unit_index(half % blocks), in));
  }
  return pairs;
}

void PersistentProducts::load_matrices() {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int inside = resident();
  const int outside = g.k_share() - inside;
  b.comment("the matrices, for all of time");
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& own = own_[i];
    if (inside > 0) {
      own.fragments = b.array(fmt::format("matrix_{}_now", i), Type::I32, own.row_tiles * inside * 4);
      b.for_("k", 0, inside, kernel::kFullUnroll, [&](Value k) {
        for (int tile = 0; tile < own.row_tiles; ++tile) {
          const std::vector<Value> pairs = fragment(groups_[i], tile, first_tile() + k);
          for (int part = 0; part < 4; ++part)
            b.write(own.fragments, k * 4 + (tile * inside * 4 + part), pairs[at(part)]);
        }
      });
    }
    if (outside > 0)
      b.for_("k", 0, outside, 1, [&](Value k) {
        for (int tile = 0; tile < own.row_tiles; ++tile)
          b.store_packed(own.matrix[matrix_place(own, tile, k)],
                         fragment(groups_[i], tile, first_tile() + k + inside));
      });
    own.accumulators =
        b.array(fmt::format("sum_{}", i), Type::F32, own.row_tiles * g.p.batch_tiles * g.p.chains * 4);
  }
  if (outside > 0) loaded_ = b.array("matrix_piece", Type::I32, 4);
  if (g.in_grid()) collected_ = b.array("collected", Type::I32, 4 * collect_turns());
  operand_ = b.array("vector_now", Type::I32, g.p.batch_tiles * 4);
}

void PersistentProducts::multiply(int level, Value count) {
  auto& b = kernel_.builder();
  for (std::size_t group = 0; group < groups_.size(); ++group)
    if (groups_[group].level == level) multiply_group(group, count);
  if (geometry_.p.splits == 1) return;
  b.wait(partial_ready_, kernel_.warp(), phase(level, count) % 2);
  for (std::size_t group = 0; group < groups_.size(); ++group)
    if (groups_[group].level == level) take_over(own_[group]);
}

// The place of the sums cannot be written again before they are read: the vectors of the next step come from
// the warp that reads them.
void PersistentProducts::multiply_role() {
  auto& b = kernel_.builder();
  load_matrices();
  b.for_("step", b.constant(0), kernel_.time(), b.constant(1), 1, [&](Value count) {
    for (int level = 0; level < levels_of(groups_); ++level) {
      meet(level, count);
      for (std::size_t group = 0; group < groups_.size(); ++group) {
        if (groups_[group].level != level) continue;
        multiply_group(group, count);
        hand_over(own_[group]);
      }
      b.warp_sync();
      b.if_(kernel_.lane() == 0, [&] { b.arrive(partial_ready_, kernel_.warp()); });
    }
  });
}

void PersistentProducts::hand_over(const Group& own) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int tiles = own.row_tiles * g.p.batch_tiles;
  const Value line = b.let("partial_at", ((kernel_.part() - 1) * g.warps + kernel_.warp()) * tiles);
  for (int tile = 0; tile < tiles; ++tile) {
    std::vector<Value> sums;
    for (int i = 0; i < 4; ++i) sums.push_back(chain_sum(own, tile, i));
    b.store_vector(own.partial[((line + tile) * 32 + kernel_.lane()) * 4], sums);
  }
}

void PersistentProducts::take_over(const Group& own) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int tiles = own.row_tiles * g.p.batch_tiles;
  for (int part = 0; part < g.p.splits - 1; ++part)
    for (int tile = 0; tile < tiles; ++tile) {
      const Value line = (kernel_.warp() + part * g.warps) * tiles + tile;
      const std::vector<Value> sums =
          b.load_vector("partial", own.partial[(line * 32 + kernel_.lane()) * 4], 4);
      for (int i = 0; i < 4; ++i) {
        const Value place = b.constant(tile * g.p.chains * 4 + i);
        b.write(own.accumulators, place, b.read(own.accumulators, place) + sums[at(i)]);
      }
    }
}

void PersistentProducts::multiply_group(std::size_t group, Value count) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const Group& own = own_[group];
  const Value slot = b.let("from_slot", count % exchange_slots() * exchange_elements() +
                                            (first_tile() * (16 * 8) + kernel_.lane() * 8));
  b.for_("i", 0, own.row_tiles * g.p.batch_tiles * g.p.chains * 4, kernel::kFullUnroll,
         [&](Value i) { b.write(own.accumulators, i, b.real(0)); });
  const int inside = resident();
  if (inside > 0) multiply_tiles(group, 0, inside, slot, Home::Registers);
  if (inside < g.k_share()) multiply_tiles(group, inside, g.k_share(), slot, Home::Shared);
}

// k-tiles [first, end) of a group: pairs of them by ldmatrix.x4, an odd last one by ldmatrix.x2.
void PersistentProducts::multiply_tiles(std::size_t group, int first, int end, Value slot, Home home) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const auto load = [&](Value k, int matrices) {
    for (int tile = 0; tile < g.p.batch_tiles; ++tile)
      b.load_matrix(operand_, b.constant(tile * 4), matrices, true,
                    own_[group].exchange[slot + k * (16 * 8) + tile * g.padded * 8]);
  };
  const int pairs = (end - first) / 2;
  if (pairs > 0)
    b.for_("kk", 0, pairs, kernel::kFullUnroll, [&](Value kk) {
      const Value k = kk * 2 + first;
      load(k, 4);
      for (int half = 0; half < 2; ++half) multiply_tile(own_[group], k + half, half, half, home);
    });
  if ((end - first) % 2 == 0) return;
  const Value k = b.constant(end - 1);
  load(k, 2);
  multiply_tile(own_[group], k, 0, 0, home);
}

// One k-tile: every row tile of the group by every tile of the batch. `half`: which half of the operand.
void PersistentProducts::multiply_tile(const Group& own, Value k, int half, int chain, Home home) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = geometry_;
  const int inside = resident();
  for (int tile = 0; tile < own.row_tiles; ++tile) {
    Array matrix = own.fragments;
    Value piece = k * 4 + tile * inside * 4;
    if (home == Home::Shared) {
      const std::vector<Value> words =
          b.load_packed("piece", own.matrix[matrix_place(own, tile, k - inside)], 4);
      for (int i = 0; i < 4; ++i) b.write(loaded_, b.constant(i), words[at(i)]);
      matrix = loaded_;
      piece = b.constant(0);
    }
    for (int batch = 0; batch < g.p.batch_tiles; ++batch) {
      const int sum = ((tile * g.p.batch_tiles + batch) * g.p.chains + chain % g.p.chains) * 4;
      b.mma(problem_.storage, own.accumulators, b.constant(sum), matrix, piece, operand_,
            b.constant(batch * 4 + half * 2));
    }
  }
}

Value PersistentProducts::chain_sum(const Group& own, int tile, int element) const {
  auto& b = kernel_.builder();
  Value sum;
  for (int chain = 0; chain < geometry_.p.chains; ++chain) {
    const Value part =
        b.read(own.accumulators, b.constant((tile * geometry_.p.chains + chain) * 4 + element));
    sum = sum.valid() ? sum + part : part;
  }
  return sum;
}

Value PersistentProducts::value(std::size_t group, int product, int channel) const {
  const PersistentGeometry& g = geometry_;
  const int half = product * g.p.unit_blocks + g.unit_of(channel);
  return chain_sum(own_[group], half / 2 * g.p.batch_tiles + g.tile_of(channel), half % 2 * 2 + channel % 2);
}

}  // namespace rondo::schedule
