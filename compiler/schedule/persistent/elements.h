// How a persistent kernel holds elements of the storage type on the chip, in words of 32 bits: 16-bit
// elements as packed pairs that ldmatrix brings into place, fp32 elements one a word, by plain loads. All
// that is laid out by the storage type stands here; who sends what when does not depend on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/problem.h"

namespace rondo::schedule {

class PersistentThreads;

class ChipElements {
 public:
  ChipElements(PersistentThreads& threads, const Problem& problem, kernel::Storage storage)
      : threads_(threads), problem_(problem), storage_(storage) {}
  virtual ~ChipElements() = default;

  // ---- words ----
  kernel::Storage storage() const { return storage_; }
  int per_word() const { return 4 / kernel::storage_bytes(storage_); }
  std::int64_t words(std::int64_t elements) const { return elements / per_word(); }
  int pair_words() const { return 2 / per_word(); }  // of two batch rows of a unit, which a lane has
  int row_words() const { return 8 / per_word(); }   // of a unit's rows in a tile of the batch
  virtual kernel::Type type() const = 0;             // of a word in a register
  virtual kernel::Value zero() const = 0;
  // pack() makes the words of two neighbouring elements. element() takes one element out of such words, or
  // out of pair number `pair` of an array.
  virtual std::vector<kernel::Value> pack(kernel::Value low, kernel::Value high) const = 0;
  virtual kernel::Value element(const std::vector<kernel::Value>& words, int index) const = 0;
  virtual kernel::Value element(kernel::Array array, int pair, bool high) const = 0;
  virtual void store(kernel::Place to, const std::vector<kernel::Value>& words) const = 0;
  virtual std::vector<kernel::Value> load(const std::string& name, kernel::Place from, int count) const = 0;

  // ---- products ----
  // Words of a lane's fragment of 16 rows by 16 columns of a matrix. Word i belongs to row g + i % 2 * 8;
  // column(i) is that of its first element.
  int matrix_words() const { return 8 / per_word(); }
  virtual kernel::Value column(int word) const = 0;
  // A value as a matrix multiplies it.
  virtual kernel::Value operand(kernel::Value value) const { return value; }
  // The lane's part of the place that load_vector() is given, of [channel][8 batch rows].
  virtual kernel::Value vector_lane() const = 0;
  // Fragments of one or two neighbouring k-tiles of a vector, half a matrix fragment each, from `first` on.
  virtual void load_vector(kernel::Array into, int first, int k_tiles, const kernel::Memory& vector,
                           kernel::Value from) const = 0;
  virtual bool tf32x3() const { return false; }  // of kernel::Mma

  // ---- vectors that are sent as fragments ----
  // A lane's fragments of vector_k_tiles() k-tiles are a vector of 16 bytes. Which channel a row of a k-tile
  // is makes no difference to a product, if vector and matrix agree. So neighbouring channels share a vector,
  // and the vectors of eight batch rows lie side by side, [quarter][batch row][4 words]: the eight units of a
  // block of units, in all batch rows, are 128 bytes (fp32: 256) that one warp writes.
  int fragment_words() const { return matrix_words() / 2; }  // of a k-tile
  int vector_k_tiles() const { return 4 / fragment_words(); }
  int vector_channels() const { return 4 * per_word(); }
  // A column as column() has it, of the k-th k-tile, from the first of its vector_k_tiles() on.
  kernel::Value fragment_column(kernel::Value k, int word) const;
  // The words that a lane sends of two batch rows of its unit. All lanes of a warp call it together.
  virtual std::vector<kernel::Value> fragment_words_of(kernel::Value low, kernel::Value high) const = 0;
  // Where they lie; `unit`: from the first channel of its vector_k_tiles() on.
  std::vector<kernel::Value> fragment_places(kernel::Value unit) const;

  // ---- staged rows: [rows, batch, pitch()] a step ----
  // Elements from row to row: 16 bytes more than the units, so that the eight rows of a matrix that ldmatrix
  // reads lie in different banks (fp32: elements.cpp).
  int pitch() const;
  // Pairs [row][batch tile][unit block] of the lane's units, from the `line`-th step of the ring.
  virtual void load_staged(kernel::Array into, const std::string& name, const kernel::Memory& ring, int rows,
                           kernel::Value line) const = 0;

  // ---- results: a ring of which each unit block and batch tile of a row is written by its lanes ----
  virtual std::int64_t result_elements() const = 0;  // of a row
  virtual std::string result_shape() const = 0;
  // `row` counts [step][row].
  virtual void store_result(const kernel::Memory& ring, kernel::Value row, int channel, kernel::Value low,
                            kernel::Value high) const = 0;
  // Lane 4g + q reads batch row g of units 8q to 8q + 7, of the 32 units of a chunk. held_unit() is the unit
  // whose place the lane gives to the load (with ldmatrix for other lanes, too), and result_place() is that
  // place in the `tile`-th tile, counted [row][batch tile]. load_result() is the load, by all lanes.
  virtual kernel::Value held_unit(kernel::Value chunk) const = 0;
  virtual kernel::Value result_place(kernel::Value tile, kernel::Value held) const = 0;
  virtual void load_result(kernel::Array into, const kernel::Memory& ring, kernel::Value from) const = 0;

 protected:
  kernel::Builder& builder() const;

  PersistentThreads& threads_;
  const Problem& problem_;
  kernel::Storage storage_;
};

std::unique_ptr<ChipElements> chip_elements(PersistentThreads& threads, const Problem& problem,
                                            kernel::Storage storage);

// How elements of the problem's storage type are held and, of tensors of fp32 beside them, those.
class ElementsOfTensors {
 public:
  ElementsOfTensors(PersistentThreads& threads, const Problem& problem)
      : own_(chip_elements(threads, problem, problem.storage)),
        wide_(chip_elements(threads, problem, kernel::Storage::F32)) {}
  const ChipElements& own() const { return *own_; }
  const ChipElements& of(kernel::Storage storage) const {
    return storage == own_->storage() ? *own_ : *wide_;
  }

 private:
  std::unique_ptr<ChipElements> own_, wide_;
};

}  // namespace rondo::schedule
