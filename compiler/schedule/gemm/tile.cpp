#include "compiler/schedule/gemm/tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/lower/product_terms.h"

namespace rondo::schedule {

using kernel::kFullUnroll;
using kernel::Place;

namespace {

constexpr int kMmaM = 16, kMmaK = 16;  // of mma.m16n8k16; n goes in pairs of 8, as ldmatrix.x4 loads them
constexpr int kMostUnrolled = 8;       // turns of a copying loop
constexpr int kMostBytes = 16;         // of one access
constexpr int kLeastCopied = 4;        // bytes of an asynchronous copy (PTX ISA, cp.async)

// Blocks of the usual size that fit an SM hide each other's waiting: asks for registers of two.
constexpr int kThreadsOfTwoBlocks = 512;
constexpr int kSumsOfTwoBlocks = 64;           // accumulators a thread, at most
constexpr int kBytesOfTwoBlocks = 227 * 1024;  // shared memory of an SM of sm_90
constexpr int kVectorOfTwoBlocks = 4;          // narrower copies are many, and take registers of their own

}  // namespace

GemmTile::GemmTile(kernel::Builder& builder, const Problem& problem, const GemmParameters& parameters,
                   Rows rows)
    : builder_(builder), problem_(problem), p_(parameters), rows_(rows) {
  check();
  const int ring = p_.stages * stage_elements(), result = tile(p_.tile_m, p_.tile_n).elements();
  ring_ = builder.shared("ring", problem.storage, std::max(ring, result), "[stages][A, B]; then C");
  const bool two_fit = !p_.warpgroups || 2 * ring * element_bytes() <= kBytesOfTwoBlocks;
  if (two_fit && 2 * p_.threads() <= kThreadsOfTwoBlocks &&
      fragments_m() * fragments_n() * 4 <= kSumsOfTwoBlocks && p_.vector >= kVectorOfTwoBlocks &&
      tensor_cores())
    builder.set_min_blocks(kThreadsOfTwoBlocks / p_.threads());
}

// A wrong point is a defect of whoever chose it.
void GemmTile::check() const {
  const auto require = [](bool sound, const char* what) {
    if (!sound) throw std::logic_error(fmt::format("matrix product: {}", what));
  };
  require(p_.tile_m % (p_.warps_m * kMmaM) == 0 && p_.tile_n % (p_.warps_n * kMmaM) == 0,
          "a warp's part of the tile is a multiple of 16 x 16");
  require(p_.tile_k % kMmaK == 0 && p_.stages >= 2 && p_.split_k >= 1, "tile_k, stages or split_k");
  require(problem_.sizes.dim % p_.vector == 0 && kMostBytes % (p_.vector * element_bytes()) == 0,
          "vector divides D and 16 bytes");
  for (const Tile& t : {tile(Side::A), tile(Side::B), tile(p_.tile_m, p_.tile_n)}) {
    const int per_row = t.columns / p_.vector;
    require(p_.threads() % per_row == 0, "the vectors of a row divide the threads");
    const int abreast = p_.threads() / per_row;
    require(abreast >= t.rows || t.rows % abreast == 0, "rows copied side by side divide the tile");
  }
  require(p_.kind == ProductKind::Sum || (!tensor_cores() && rows_ == Rows::AlongSum),
          "max and plus by other than multiply-adds along the sum");
  if (p_.warpgroups) check_warpgroups();
}

GemmTile::Tile GemmTile::tile(int rows, int columns) const {
  return {rows, columns, kMostBytes / element_bytes()};
}

GemmTile::Tile GemmTile::tile(Side side) const {
  const int extent = side == Side::A ? p_.tile_m : p_.tile_n;
  if (p_.warpgroups) return rows_ == Rows::AlongSum ? Tile{extent, p_.tile_k, 0} : Tile{p_.tile_k, extent, 0};
  return rows_ == Rows::AlongSum ? tile(extent, p_.tile_k) : tile(p_.tile_k, extent);
}

// Which row each lane names to ldmatrix (lane 8m + i: row i of matrix m), so that the four matrices are the
// registers of fragment A, or of two neighbouring fragments B (PTX ISA, mma.m16n8k16 fragments). Rows along C
// are read transposed.
void GemmTile::begin() {
  auto& b = builder_;
  const Value warp = b.let("warp", b.thread() / 32);
  lane_ = b.let("lane", b.thread() % 32);
  warp_m_ = b.let("warp_m", warp / p_.warps_n * (p_.tile_m / p_.warps_m));
  warp_n_ = b.let("warp_n", warp % p_.warps_n * (p_.tile_n / p_.warps_n));
  dealt_a_ = deal("a", tile(Side::A));
  dealt_b_ = deal("b", tile(Side::B));
  sums_ = b.array("sums", Type::F32, fragments_m() * fragments_n() * 4);
  b.for_("i", 0, fragments_m() * fragments_n() * 4, kFullUnroll,
         [&](Value i) { b.write(sums_, i, b.real(neutral(p_.kind))); });
  if (p_.kind == ProductKind::Channel) {
    channels_ = b.array("channels", Type::F32, fragments_m() * fragments_n() * 4);
    b.for_("i", 0, fragments_m() * fragments_n() * 4, kFullUnroll,
           [&](Value i) { b.write(channels_, i, b.real(0)); });
  }
  if (!tensor_cores()) return name_reals();
  if (p_.warpgroups) {
    panel_a_ = panel_column(dealt_a_, Side::A);
    panel_b_ = panel_column(dealt_b_, Side::B);
    return;
  }
  const int sets = p_.tile_k > kMmaK ? 2 : 1;
  a_ = b.array("a_pairs", Type::I32, sets * fragments_m() * 4);
  b_ = b.array("b_pairs", Type::I32, sets * fragments_n() * 2);
  const int pitch_a = tile(Side::A).pitch(), pitch_b = tile(Side::B).pitch();
  const Value in_16 = lane_ % 16, second_8 = lane_ / 16 * 8;                  // two matrices below each other
  const Value in_8 = lane_ % 8 + lane_ / 16 * 8, next_8 = lane_ / 8 % 2 * 8;  // two side by side
  if (rows_ == Rows::AlongSum) {
    a_lane_ = b.let("a_lane", (warp_m_ + in_16) * pitch_a + second_8);
    b_lane_ = b.let("b_lane", (warp_n_ + in_8) * pitch_b + next_8 + tile(Side::A).elements());
  } else {
    a_lane_ = b.let("a_lane", in_8 * pitch_a + warp_m_ + next_8);
    b_lane_ = b.let("b_lane", in_16 * pitch_b + warp_n_ + second_8 + tile(Side::A).elements());
  }
}

// Turn `index` copies stage `index` and multiplies stage `index` - (stages - 1): the first turns only fill
// the ring, the last ones only empty it, and copies stand in the text once. They come behind the first
// k-step, when products keep the tensor cores busy. One barrier a turn says both that the stage has landed
// (each thread waits for its own copies first; PTX ISA, cp.async.wait_group) and that the slot before it is
// free again.
void GemmTile::walk(Value count, const std::function<void(Value)>& stage) {
  if (p_.warpgroups) return walk_warpgroups(count, stage);
  auto& b = builder_;
  const Value stages = b.named("kStages", p_.stages, "stages in flight");
  to_slot_ = b.variable("to_slot", b.constant(0));
  const Value slot = b.variable("slot", b.constant(0));
  b.for_("stage", b.constant(0), count + (stages - 1), b.constant(1), 1, [&](Value index) {
    b.wait_copies(p_.stages - 2);
    b.barrier();
    a_rows_ = b.let("a_rows", slot + a_lane_);
    b_rows_ = b.let("b_rows", slot + b_lane_);
    if (p_.kind == ProductKind::Channel)
      first_summed_ = b.let("first_summed", (index - (stages - 1)) * p_.tile_k);
    b.if_(index >= stages - 1, [&] {
      if (tensor_cores()) load_fragments(b.constant(0));
      multiply_step(b.constant(0));
    });
    b.if_(index < count, [&] {
      stage(index);
      b.assign(to_slot_, next_slot(to_slot_));
    });
    b.commit_copies();
    b.if_(index >= stages - 1, [&] {
      b.for_("k", 1, p_.tile_k / kMmaK, kFullUnroll, [&](Value k) { multiply_step(k); });
      b.assign(slot, next_slot(slot));
    });
  });
}

Value GemmTile::next_slot(Value slot) {
  auto& b = builder_;
  const Value elements = b.named("kStage", stage_elements(), "elements a stage");
  const std::int64_t last = std::int64_t{stage_elements()} * (p_.stages - 1);
  return b.select(slot == last, b.constant(0), slot + elements);
}

// Deals the vectors of a tile to the threads: neighbours in a row to neighbours.
GemmTile::Dealt GemmTile::deal(const std::string& name, const Tile& tile) {
  auto& b = builder_;
  const int per_row = tile.columns / p_.vector;
  return {b.let(name + "_row", b.thread() / per_row),
          b.let(name + "_column", b.thread() % per_row * p_.vector), p_.threads() / per_row};
}

void GemmTile::each_turn(const Dealt& dealt, const Tile& tile, const Turn& body) {
  auto& b = builder_;
  if (dealt.hop > tile.rows) return b.if_(dealt.row < tile.rows, [&] { body(b.constant(0), dealt.row); });
  const int turns = tile.rows / dealt.hop;
  b.for_("turn", 0, turns, turns <= kMostUnrolled ? kFullUnroll : kMostUnrolled,
         [&](Value turn) { body(turn, dealt.row + turn * dealt.hop); });
}

void GemmTile::stage(Side side, const Copy& copy) {
  const Tile t = tile(side);
  const int before = side == Side::A ? 0 : tile(Side::A).elements();
  each_turn(dealt(side), t, [&](Value turn, Value row) {
    const Value in_tile = p_.warpgroups ? row * kPanel + (side == Side::A ? panel_a_ : panel_b_)
                                        : row * t.pitch() + dealt(side).column;
    copy(ring_[to_slot_ + in_tile + before], turn, row);
  });
}

// Odd rows of 16-bit elements go through registers.
void GemmTile::copy(Place to, Place from) {
  if (p_.vector * element_bytes() >= kLeastCopied)
    builder_.copy_async(to, from, p_.vector);
  else
    builder_.store(to, builder_.load("element", from));
}

void GemmTile::clear(Place to, double value) {
  auto& b = builder_;
  const auto pair = [&] {
    return value == 0 ? b.constant(0) : b.pack(problem_.storage, b.real(value), b.real(value));
  };
  if (!halves())
    b.store_vector(to, std::vector<Value>(static_cast<std::size_t>(p_.vector), b.real(value)));
  else if (p_.vector > 1)
    b.store_packed(to, std::vector<Value>(static_cast<std::size_t>(p_.vector / 2), pair()));
  else
    b.store(to, b.real(value));
}

void GemmTile::store_vector(Place to, Place from) {
  auto& b = builder_;
  if (!halves())
    b.store_vector(to, b.load_vector("element", from, p_.vector));
  else if (p_.vector > 1)
    b.store_packed(to, b.load_packed("pair", from, p_.vector / 2));
  else
    b.store(to, b.load("element", from));
}

// Fragments of k-step `k` go to one of two sets of registers, so that they load while the other set is
// multiplied.
void GemmTile::load_fragments(Value k) {
  auto& b = builder_;
  const bool transposed = rows_ == Rows::MnMajor;
  for (const Side side : {Side::A, Side::B}) {
    const bool is_a = side == Side::A;
    const int pitch = tile(side).pitch(), loads = is_a ? fragments_m() : fragments_n() / 2;
    const int hop = 16 * (transposed ? 1 : pitch), hop_k = kMmaK * (transposed ? pitch : 1);
    b.for_("i", 0, loads, kFullUnroll, [&](Value i) {
      b.load_matrix(is_a ? a_ : b_, (k % 2 * loads + i) * 4, 4, transposed,
                    ring_[(is_a ? a_rows_ : b_rows_) + i * hop + k * hop_k]);
    });
  }
}

void GemmTile::multiply_step(Value k) {
  if (!tensor_cores()) return multiply_reals(k);
  auto& b = builder_;
  const int across = fragments_n();
  b.if_(k + 1 < p_.tile_k / kMmaK, [&] { load_fragments(k + 1); });
  b.for_("i", 0, fragments_m(), kFullUnroll, [&](Value i) {
    b.for_("j", 0, across, kFullUnroll, [&](Value j) {
      b.mma(problem_.storage, sums_, (i * across + j) * 4, a_, (k % 2 * fragments_m() + i) * 4, b_,
            (k % 2 * across + j) * 2);
    });
  });
}

// Lane 4g + q holds neighbours 2q and 2q + 1 of rows g and g + 8 (PTX ISA, mma.m16n8k16 accumulators).
void GemmTile::each_pair(const Pair& pair) {
  auto& b = builder_;
  const Value m_lane = b.let("m_lane", warp_m_ + lane_ / 4),
              n_lane = b.let("n_lane", warp_n_ + lane_ % 4 * 2);
  b.for_("i", 0, fragments_m(), kFullUnroll, [&](Value i) {
    b.for_("j", 0, fragments_n(), kFullUnroll, [&](Value j) {
      for (int half = 0; half < 2; ++half) {
        const Value sum = (i * fragments_n() + j) * 4 + 2 * half;
        pair(m_lane + i * kMmaM + 8 * half, n_lane + j * 8, b.read(results(), sum),
             b.read(results(), sum + 1));
      }
    });
  });
}

void GemmTile::each_vector(const std::function<void(Place, Value, Value)>& store) {
  auto& b = builder_;
  const Tile result = tile(p_.tile_m, p_.tile_n);
  const Value pitch = b.named("kPitch", result.pitch(), "elements from row to row of C");
  b.comment("C, rounded, takes the ring's place");
  b.barrier();
  each_pair([&](Value m, Value n, Value low, Value high) {
    if (halves())
      b.store_packed(ring_[m * pitch + n], {b.pack(problem_.storage, low, high)});
    else
      b.store_vector(ring_[m * pitch + n], {low, high});
  });
  b.barrier();
  const Dealt dealt = deal("c", result);
  each_turn(dealt, result,
            [&](Value, Value row) { store(ring_[row * pitch + dealt.column], row, dealt.column); });
}

}  // namespace rondo::schedule
