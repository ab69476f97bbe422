// The form of GemmTile for fp32 storage, and for types that the tensor cores do not know: multiply-adds in
// place of mma, on the same places of C. Lane 4g + q has rows g and g + 8 of each 16, and columns 2q and 2q +
// 1 of each 8.
#include "compiler/schedule/gemm/tile.h"

#include "compiler/schedule/lower/product_terms.h"

namespace rondo::schedule {

using kernel::kFullUnroll;

namespace {

constexpr int kStep = 16;  // elements of the sum that multiply_step() adds, as one mma does
constexpr int kFour = 4;   // of fp32 in 16 bytes

}  // namespace

void GemmTile::name_reals() {
  auto& b = builder_;
  const Value row = warp_m_ + lane_ / 4, column = warp_n_ + lane_ % 4 * 2;
  const bool along_sum = rows_ == Rows::AlongSum;
  a_lane_ = b.let("a_lane", along_sum ? row * tile(Side::A).pitch() : row);
  b_lane_ = b.let("b_lane", (along_sum ? column * tile(Side::B).pitch() : column) + tile(Side::A).elements());
}

void GemmTile::multiply_reals(Value k) {
  auto& b = builder_;
  if (rows_ == Rows::AlongSum)
    b.for_("four", 0, kStep / kFour, kFullUnroll,
           [&](Value four) { multiply_along_sum(k * kStep + four * kFour); });
  else
    b.for_("one", 0, kStep, kFour, [&](Value one) { multiply_mn_major(k * kStep + one); });
}

// Four elements of the sum from `first` on: each row has them side by side.
void GemmTile::multiply_along_sum(Value first) {
  auto& b = builder_;
  const int pitch_a = tile(Side::A).pitch(), pitch_b = tile(Side::B).pitch();
  numbers_.clear();
  if (p_.kind == ProductKind::Channel)
    for (int e = 0; e < kFour; ++e) numbers_.push_back(b.let("number", b.to_real(first_summed_ + first + e)));
  std::vector<std::vector<Value>> right;  // [fragment][side]
  right.reserve(2 * static_cast<std::size_t>(fragments_n()));
  for (int n = 0; n < 2 * fragments_n(); ++n)
    right.push_back(b.load_vector("b", ring_[b_rows_ + first + (n / 2 * 8 + n % 2) * pitch_b], kFour));
  b.for_("i", 0, fragments_m(), kFullUnroll, [&](Value i) {
    for (int half = 0; half < 2; ++half) {
      const std::vector<Value> left =
          b.load_vector("a", ring_[a_rows_ + first + i * (16 * pitch_a) + 8 * half * pitch_a], kFour);
      for (int n = 0; n < 2 * fragments_n(); ++n)
        for (std::size_t e = 0; e < kFour; ++e)
          add_product(i, half, n / 2, n % 2, left[e], right[static_cast<std::size_t>(n)][e], e);
    }
  });
}

// One element of the sum: its row has elements of C side by side.
void GemmTile::multiply_mn_major(Value k) {
  auto& b = builder_;
  const Value a_row = a_rows_ + k * tile(Side::A).pitch(), b_row = b_rows_ + k * tile(Side::B).pitch();
  std::vector<Value> right;
  for (int j = 0; j < fragments_n(); ++j)
    for (const Value value : b.load_vector("b", ring_[b_row + 8 * j], 2)) right.push_back(value);
  b.for_("i", 0, fragments_m(), kFullUnroll, [&](Value i) {
    for (int half = 0; half < 2; ++half) {
      const Value left = b.load("a", ring_[a_row + i * 16 + 8 * half]);
      for (int n = 0; n < 2 * fragments_n(); ++n)
        add_product(i, half, n / 2, n % 2, left, right[static_cast<std::size_t>(n)], 0);
    }
  });
}

// Of the four elements of the sum that are added together, `e` says which.
void GemmTile::add_product(Value i, int half, int j, int side, Value left, Value right, std::size_t e) {
  auto& b = builder_;
  const Value at = (i * fragments_n() + j) * 4 + (2 * half + side);
  if (p_.kind == ProductKind::Channel) return choose(b, sums_, channels_, at, left + right, numbers_[e]);
  b.write(sums_, at, with_term(b, p_.kind, b.read(sums_, at), left, right));
}

}  // namespace rondo::schedule
