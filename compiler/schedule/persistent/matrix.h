// A part of the head's matrices that one warp multiplies at every step: it lies on the chip for all of time,
// as A operands of mma.m16n8k16 (PTX ISA; fp32: pairs of m16n8k8), its first k-tiles in registers, the rest
// in shared memory. Products over max and plus (max_plus.cpp) have the same operands and results.
#pragma once

#include <functional>
#include <vector>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/persistent/kernel.h"

namespace rondo::schedule {

// Registers that all matrices of a thread share while they are multiplied.
struct MatrixScratch {
  kernel::Array vector;  // fragments of two k-tiles of the vector: [batch tiles, matrix_words()]
  kernel::Array piece;   // of a matrix that lies in shared memory: [matrix_words()]
};

class OnChipMatrix {
 public:
  // A warp's share: `row_tiles` of 16 rows by `k_tiles` of 16 columns.
  OnChipMatrix(PersistentKernel& kernel, const Problem& problem, int row_tiles, int k_tiles,
               ProductKind kind = ProductKind::Sum);

  // Of a matrix whose products join those of others: which of `all` row tiles of sums each of its own adds
  // to. Without it they are all its own.
  void add_to(std::vector<int> sums, int all);
  // Declares what of it lies in shared memory, under this number.
  void declare(std::size_t number);
  // Fills it; `fragment` gives the words of a row tile at one of the warp's k-tiles (ChipElements::column).
  // The sums get this number, or are those of a matrix that was loaded before.
  using Fragment = std::function<kernel::Value(int tile, kernel::Value k, int word)>;
  void load(std::size_t number, const Fragment& fragment, const OnChipMatrix* sums_of = nullptr);
  // The same in parts: between start_loading() and finish_loading().
  void start_loading(std::size_t number);
  void load_part(int first, int end, const Fragment& fragment);
  void finish_loading(std::size_t number);  // declares the sums
  // Multiplies a vector in shared memory: element `first` + (k-tile * 16 + channel) * 8 + batch row, and
  // `tile_pitch` elements from one tile of batch rows to the next.
  void multiply(const kernel::Memory& vector, kernel::Value first, std::int64_t tile_pitch,
                const MatrixScratch& scratch);
  // Multiplies a vector that lies in registers: fragments [batch tiles, k-tiles,
  // ChipElements::fragment_words()]. `adds`: to the sums as they are, in place of zeros.
  void multiply(kernel::Array fragments, const MatrixScratch& scratch, bool adds = false);
  // Adds to the sums, of which the first is row `first_row` of the head, what has chosen their channels: of
  // `columns` columns of a vector, placed as for multiply(), and of their choices, [batch tiles, any,
  // columns, 8] fp32.
  struct Rows {
    const kernel::Memory& memory;
    kernel::Value first;
    std::int64_t tile_pitch;
  };
  void add_chosen(const Rows& vector, const Rows& chosen, int columns, kernel::Value first_row);
  // Element of the accumulator of a row tile of the sums and a batch tile: 0 and 1 are row g, 2 and 3 row g
  // + 8.
  kernel::Value sum(int row_tile, int batch_tile, int element) const;
  // Or the larger of both.
  void add_to_sum(int row_tile, int batch_tile, int element, kernel::Value value);

  int row_tiles() const { return row_tiles_; }
  int k_tiles() const { return k_tiles_; }
  bool outside_registers() const { return k_tiles_ > resident_; }
  // Whether a thread loads hundreds of elements into registers, by as many places in the text. With fewer
  // there is less to gain, and NVRTC kept an array of 96 in local memory once their places were taken apart.
  bool has_many_places() const { return row_tiles_ * resident_ * words() >= kManyWords; }

 private:
  enum class Home { Registers, Shared };
  static constexpr int kManyWords = 128;  // from which the compiler's time for their places is felt
  kernel::Value place(int tile, kernel::Value k, int vector);
  int words() const { return kernel_.elements().matrix_words(); }
  int accumulator(int sum_tile, int batch_tile, int chain) const;
  void multiply_tiles(const kernel::Memory& vector, kernel::Value from, std::int64_t tile_pitch, int first,
                      int end, Home home, const MatrixScratch& scratch);
  // The first word of a batch tile's fragment of the vector.
  using Fragments = std::function<kernel::Value(int batch_tile)>;
  void multiply_tile(kernel::Value k, kernel::Array fragments, const Fragments& first_word, int chain,
                     Home home, const MatrixScratch& scratch);
  void clear_sums();
  // A Max of a vector in shared memory.
  void take_largest(const kernel::Memory& vector, kernel::Value from, std::int64_t tile_pitch);
  void take_largest_of_tile(const kernel::Memory& vector, kernel::Value from, std::int64_t tile_pitch,
                            kernel::Value k, Home home);
  std::vector<kernel::Value> batch_rows(const kernel::Memory& vector, kernel::Value from);
  void join_lanes();

  PersistentKernel& kernel_;
  const Problem& problem_;
  const PersistentGeometry& geometry_;
  int row_tiles_, k_tiles_, resident_;
  ProductKind kind_;
  std::vector<int> sum_tiles_;  // by row tile: that of the sums
  int all_sum_tiles_;
  kernel::Memory shared_;    // [warps, row tiles, k-tiles not in registers, vectors, lanes, 4 words], if any
  kernel::Array fragments_;  // [row tiles, k-tiles in registers, words]
  kernel::Array accumulators_;  // [row tiles of sums, batch tiles, chains, 4]
  kernel::Array largest_;       // of the lane's columns: [row tiles, batch tiles, 2 rows, 8 batch rows]
};

// Elements of the head's matrices from global memory.
class MatrixSource {
 public:
  MatrixSource(PersistentKernel& kernel, const Problem& problem) : kernel_(kernel), problem_(problem) {}

  void declare(const std::vector<ProductGroup>& groups);
  // The word that begins with an element of a row of the product's matrix, outside of the head what is
  // neutral to its kind. Elements of which there are many in the text are loaded by split_index().
  kernel::Value word(const Product& product, kernel::Value out, kernel::Value in, bool many = false,
                     ProductKind kind = ProductKind::Sum);

 private:
  kernel::Value element(const Product& product, kernel::Value out, kernel::Value in, bool many,
                        ProductKind kind);

  PersistentKernel& kernel_;
  const Problem& problem_;
  std::map<step::TensorId, KernelTensor> matrices_;
};

}  // namespace rondo::schedule
