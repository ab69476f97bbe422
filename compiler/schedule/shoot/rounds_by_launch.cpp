// Rounds of which each is a launch of its own. A launch scans the maps that the one before has left, and
// sweeps where that is still needed. One more than there are rounds comes last, and scans what these have
// left; a team that has converged does nothing in the launches that follow.
#include <algorithm>

#include "compiler/schedule/shoot/rounds.h"

namespace rondo::schedule {

// The sweeps of a warp and those in order are counted in every lane.
int ShootRounds::kept_registers(const ShootParameters& p, const TransformPattern& pattern) {
  return p.per_thread * (3 * pattern.states() + (p.newton ? pattern.coefficients() : 0)) + 2;
}

std::vector<Value> ShootRounds::kept() const {
  std::vector<Value> all = sweep_.kept();
  all.push_back(sweeps_);
  all.push_back(in_order_);
  return all;
}

Value ShootRounds::in_first_launch() { return between_ ? between_->round() == 0 : Value{}; }

void ShootRounds::compute_in_launches() {
  begin_rounds();
  const Value round = between_->round();
  const BetweenLaunches::Known known{parameters_.more_sweeps() == 0 ? Value{} : bounds_.side_by_side,
                                     bounds_.end};
  b_.if_(round >= 1, [&] {
    between_->restore(known);
    b_.if_(round <= bounds_.end, [&] {
      between_->restore(kept());
      conclude(bounds_, round - 1, scan_in_launch(round - 1));
      judge();
      b_.if_(bounds_.end <= round, [&] {
        sweep_.store_last();
        report();
      });
    });
  });
  const Value open = b_.let("open", round < bounds_.end);
  b_.if_(open, [&] {
    const Value changed = unfinished(round);
    turns(round);
    publish_in_launch(round, changed);
    between_->save(kept());
  });
  between_->leave(known, open);
  between_->conclude();
}

void ShootRounds::publish_in_launch(Value round, Value changed) {
  b_.comment("this segment's map, for the next launch");
  between_->maps(round).store(b_, kernel_.own().part, kernel_.threads().here().lane_channel,
                              sweep_.transforms(kShootSteepest));
  b_.if_(b_.thread() % 32 == 0, [&] { b_.store(between_->count(round, between_->own_warp()), changed); });
}

Value ShootRounds::scan_in_launch(Value round) {
  scan_all(between_->maps(round), kernel_.own().part);
  const Value total = b_.variable("total", b_.real(0));
  const int warps = between_->all_warps();
  b_.for_("of_warp", 0, warps, std::min(8, warps), [&](Value of_warp) {
    b_.assign(total, total + b_.load("count", between_->count(round, of_warp)));
  });
  return total;
}

}  // namespace rondo::schedule
