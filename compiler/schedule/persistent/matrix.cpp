#include "compiler/schedule/persistent/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/kernel/builder/split_index.h"
#include "compiler/schedule/lower/product_terms.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Array;
using kernel::Memory;

OnChipMatrix::OnChipMatrix(PersistentKernel& kernel, const Problem& problem, int row_tiles, int k_tiles,
                           ProductKind kind)
    : kernel_(kernel),
      problem_(problem),
      geometry_(kernel.geometry()),
      row_tiles_(row_tiles),
      k_tiles_(k_tiles),
      resident_(std::min(kernel.geometry().p.register_k_tiles, k_tiles)),
      kind_(kind),
      sum_tiles_(at(row_tiles)),
      all_sum_tiles_(row_tiles) {
  std::iota(sum_tiles_.begin(), sum_tiles_.end(), 0);
}

void OnChipMatrix::add_to(std::vector<int> sums, int all) {
  sum_tiles_ = std::move(sums);
  all_sum_tiles_ = all;
}

void OnChipMatrix::declare(std::size_t number) {
  const int outside = k_tiles_ - resident_;
  const int warps = geometry_.matrix_warps();
  if (outside == 0) return;
  const int vectors = words() / 4;
  shared_ = kernel_.builder().shared(
      fmt::format("matrix_{}", number), problem_.storage, std::int64_t{warps} * row_tiles_ * outside * 32 * 8,
      fmt::format("[warps {}, row tiles {}, k-tiles {}, {}lanes 32, {}]", warps, row_tiles_, outside,
                  vectors == 1 ? "" : fmt::format("{}, ", vectors), 8 / vectors));
}

// Of the fragments in shared memory, by vectors of four words: 16 bytes a lane are read without conflicts.
Value OnChipMatrix::place(int tile, Value k, int vector) {
  const int vectors = words() / 4;
  Value line = (kernel_.threads().matrix_warp() * row_tiles_ + tile) * (k_tiles_ - resident_) + k;
  if (vectors > 1) line = line * vectors + vector;
  return (line * 32 + kernel_.here().lane) * (8 / vectors);
}

int OnChipMatrix::accumulator(int sum_tile, int batch_tile, int chain) const {
  const PersistentParameters& p = geometry_.p;
  return ((sum_tile * p.batch_tiles + batch_tile) * p.accumulators + chain % p.accumulators) * 4;
}

void OnChipMatrix::load(std::size_t number, const Fragment& fragment, const OnChipMatrix* sums_of) {
  start_loading(number);
  load_part(0, k_tiles_, fragment);
  if (sums_of == nullptr) return finish_loading(number);
  accumulators_ = sums_of->accumulators_;
}

void OnChipMatrix::finish_loading(std::size_t number) {
  accumulators_ =
      kernel_.builder().array(fmt::format("sum_{}", number), Type::F32, accumulator(all_sum_tiles_, 0, 0));
  if (kind_ == ProductKind::Max)
    largest_ = kernel_.builder().array(fmt::format("largest_{}", number), Type::F32,
                                       row_tiles_ * geometry_.p.batch_tiles * 16);
}

void OnChipMatrix::start_loading(std::size_t number) {
  auto& b = kernel_.builder();
  if (resident_ > 0)
    fragments_ = b.array(fmt::format("matrix_{}_now", number), kernel_.elements().type(),
                         row_tiles_ * resident_ * words());
}

void OnChipMatrix::load_part(int first, int end, const Fragment& fragment) {
  auto& b = kernel_.builder();
  const int inside = std::min(end, resident_);
  if (first < inside)
    b.for_("k", first, inside, kernel::kFullUnroll, [&](Value k) {
      for (int tile = 0; tile < row_tiles_; ++tile)
        for (int part = 0; part < words(); ++part)
          b.write(fragments_, k * words() + (tile * resident_ * words() + part), fragment(tile, k, part));
    });
  const int outside = std::max(first, resident_);
  if (outside < end)
    b.for_("k", outside - resident_, end - resident_, 1, [&](Value k) {
      for (int tile = 0; tile < row_tiles_; ++tile)
        for (int vector = 0; vector < words() / 4; ++vector) {
          std::vector<Value> parts;
          for (int part = 0; part < 4; ++part)
            parts.push_back(fragment(tile, k + resident_, 4 * vector + part));
          kernel_.elements().store(shared_[place(tile, k, vector)], parts);
        }
    });
}

