// Which tiles suit which heads.
#include <algorithm>

#include "compiler/schedule/gemm/tile.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// What the choice of `split_k` is weighed with: blocks that a large GPU of this day runs at once, and its
// speeds in mma.sync products, in wgmma's, in memory, and in starting one more launch. Only their ratios
// matter.
constexpr std::int64_t kBlocksAtOnce = 264, kLargeBlocksAtOnce = 132;
constexpr double kFlops = 4e14, kWarpgroupFlops = 6e14, kRealFlops = 4e13, kBandwidth = 3.5e12,
                 kLaunch = 3e-6;
constexpr std::int64_t kMostSplits = 64, kLeastStages = 8;  // stages a part

// The smallest of 16, 32, 64 ... that holds `extent`, or `most`; half of `most` where that pads much less.
int cover(std::int64_t extent, int most) {
  constexpr double kMuchLess = 0.85;
  int tile = 16;
  while (tile < extent && tile < most) tile *= 2;
  const auto padded = [&](int t) { return static_cast<double>(ceil_div(extent, t) * t); };
  return extent > most && padded(most / 2) < kMuchLess * padded(most) ? most / 2 : tile;
}

// As many warps as find work, up to 8, with parts as square as may be: those read least from shared memory.
void choose_warps(GemmParameters& p) {
  int best = 0, perimeter = 0;
  for (int m = 1; m <= 8 && p.tile_m % (16 * m) == 0; m *= 2)
    for (int n = 1; m * n <= 8 && p.tile_n % (16 * n) == 0; n *= 2) {
      const int around = p.tile_m / m + p.tile_n / n;
      if (m * n < best || (m * n == best && around >= perimeter)) continue;
      best = m * n, perimeter = around;
      p.warps_m = m, p.warps_n = n;
    }
}

// Parts fill the GPU when there are few tiles, but each costs its sums in memory, written and read.
int choose_split_k(const Problem& problem, const GemmParameters& p, GemmExtents extents) {
  const step::Sizes& s = problem.sizes;
  const std::int64_t tiles = ceil_div(extents.left, p.tile_m) * ceil_div(extents.right, p.tile_n) * s.heads;
  const double steps = static_cast<double>(s.batch) * static_cast<double>(s.time);
  const double channels = static_cast<double>(s.heads * extents.right);
  const double flops = 2 * steps * channels * static_cast<double>(extents.left);
  const double bytes = kernel::storage_bytes(problem.storage) * steps *
                       static_cast<double>(s.heads * (extents.left + extents.right));
  const double speed = problem.storage == kernel::Storage::F32 ? kRealFlops
                       : p.warpgroups                          ? kWarpgroupFlops
                                                               : kFlops;
  const std::int64_t at_once = p.warpgroups && p.tile_n > 128 ? kLargeBlocksAtOnce : kBlocksAtOnce;
  const double busy = std::max(flops / speed, bytes / kBandwidth);
  const double part = 8 * channels * static_cast<double>(extents.left) / kBandwidth;
  const std::int64_t most =
      std::clamp(s.batch * ceil_div(s.time, p.tile_k) / kLeastStages, std::int64_t{1}, kMostSplits);
  int best = 1;
  double least = 0;
  for (int split_k = 1; split_k <= most; ++split_k) {
    const double waves = static_cast<double>(tiles * split_k) / static_cast<double>(at_once);
    const double turns = static_cast<double>(ceil_div(tiles * split_k, at_once));
    const double seconds = busy * turns / waves + (split_k > 1 ? part * split_k + kLaunch : 0);
    if (split_k > 1 && seconds >= least) continue;
    best = split_k, least = seconds;
  }
  return best;
}

// Large tiles: parts of 64 x 64 a warp read the least from shared memory, but a block then has four warps
// only, which pays if two blocks with deep stages fit an SM.
void deepen(std::int64_t summed, const target::Limits& limits, GemmParameters& p) {
  constexpr int kDeep = 64, kStages = 3, kPadding = 8, kBytes = 2, kBlocks = 2;
  constexpr int kReserved = 1024;  // bytes of each block that the system keeps
  const int shared = kBlocks * (kStages * (p.tile_m + p.tile_n) * (kDeep + kPadding) * kBytes + kReserved);
  if (p.tile_m < 128 || p.tile_n < 128 || p.vector < 4 || summed < 4 * kDeep) return;
  if (shared > limits.shared_per_sm) return;
  p.tile_k = kDeep;
  p.stages = kStages;
  p.warps_m = p.warps_n = 2;
}

