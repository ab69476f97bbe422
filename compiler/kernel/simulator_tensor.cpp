#include "compiler/kernel/simulator_tensor.h"

#include "compiler/kernel/simulate.h"

namespace rondo::kernel::simulator {

namespace {

constexpr int kM = 16, kN = 8, kK = 16;

}  // namespace

// Lane 4g + q holds
//   of a: rows g (registers 0, 2) and g + 8 (1, 3), columns 2q, 2q + 1 (0, 1) and 2q + 8, 2q + 9 (2, 3);
//   of b: column g, rows 2q, 2q + 1 (0) and 2q + 8, 2q + 9 (1);
//   of acc: row g (0, 1) and g + 8 (2, 3), columns 2q, 2q + 1.
void multiply_add(Storage storage, Lanes* acc, const Lanes* a, const Lanes* b) {
  double left[kM][kK], right[kK][kN], sum[kM][kN];
  const auto half = [&](const Lanes& lanes, int l, bool high) {
    return static_cast<double>(unpack_pair(storage, static_cast<std::int32_t>(lanes.i[l]), high));
  };
  for (int l = 0; l < kLanes; ++l) {
    const int g = l / 4, q = l % 4 * 2;
    for (int r = 0; r < kMmaA; ++r)
      for (int h = 0; h < 2; ++h) left[g + r % 2 * 8][q + r / 2 * 8 + h] = half(a[r], l, h == 1);
    for (int r = 0; r < kMmaB; ++r)
      for (int h = 0; h < 2; ++h) right[q + r * 8 + h][g] = half(b[r], l, h == 1);
    for (int r = 0; r < kMmaAcc; ++r) sum[g + r / 2 * 8][q + r % 2] = static_cast<double>(acc[r].f[l]);
  }
  for (int i = 0; i < kM; ++i)
    for (int k = 0; k < kK; ++k)
      for (int j = 0; j < kN; ++j) sum[i][j] += left[i][k] * right[k][j];
  for (int l = 0; l < kLanes; ++l)
    for (int r = 0; r < kMmaAcc; ++r)
      acc[r].f[l] = static_cast<float>(sum[l / 4 + r / 2 * 8][l % 4 * 2 + r % 2]);
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
