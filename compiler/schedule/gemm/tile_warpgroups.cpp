// The form of GemmTile for warpgroups: the tensor cores read the operands from shared memory themselves,
// while the threads copy the stages to come. Warps lie below each other, 16 rows of C each, and every warp
// has all columns, so C's places are those of mma with one fragment in m (kernel::WarpgroupMma).

#include <stdexcept>

#include "compiler/schedule/gemm/tile.h"

namespace rondo::schedule {

namespace {

constexpr int kWarps = 4;    // of a group
constexpr int kGroupM = 64;  // rows of C
constexpr int kWgmmaK = 16;  // elements of the sum a product
constexpr int kPattern = 8;  // rows after which the swizzle repeats
constexpr int kMostN = 256;  // of wgmma

}  // namespace

void GemmTile::check_warpgroups() const {
  const bool sound = problem_.storage != kernel::Storage::F32 && p_.tile_k == kPanel && p_.stages >= 3 &&
                     p_.warps_n == 1 && p_.warps_m % kWarps == 0 && p_.tile_m == kWgmmaK * p_.warps_m &&
                     p_.tile_n % kPanel == 0 && p_.tile_n <= kMostN && p_.vector * element_bytes() == 16;
  // So that each turn of a thread's copies goes to the same place in the pattern.
  const auto hops = [&](const Tile& tile) {
    return p_.threads() / (tile.columns / p_.vector) % kPattern == 0;
  };
  if (!sound || !hops(tile(Side::A)) || !hops(tile(Side::B)))
    throw std::logic_error("matrix product: parameters that are not for warpgroups");
}

// The place in a row of a panel, and of the panel before all rows, where the thread's vector goes: the k-th
// 16 bytes of row r stand at k ^ r % 8.
Value GemmTile::panel_column(const Dealt& dealt, Side side) {
  auto& b = builder_;
  const Value swizzled = (dealt.column % kPanel) ^ (dealt.row % kPattern * p_.vector);
  return b.let(side == Side::A ? "a_panel" : "b_panel",
               rows_ == Rows::AlongSum ? swizzled : dealt.column / kPanel * (p_.tile_k * kPanel) + swizzled);
}

// Turn `index` copies stage `index` and starts the products of stage `index` - lag. The barrier of a turn
// says two things: the stage to multiply has landed, and the products that were started two turns before are
// over, so that the copies of this turn may go to their slot. The products of the turn before are still under
// way.
void GemmTile::walk_warpgroups(Value count, const std::function<void(Value)>& stage) {
  auto& b = builder_;
  const int lag = p_.stages - 2;
  to_slot_ = b.variable("to_slot", b.constant(0));
  const Value slot = b.variable("slot", b.constant(0));
  b.for_("stage", b.constant(0), count + lag, b.constant(1), 1, [&](Value index) {
    b.wait_copies(lag - 1);
    b.proxy_fence();
    b.wgmma_wait(1);
    b.barrier();
    b.if_(index >= lag, [&] {
      multiply_stage(slot);
      b.assign(slot, next_slot(slot));
    });
    b.if_(index < count, [&] {
      stage(index);
      b.assign(to_slot_, next_slot(to_slot_));
    });
    b.commit_copies();
  });
  b.wgmma_wait(0);
}

void GemmTile::multiply_stage(Value slot) {
  auto& b = builder_;
  const bool mn_major = rows_ == Rows::MnMajor;
  const int panel = p_.tile_k * kPanel;
  const Value group = b.thread() / (32 * kWarps);
  const Value a = slot + group * (mn_major ? panel : kGroupM * kPanel);
  b.warpgroup_mma(problem_.storage, p_.tile_n, p_.tile_k / kWgmmaK, sums_,
                  {ring_[a], mn_major, mn_major ? panel : 0},
                  {ring_[slot + tile(Side::A).elements()], mn_major, mn_major ? panel : 0});
}

}  // namespace rondo::schedule