// Sums that are over when the ring is filled once: twice as many blocks of half as many warps, of which some
// load and some store (12 heads of 64 channels, H200: 49 instead of 54 us).
void make_small(GemmParameters& p) {
  if (p.tile_m < 128 || p.tile_n < 128) return;
  p.tile_m = 64;
  p.warps_m = p.warps_n = 2;
}

// Products by warpgroups where the tiles are filled: blocks of two groups, of all the columns that the tensor
// cores take at once, since a stage then brings the most products for its bytes.
bool by_warpgroups(const Problem& problem, const target::Profile& profile, GemmUse use, GemmExtents extents,
                   GemmParameters& p) {
  constexpr std::int64_t kLeast = 128;
  const std::int64_t least = std::min(extents.left, extents.right);
  const std::int64_t across = use == GemmUse::TimeProduct ? extents.left : extents.right;
  const bool wgmma = profile.has_own_instructions_of(90);  // no other generation has it
  if (!wgmma || use == GemmUse::MaxPlus || problem.storage == kernel::Storage::F32 || p.vector < 8 ||
      least < kLeast)
    return false;
  p.warpgroups = true;
  p.tile_m = 128;
  p.tile_n = across > kLeast ? cover(across, 256) : 128;
  p.tile_k = 64;
  p.stages = p.tile_n > 128 ? 4 : 3;  // as many as fit an SM; with 128 columns, of two blocks
  p.warps_m = 8;
  p.warps_n = 1;
  return true;
}

// GPUs before compute capability 8.0: copies do not fly, so that two stages are enough, and they take
// registers beside the sums; a block has less shared memory.
void suit_turing(GemmParameters& p) {
  p.stages = 2;
  p.tile_m = std::min(p.tile_m, 64);
}

}  // namespace

int widest_access(kernel::Storage storage, std::int64_t columns, int vector) {
  vector = std::min(vector, 16 / kernel::storage_bytes(storage));
  while (columns % vector != 0) vector /= 2;
  return vector;
}

int widest_access(const Problem& problem, int vector) {
  return widest_access(problem.storage, problem.sizes.dim, vector);
}

GemmParameters gemm_parameters(const Problem& problem, const target::Profile& profile, GemmUse use,
                               GemmExtents extents, int vector) {
  const auto [left, right] = extents;
  const bool max_plus = use == GemmUse::MaxPlus;
  const bool reals = max_plus || problem.storage == kernel::Storage::F32;
  GemmParameters p;
  p.vector = widest_access(problem, vector);
  p.multiply_adds = max_plus || !has_mma(profile.target, problem.storage);
  if (by_warpgroups(problem, profile, use, extents, p)) {
    if (use == GemmUse::MatrixGradient) p.split_k = choose_split_k(problem, p, extents);
    return p;
  }
  if (use != GemmUse::MatrixGradient) {
    p.tile_n = cover(left, 128);
    p.tile_k = right <= 16 || reals ? 16 : 32;
    p.stages = static_cast<int>(std::clamp(ceil_div(right, p.tile_k) + 1, std::int64_t{2}, std::int64_t{4}));
    if (profile.target.before_ampere()) suit_turing(p);
    if (max_plus) p.tile_m = std::min(p.tile_m, 64);  // a channel takes a register beside its sum
    choose_warps(p);
    if (!reals) deepen(right, profile.limits, p);
    if (!reals && p.tile_k * (p.stages - 1) >= right) make_small(p);
    return p;
  }
  if (reals) p.tile_k = 16;  // as many bytes a stage
  p.tile_n = cover(right, 128);
  p.tile_m = cover(left, 128);
  if (profile.target.before_ampere()) suit_turing(p);
  choose_warps(p);
  p.split_k = choose_split_k(problem, p, extents);
  return p;
}

GemmParameters gemm_parameters(const Problem& problem, const target::Profile& profile, GemmUse use, int rows,
                               int vector) {
  return gemm_parameters(problem, profile, use, {rows * problem.sizes.dim, problem.sizes.dim}, vector);
}

}  // namespace rondo::schedule
