// The rounds of shoot: every warp sweeps through its segment, the ends and Jacobians of all segments give
// each its corrected start by an affine scan, and what did not start there sweeps again.
//
// After `sweeps` rounds whatever has not converged is finished in order. In each further round one block
// takes its segments one after the other, each from the end of the one before; their maps are then constant,
// so the scan carries the true end to the next block. What must wait for its turn meanwhile sweeps beside:
// the blocks that come later, and in the block itself all segments from the third on, while the second is
// walked. That costs no time, and often leaves nothing to be done in order.
//
// Newton's method squares its error from sweep to sweep. So where Jacobians correct the starts, and in
// nearly all warps no start was off by more than the state itself when the last of the `sweeps` rounds began,
// another round side by side comes before the walk in order, and up to two more as long as that is so. The
// starts of a cell that converges nowhere are off by more, so it gets none. A run therefore ends after
// `sweeps` + 3 + `time_split` rounds at most, converged or walked step by step.
//
// Without Jacobians a warp of which many channels start far off is not swept beside others: such a start is
// no remainder of a guess that fades, but the sign of a cell that forgets nothing, and walking in order is
// next.
//
// The certificate. A segment counts as converged if the start that the scan gives it differs from the one it
// used by no more than `tolerance` times the state's size: the largest that was seen within the segment, but
// at most 64 times that of its start. With Jacobians the difference counts as often as the segment multiplies
// it, and what a plain walk's rounding has grown to there (RememberedRounding) is no difference. Every warp
// publishes with its maps whether it had to sweep again, and the team ends at the first round in which none
// had. A NaN is never within the tolerance, so it reaches the walk in order.
#pragma once

#include <memory>
#include <vector>

#include "compiler/schedule/channelwise/remembered_rounding.h"
#include "compiler/schedule/channelwise/scan_warp.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/schedule/shoot/between_launches.h"
#include "compiler/schedule/shoot/sweep.h"

namespace rondo::schedule {

class ShootRounds {
 public:
  ShootRounds(ShootKernel& kernel, SegmentSweep& sweep, const Task& task, const ShootParameters& parameters);
  // After ShootKernel::place; all threads of the block. In the first launch, or the only one, the
  // walk may leave out steps: whether this is it, a Pred, invalid if there is one launch.
  void run();
  kernel::Value in_first_launch();
  // Registers that a thread keeps from launch to launch.
  static int kept_registers(const ShootParameters& p, const TransformPattern& pattern);

 private:
  using ByState = std::vector<kernel::Value>;  // by state row * channels of the thread + channel
  // Variables: rounds that are swept side by side, and after which the run ends.
  struct Bounds {
    kernel::Value side_by_side, end;
  };

  void compute();              // what computing threads do
  void compute_in_launches();  // the same, where a launch is one round (rounds_by_launch.cpp)
  void begin_rounds();         // declares the variables
  std::vector<kernel::Value> kept() const;
  void publish_in_launch(kernel::Value round, kernel::Value changed);
  kernel::Value scan_in_launch(kernel::Value round);  // the team's number
  void scan_all(const TransformTable& table, kernel::Value own);
  Bounds bounds(const char* end);  // before the first round
  // After a round: what the team's number says of the next. The same in all threads.
  void conclude(const Bounds& bounds, kernel::Value round, kernel::Value total);
  // The warp's number: how many of its lanes sweep, many times that if one of them is far off.
  kernel::Value unfinished(kernel::Value round);
  void turns(kernel::Value round);  // sweeps, side by side or in order
  // Rounds until this block goes in order: 0 then, less afterwards.
  kernel::Value rounds_until_in_order(const Bounds& bounds, kernel::Value round);
  // How often the warps wait for each other in turns(); none where a block has one segment.
  kernel::Value turns_in_order(const Bounds& bounds, kernel::Value round);
  void take_turn(kernel::Value turn);  // in order: where the segment before ended
  // beside, mine: Pred, whether now is the time to sweep beside others, and in order.
  void sweep_where_needed(kernel::Value round, kernel::Value beside, kernel::Value mine);
  void scan(kernel::Value round, kernel::Value changed);
  // `own`: the part of the table that this thread's segment is.
  void scan_in_block(const TransformTable& table, kernel::Value own, int channel);
  void scan_among_blocks(kernel::Value round);
  void judge();  // whether each channel started where it should have
  // Pred: some state's jump is not within `share` of its size.
  kernel::Value differs(double share);
  // By how much the segment started off, or ends off if its Jacobian says that this is more; and the state's
  // size, by which that is judged.
  kernel::Value jump(int state, int channel, kernel::Value incoming);
  kernel::Value size(int state, int channel, kernel::Value incoming);
  // Pred: the jump is within what a plain walk's rounding has grown to.
  kernel::Value rounding(int state, int channel, kernel::Value incoming);
  kernel::Value finite();  // Pred
  void report();           // what this warp did
  void each_state(const std::function<void(int state, int channel, kernel::Value incoming)>& body);
  kernel::Place handover(int state, int channel);

  ShootKernel& kernel_;
  SegmentSweep& sweep_;
  kernel::Builder& b_;
  ShootParameters parameters_;
  bool remembers_;  // the rounding of the steps before a segment
  double tolerance_;
  std::unique_ptr<ScanWarp> scan_warp_;       // where blocks split time and exchange while they run
  std::unique_ptr<BetweenLaunches> between_;  // where every round is a launch
  TransformTable table_;                      // in all other cases
  kernel::Memory counts_;                     // in all other cases: [slots, warps]
  kernel::Memory handover_;                   // [states, channels]: the end of the segment before
  // By channel of the thread, what a plain walk's rounding is where the segment starts; empty where that is
  // not known.
  std::vector<RememberedRounding> rounding_;
  // incoming_: the start that the last scan gave this segment. again_: 1 where it differs from the one used.
  ByState incoming_;
  kernel::Value again_;
  Bounds bounds_;
  kernel::Value sweeps_, in_order_;  // that this warp made, as numbers
  KernelTensor report_;
};

// Of the state's size, by how much a segment may start off: below what one step's rounding with this
// arithmetic changes. `fast` functions are right to 2^-11 (PTX ISA, tanh.approx), accurate ones to a few ulp,
// and a step without functions is exact in either.
double shoot_tolerance(const Task& task);
// Of the Jacobian of a segment: what is steeper tells nothing of where the end goes, and products of such
// numbers over all segments would overflow.
inline constexpr double kShootSteepest = 8;
// And by how much it may be off, however large the rounding that a plain walk has accumulated there: so many
// standard deviations of it (four, of a step's rounding of 2^-24), and this share of the state's size.
inline constexpr double kShootDeviations = 4 * 0x1p-24;
inline constexpr double kShootMostJump = 0x1p-12;

}  // namespace rondo::schedule
