#include "compiler/schedule/persistent/elements.h"

#include <fmt/format.h>

#include "compiler/schedule/persistent/threads.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Array;
using kernel::Memory;
using kernel::Place;

namespace {

// Packed pairs (PTX ISA, mma.m16n8k16 and ldmatrix).
class HalfElements : public ChipElements {
 public:
  using ChipElements::ChipElements;

  Type type() const override { return Type::I32; }
  Value zero() const override { return builder().constant(0); }
  std::vector<Value> pack(Value low, Value high) const override {
    return {builder().pack(storage_, low, high)};
  }
  Value element(const std::vector<Value>& words, int index) const override {
    return builder().unpack(storage_, words[at(index / 2)], index % 2 == 1);
  }
  Value element(Array array, int pair, bool high) const override {
    return builder().unpack(storage_, builder().read(array, builder().constant(pair)), high);
  }
  void store(Place to, const std::vector<Value>& words) const override { builder().store_packed(to, words); }
  std::vector<Value> load(const std::string& name, Place from, int count) const override {
    return builder().load_packed(name, from, count);
  }

  Value column(int word) const override { return threads_.here().quarter * 2 + word / 2 * 8; }
  Value vector_lane() const override { return threads_.here().lane * 8; }
  void load_vector(Array into, int first, int k_tiles, const Memory& vector, Value from) const override {
    builder().load_matrix(into, builder().constant(first), 2 * k_tiles, true, vector[from]);
  }

  // A word holds two neighbouring channels of one batch row (PTX ISA, mma.m16n8k16, B), and a lane has one
  // channel of two rows: the lanes of two neighbouring channels give each other a row.
  std::vector<Value> fragment_words_of(Value low, Value high) const override {
    auto& b = builder();
    const Value odd = threads_.here().group % 2 == 1;
    const Value other =
        b.shuffle("of_other_channel", b.select(odd, low, high), kernel::ShuffleMode::Xor, b.constant(4));
    return {b.pack(storage_, b.select(odd, other, low), b.select(odd, high, other))};
  }

  // Matrix m of a load is pair number first + m: 8 batch rows by 8 units, transposed on the way (PTX ISA,
  // ldmatrix.trans), so that this lane receives its unit of batch rows 2q and 2q + 1.
  void load_staged(Array into, const std::string& name, const Memory& ring, int rows,
                   Value line) const override {
    auto& b = builder();
    const PersistentGeometry& g = threads_.geometry();
    const Value lane = threads_.here().lane;
    const int total = rows * g.p.batch_tiles * g.p.unit_blocks;
    for (int first = 0; first < total;) {
      const int count = total - first >= 4 ? 4 : total - first >= 2 ? 2 : 1;
      const Value matrix = count == 1 ? b.constant(first) : lane / 8 % count + first;
      const Value batch = matrix / g.p.unit_blocks * 8 + lane % 8;  // counts [row][batch]
      const Value unit = threads_.here().warp * (8 * g.p.unit_blocks) + matrix % g.p.unit_blocks * 8;
      const Value place = b.let(name + "_at", (line * (rows * g.turn_batch) + batch) * pitch() + unit);
      b.load_matrix(into, b.constant(first), count, true, ring[place]);
      first += count;
    }
  }

  // [batch tiles, units, 8]: ldmatrix.trans turns 32 units by 8 batch rows; matrix j takes units 2j and
  // 2j + 1 of each eight.
  std::int64_t result_elements() const override {
    return std::int64_t{threads_.geometry().turn_batch} * threads_.geometry().units;
  }
  std::string result_shape() const override {
    const PersistentGeometry& g = threads_.geometry();
    return fmt::format("batch tiles {}, units {}, 8", g.p.batch_tiles, g.units);
  }
  void store_result(const Memory& ring, Value row, int channel, Value low, Value high) const override {
    const PersistentGeometry& g = threads_.geometry();
    const Value place = (row * g.p.batch_tiles + g.tile_of(channel)) * (g.units * 8) +
                        threads_.block_unit(g.unit_of(channel)) * 8 + threads_.here().quarter * 2;
    store(ring[place], pack(low, high));
  }
  Value held_unit(Value chunk) const override {
    auto& b = builder();
    const int units = threads_.geometry().units;
    const Value lane = threads_.here().lane;
    const Value source = chunk * 32 + lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
    return b.let("held_unit", units % 32 == 0 ? source : min(source, b.constant(units - 1)));
  }
  Value result_place(Value tile, Value held) const override {
    return (tile * threads_.geometry().units + held) * 8;
  }
  void load_result(Array into, const Memory& ring, Value from) const override {
    builder().load_matrix(into, builder().constant(0), 4, true, ring[from]);
  }
};

// fp32 elements (PTX ISA, mma.m16n8k8 with tf32). Rows of staged and of written tiles are four elements
// longer than the units, and so 4 modulo 8: the lanes' pairs of rows, 2q and 2q + 1, lie in different banks.
class RealElements : public ChipElements {
 public:
  using ChipElements::ChipElements;