void OnChipMatrix::multiply(const Memory& vector, Value first, std::int64_t tile_pitch,
                            const MatrixScratch& scratch) {
  if (kind_ == ProductKind::Max) return take_largest(vector, first, tile_pitch);
  auto& b = kernel_.builder();
  const Value from = b.let("from_slot", first + kernel_.elements().vector_lane());
  clear_sums();
  if (resident_ > 0) multiply_tiles(vector, from, tile_pitch, 0, resident_, Home::Registers, scratch);
  if (resident_ < k_tiles_)
    multiply_tiles(vector, from, tile_pitch, resident_, k_tiles_, Home::Shared, scratch);
}

void OnChipMatrix::clear_sums() {
  auto& b = kernel_.builder();
  b.for_("i", 0, accumulator(all_sum_tiles_, 0, 0), kernel::kFullUnroll,
         [&](Value i) { b.write(accumulators_, i, b.real(0)); });
}

void OnChipMatrix::multiply(Array fragments, const MatrixScratch& scratch, bool adds) {
  auto& b = kernel_.builder();
  const int of_tile = kernel_.elements().fragment_words();
  if (!adds) clear_sums();
  const auto tile = [&](Value k, int chain, Home home) {
    multiply_tile(
        k, fragments, [&](int batch) { return k * of_tile + batch * k_tiles_ * of_tile; }, chain, home,
        scratch);
  };
  const auto tiles = [&](int first, int end, Home home) {
    if (end - first > 1)
      b.for_("kk", 0, (end - first) / 2, kernel::kFullUnroll, [&](Value kk) {
        for (int half = 0; half < 2; ++half) tile(kk * 2 + (first + half), half, home);
      });
    if ((end - first) % 2 == 1) tile(b.constant(end - 1), 0, home);
  };
  tiles(0, resident_, Home::Registers);
  tiles(resident_, k_tiles_, Home::Shared);
}

// k-tiles [first, end): pairs of them, an odd last one by itself.
void OnChipMatrix::multiply_tiles(const Memory& vector, Value from, std::int64_t tile_pitch, int first,
                                  int end, Home home, const MatrixScratch& scratch) {
  auto& b = kernel_.builder();
  const auto multiply = [&](Value k, int half) {
    multiply_tile(
        k, scratch.vector, [&](int batch) { return b.constant(batch * words() + half * (words() / 2)); },
        half, home, scratch);
  };
  const auto load = [&](Value k, int k_tiles) {
    for (int tile = 0; tile < geometry_.p.batch_tiles; ++tile)
      kernel_.elements().load_vector(scratch.vector, tile * words(), k_tiles, vector,
                                     from + k * (16 * 8) + tile * tile_pitch);
  };
  const int pairs = (end - first) / 2;
  if (pairs > 0)
    b.for_("kk", 0, pairs, kernel::kFullUnroll, [&](Value kk) {
      const Value k = kk * 2 + first;
      load(k, 2);
      for (int half = 0; half < 2; ++half) multiply(k + half, half);
    });
  if ((end - first) % 2 == 0) return;
  const Value k = b.constant(end - 1);
  load(k, 1);
  multiply(k, 0);
}

