#include "compiler/kernel/simulator/tensor.h"

#include <algorithm>
#include <iterator>

#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::simulator {

namespace {

constexpr int kM = 16, kN = 8, kK = 16;

struct Factors {
  double left[kM][kK], right[kK][kN];
};

// Lane 4g + q holds
//   of a: rows g (registers 0, 2) and g + 8 (1, 3), columns 2q, 2q + 1 (0, 1) and 2q + 8, 2q + 9 (2, 3);
//   of b: column g, rows 2q, 2q + 1 (0) and 2q + 8, 2q + 9 (1).
void gather_pairs(Storage storage, const Lanes* a, const Lanes* b, Factors& into) {
  const auto half = [&](const Lanes& lanes, int l, bool high) {
    return static_cast<double>(unpack_pair(storage, static_cast<std::int32_t>(lanes.i[l]), high));
  };
  for (int l = 0; l < kLanes; ++l) {
    const int g = l / 4, q = l % 4 * 2;
    for (int r = 0; r < 4; ++r)
      for (int h = 0; h < 2; ++h) into.left[g + r % 2 * 8][q + r / 2 * 8 + h] = half(a[r], l, h == 1);
    for (int r = 0; r < 2; ++r)
      for (int h = 0; h < 2; ++h) into.right[q + r * 8 + h][g] = half(b[r], l, h == 1);
  }
}

// Lane 4g + q holds
//   of a: rows g (even registers) and g + 8 (odd), column q + 4 * (register / 2);
//   of b: column g, row q + 4 * register.
template <class Part>
void gather_reals(const Lanes* a, const Lanes* b, Factors& into, Part part) {
  for (int l = 0; l < kLanes; ++l) {
    const int g = l / 4, q = l % 4;
    for (int r = 0; r < 8; ++r)
      into.left[g + r % 2 * 8][q + r / 2 * 4] = static_cast<double>(part(a[r].f[l], true));
    for (int r = 0; r < 4; ++r) into.right[q + r * 4][g] = static_cast<double>(part(b[r].f[l], false));
  }
}

void add_product(const Factors& of, double (&sum)[kM][kN]) {
  for (int i = 0; i < kM; ++i) {
    double row[kN];  // on its own, so that the compiler sees that no factor changes with it
    std::copy(std::begin(sum[i]), std::end(sum[i]), row);
    for (int k = 0; k < kK; ++k)
      for (int j = 0; j < kN; ++j) row[j] += of.left[i][k] * of.right[k][j];
    std::copy(std::begin(row), std::end(row), sum[i]);
  }
}

}  // namespace

// Lane 4g + q holds of acc row g (0, 1) and g + 8 (2, 3), columns 2q, 2q + 1.
void multiply_add(const Mma& mma, Lanes* acc, const Lanes* a, const Lanes* b) {
  double sum[kM][kN];
  const auto element = [&](int l, int r) -> double& { return sum[l / 4 + r / 2 * 8][l % 4 * 2 + r % 2]; };
  for (int l = 0; l < kLanes; ++l)
    for (int r = 0; r < 4; ++r) element(l, r) = static_cast<double>(acc[r].f[l]);
  Factors factors;
  if (mma.storage != Storage::F32) {
    gather_pairs(mma.storage, a, b, factors);
    add_product(factors, sum);
  } else if (!mma.tf32x3) {
    gather_reals(a, b, factors, [](float value, bool) { return value; });
    add_product(factors, sum);
  } else {
    struct Small {
      bool left, right;
    };
    for (const Small small : {Small{true, false}, {false, true}, {false, false}}) {
      gather_reals(a, b, factors, [&](float value, bool left) {
        const scalar::Tf32Parts parts = scalar::split_tf32(value);
        return (left ? small.left : small.right) ? parts.small : parts.big;
      });
      add_product(factors, sum);
    }
  }
  for (int l = 0; l < kLanes; ++l)
    for (int r = 0; r < 4; ++r) acc[r].f[l] = static_cast<float>(element(l, r));
}

void distribute(const std::uint16_t (&matrix)[kMatrixRows][kMatrixRows], bool transposed, Lanes& into) {
  for (int l = 0; l < kLanes; ++l) {
    const int g = l / 4, q = l % 4 * 2;
    const std::uint32_t low = transposed ? matrix[q][g] : matrix[g][q],
                        high = transposed ? matrix[q + 1][g] : matrix[g][q + 1];
    into.i[l] = static_cast<std::int32_t>(high << 16 | low);
  }
}

}  // namespace rondo::kernel::simulator