  Type type() const override { return Type::F32; }
  Value zero() const override { return builder().real(0); }
  std::vector<Value> pack(Value low, Value high) const override { return {low, high}; }
  Value element(const std::vector<Value>& words, int index) const override { return words[at(index)]; }
  Value element(Array array, int pair, bool high) const override {
    return builder().read(array, builder().constant(2 * pair + (high ? 1 : 0)));
  }
  void store(Place to, const std::vector<Value>& words) const override { builder().store_vector(to, words); }
  std::vector<Value> load(const std::string& name, Place from, int count) const override {
    return builder().load_vector(name, from, count);
  }

  Value column(int word) const override { return threads_.here().quarter + word / 2 * 4; }
  Value operand(Value value) const override {
    return problem_.math == kernel::Math::Tf32 ? builder().round_tf32(value) : value;
  }
  bool tf32x3() const override { return problem_.math != kernel::Math::Tf32; }
  // Rows q, q + 4 ... of the vector, column g: the 32 lanes read 32 neighbouring words.
  Value vector_lane() const override { return threads_.here().quarter * 8 + threads_.here().group; }
  void load_vector(Array into, int first, int k_tiles, const Memory& vector, Value from) const override {
    auto& b = builder();
    for (int i = 0; i < 4 * k_tiles; ++i)
      b.write(into, b.constant(first + i), b.load("element", vector[from + i * 32]));
  }

  std::vector<Value> fragment_words_of(Value low, Value high) const override { return {low, high}; }

  void load_staged(Array into, const std::string& name, const Memory& ring, int rows,
                   Value line) const override {
    auto& b = builder();
    const PersistentGeometry& g = threads_.geometry();
    const int total = rows * g.p.batch_tiles * g.p.unit_blocks;
    b.for_("pair", 0, total, kernel::kFullUnroll, [&](Value pair) {
      const Value batch = pair / g.p.unit_blocks * 8 + threads_.here().quarter * 2;  // counts [row][batch]
      const Value unit = threads_.block_unit(0) + pair % g.p.unit_blocks * 8;
      const Value place = b.let(name + "_at", (line * (rows * g.turn_batch) + batch) * pitch() + unit);
      for (int i = 0; i < 2; ++i) b.write(into, pair * 2 + i, b.load("element", ring[place + i * pitch()]));
    });
  }

  std::int64_t result_elements() const override {
    return std::int64_t{threads_.geometry().turn_batch} * pitch();
  }
  std::string result_shape() const override {
    return fmt::format("batch {}, units {} + 4", threads_.geometry().turn_batch, threads_.geometry().units);
  }
  void store_result(const Memory& ring, Value row, int channel, Value low, Value high) const override {
    const PersistentGeometry& g = threads_.geometry();
    const Value line = (row * g.p.batch_tiles + g.tile_of(channel)) * 8 + threads_.here().quarter * 2;
    const Value place = builder().let("result_at", line * pitch() + threads_.block_unit(g.unit_of(channel)));
    builder().store(ring[place], low);
    builder().store(ring[place + pitch()], high);
  }
  Value held_unit(Value chunk) const override {
    auto& b = builder();
    const int units = threads_.geometry().units;
    const Value source = chunk * 32 + threads_.here().quarter * 8;
    return b.let("held_unit", units % 32 == 0 ? source : min(source, b.constant(units - 8)));
  }
  Value result_place(Value tile, Value held) const override {
    return (tile * 8 + threads_.here().group) * pitch() + held;
  }
  void load_result(Array into, const Memory& ring, Value from) const override {
    auto& b = builder();
    for (int half = 0; half < 2; ++half) {
      const std::vector<Value> elements = b.load_vector("element", ring[from + half * 4], 4);
      for (int i = 0; i < 4; ++i) b.write(into, b.constant(half * 4 + i), elements[at(i)]);
    }
  }
};

}  // namespace

kernel::Builder& ChipElements::builder() const { return threads_.builder(); }

Value ChipElements::fragment_column(Value k, int word) const {
  const int of_k_tile = vector_channels() / vector_k_tiles();
  return threads_.here().quarter * vector_channels() + k % vector_k_tiles() * of_k_tile +
         word / 2 * per_word();
}

std::vector<Value> ChipElements::fragment_places(Value unit) const {
  const Value quarter = unit / vector_channels(), word = unit % vector_channels() / per_word();
  const Value rows = threads_.here().quarter * 2;
  if (pair_words() == 1) return {((rows + threads_.here().group % 2) * 4 + quarter) * 4 + word};
  const Value first = (rows * 4 + quarter) * 4 + word;
  return {first, first + 16};
}

int ChipElements::pitch() const { return threads_.geometry().units + 4 * per_word(); }

std::unique_ptr<ChipElements> chip_elements(PersistentThreads& threads, const Problem& problem,
                                            kernel::Storage storage) {
  if (storage == kernel::Storage::F32) return std::make_unique<RealElements>(threads, problem, storage);
  return std::make_unique<HalfElements>(threads, problem, storage);
}

}  // namespace rondo::schedule