// One k-tile: every row tile by every tile of the batch.
void OnChipMatrix::multiply_tile(Value k, Array fragments, const Fragments& first_word, int chain, Home home,
                                 const MatrixScratch& scratch) {
  auto& b = kernel_.builder();
  for (int tile = 0; tile < row_tiles_; ++tile) {
    kernel::Array matrix = fragments_;
    Value piece = k * words() + tile * resident_ * words();
    if (home == Home::Shared) {
      for (int vector = 0; vector < words() / 4; ++vector) {
        const std::vector<Value> parts =
            kernel_.elements().load("piece", shared_[place(tile, k - resident_, vector)], 4);
        for (int i = 0; i < 4; ++i) b.write(scratch.piece, b.constant(4 * vector + i), parts[at(i)]);
      }
      matrix = scratch.piece;
      piece = b.constant(0);
    }
    for (int batch = 0; batch < geometry_.p.batch_tiles; ++batch)
      b.mma(problem_.storage, accumulators_, b.constant(accumulator(sum_tiles_[at(tile)], batch, chain)),
            matrix, piece, fragments, first_word(batch), kernel_.elements().tf32x3());
  }
}

Value OnChipMatrix::sum(int row_tile, int batch_tile, int element) const {
  auto& b = kernel_.builder();
  Value sum;
  for (int chain = 0; chain < (kind_ == ProductKind::Max ? 1 : geometry_.p.accumulators); ++chain) {
    const Value part = b.read(accumulators_, b.constant(accumulator(row_tile, batch_tile, chain) + element));
    sum = sum.valid() ? sum + part : part;
  }
  return sum;
}

void OnChipMatrix::add_to_sum(int row_tile, int batch_tile, int element, Value value) {
  auto& b = kernel_.builder();
  const Value place = b.constant(accumulator(row_tile, batch_tile, 0) + element);
  b.write(accumulators_, place, joined(b, kind_, b.read(accumulators_, place), value));
}

void MatrixSource::declare(const std::vector<ProductGroup>& groups) {
  for (const ProductGroup& group : groups)
    for (const Product& product : group.products)
      if (group.kind != ProductKind::Scatter && matrices_.count(product.matrix) == 0)
        matrices_[product.matrix] = kernel_.signature().reads({Role::Param, product.matrix});
}

// R[row][out][in] of this head.
Value MatrixSource::element(const Product& product, Value out, Value in, bool many, ProductKind kind) {
  auto& b = kernel_.builder();
  const std::int64_t dim = problem_.sizes.dim;
  const KernelTensor& matrix = matrices_.at(product.matrix);
  const Value line = product.transposed ? in : out;
  const Value column = product.transposed ? out : in;
  const Value first = (b.wide(kernel_.here().head) * matrix.rows + product.row) * (dim * dim);
  const auto load = [&] {
    if (!many) return b.load("r", matrix.memory[first + b.wide(line * dim + column)]);
    const auto [base, step] = kernel::split_index(line * dim + column);
    return b.load("r", matrix.memory[b.wide(base) + (first + b.wide(step))]);
  };
  if (kernel_.geometry().exact()) return load();
  // Rows past the end have numbers of some kind, which no other product takes for infinite ones.
  const Value outside = neutral(kind) == 0 ? b.real(0) : b.select(in < dim, b.real(0), b.real(neutral(kind)));
  const Value result = b.variable("entry", outside);
  b.if_(out < dim && in < dim, [&] { b.assign(result, load()); });
  return result;
}

Value MatrixSource::word(const Product& product, Value out, Value in, bool many, ProductKind kind) {
  auto& b = kernel_.builder();
  if (problem_.storage == kernel::Storage::F32) {
    const Value entry = element(product, out, in, many, kind);
    return problem_.math == kernel::Math::Tf32 ? b.let("entry", b.round_tf32(entry)) : entry;
  }
  const std::int64_t dim = problem_.sizes.dim;
  if (product.transposed || dim % 2 != 0 || !kernel_.geometry().exact())
    return b.let("pair", b.pack(problem_.storage, element(product, out, in, many, kind),
                                element(product, out, in + 1, many, kind)));
  const KernelTensor& matrix = matrices_.at(product.matrix);
  const Value first = (b.wide(kernel_.here().head) * matrix.rows + product.row) * (dim * dim);
  return b.load_packed("pair", matrix.memory[first + b.wide(out * dim + in)], 1)[0];
}

}  // namespace rondo::schedule
