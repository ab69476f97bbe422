#include "compiler/schedule/shoot/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/executable/convergence.h"
#include "compiler/schedule/shoot/resources.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Storage;

namespace {

constexpr int kSlots = 2;
// Of the state's size: a jump of more says that sweeping again is in vain. So many lanes of a warp must have
// one: a few stubborn channels do not hold up the others.
constexpr double kFar = 1.0 / 16;
constexpr int kFarLanes = 4;
// Of the state's size: a start that is off by more is no beginning of an answer. The lanes of a warp that has
// one count as so many each in the team's number.
constexpr double kAstray = 1;
constexpr int kAstrayCounts = 16;
// By how much a state may be larger within its segment than where the segment starts, and count as that
// large.
constexpr double kWithinSegment = 64;
constexpr double kMostVariance = 1e37;  // of the accumulated rounding that is known

}  // namespace

double shoot_tolerance(const Task& task) { return std::ldexp(1.0, shoot_is_accurate(task) ? -20 : -14); }

ShootRounds::ShootRounds(ShootKernel& kernel, SegmentSweep& sweep, const Task& task,
                         const ShootParameters& parameters)
    : kernel_(kernel),
      sweep_(sweep),
      b_(kernel.builder()),
      parameters_(parameters),
      remembers_(shoot_remembers(shoot_shape(task), parameters.newton)),
      tolerance_(shoot_tolerance(task)) {
  const ShootParameters& p = parameters_;
  const int states = sweep.states();
  report_ = kernel.signature().writes({Role::Report, -1});
  if (p.segments > 1)
    handover_ = b_.shared("ends", Storage::F32, std::int64_t{states} * p.channels, "[states, channels]");
  if (p.among_blocks()) {
    scan_warp_ = std::make_unique<ScanWarp>(kernel.threads(), parameters_, task.cell, sweep.pattern(), true,
                                            remembers_);
    return;
  }
  if (p.by_launch()) {
    between_ =
        std::make_unique<BetweenLaunches>(kernel, p, sweep.pattern(), kept_registers(p, sweep.pattern()));
    return;
  }
  table_ = {{}, p.segments, sweep.pattern(), p.channels, {}};
  table_.memory = b_.shared("segment_maps", Storage::F32, kSlots * table_.elements(),
                            fmt::format("[slots {}, segments {}, entries {}, channels {}, 2]", kSlots,
                                        p.segments, table_.entries() / 2, p.channels));
  counts_ = b_.shared("counts", Storage::F32, std::int64_t{kSlots} * p.warps(), "[slots, warps]");
}

void ShootRounds::run() {
  if (between_) return compute_in_launches();
  if (!scan_warp_) return compute();
  scan_warp_->begin();
  const Value in_scan_warp = b_.thread() >= b_.named("kFollowing", parameters_.computing(),
                                                     "first thread of the warp that scans the blocks' maps");
  b_.if_(
      in_scan_warp,
      [&] {
        const Value steps =
            remembers_ ? b_.let("block_steps", b_.to_real(kernel_.own().length * parameters_.segments))
                       : Value{};
        const Bounds bounds = this->bounds("last_round");
        scan_warp_->role_in_rounds(sweep_.first_tensors(),
                                   {bounds.end, [&](Value round) { return turns_in_order(bounds, round); },
                                    [&](Value round, Value total) { conclude(bounds, round, total); }},
                                   steps);
      },
      [&] { compute(); });
  scan_warp_->finish();
}

void ShootRounds::each_state(const std::function<void(int, int, Value)>& body) {
  for (int k = 0; k < sweep_.states(); ++k)
    for (int c = 0; c < parameters_.per_thread; ++c)
      body(k, c, incoming_[at(k * parameters_.per_thread + c)]);
}

void ShootRounds::begin_rounds() {
  for (int k = 0; k < sweep_.states(); ++k)
    for (int c = 0; c < parameters_.per_thread; ++c)
      incoming_.push_back(b_.variable("incoming", sweep_.initial(k, c)));
  if (remembers_)
    for (int c = 0; c < parameters_.per_thread; ++c) rounding_.emplace_back(b_, sweep_.states());
  again_ = b_.variable("again", b_.select(kernel_.exists(), b_.real(1), b_.real(0)));
  sweeps_ = b_.variable("sweeps", b_.real(0));
  in_order_ = b_.variable("finished_in_order", b_.real(0));
  bounds_ = bounds("end_round");
}

void ShootRounds::compute() {
  begin_rounds();
  b_.for_("round", b_.constant(0), bounds_.end, b_.constant(1), 1, [&](Value round) {
    const Value changed = unfinished(round);
    turns(round);
    scan(round, changed);
    judge();
  });
  sweep_.store_last();
  report();
}

ShootRounds::Bounds ShootRounds::bounds(const char* end) {
  const ShootParameters& p = parameters_;
  const Value sweeps = b_.named("kSweeps", p.sweeps, "sweeps side by side");
  return {p.more_sweeps() == 0 ? sweeps : b_.variable("side_by_side", sweeps),
          b_.variable(end, b_.constant(p.sweeps + p.time_split))};
}

Value ShootRounds::unfinished(Value round) {
  const Value wanted = again_ == b_.real(1);
  if (parameters_.more_sweeps() == 0) return kernel_.count_lanes(wanted);
  const Value sweeping = kernel_.count_lanes(wanted);
  const Value astray = kernel_.count_lanes(wanted && round >= 1 && differs(kAstray));
  return b_.let("unfinished", sweeping * b_.select(b_.real(0) < astray, b_.real(kAstrayCounts), b_.real(1)));
}

// Nearly all are on their way where the number is no more than twice that of the team's lanes: no warp is
// astray then, or few of those that are not done.
void ShootRounds::conclude(const Bounds& bounds, Value round, Value total) {
  const ShootParameters& p = parameters_;
  b_.if_(total == b_.real(0), [&] { b_.assign(bounds.end, round); });
  if (p.more_sweeps() == 0) return;
  const Value converging = b_.real(0) < total && total <= b_.real(2.0 * p.computing() * p.time_split);
  const Value last = round + 1 == bounds.side_by_side && round + 1 < p.sweeps + p.more_sweeps();
  b_.if_(last && converging, [&] {
    b_.assign(bounds.side_by_side, bounds.side_by_side + 1);
    b_.assign(bounds.end, bounds.end + 1);
  });
}

// The jump as a share of the state's size, the worst of the warp. max() drops a NaN, so a start that is not
// finite is put in apart.
void ShootRounds::report() {
  b_.comment("how this warp's segment ended");
  const Value worst = b_.variable("worst", b_.real(0));
  b_.if_(kernel_.exists(), [&] {
    each_state([&](int k, int c, Value incoming) {
      const Value off = b_.let("jump", jump(k, c, incoming));
      const Value share =
          b_.let("share", b_.select(off == b_.real(0), b_.real(0), off / size(k, c, incoming)));
      b_.assign(worst, b_.math(scalar::Op::Max, {worst, share}));
    });
  });
  const Value lost =
      kernel_.count_lanes(kernel_.exists() && b_.select(finite(), b_.real(0), b_.real(1)) == b_.real(1));
  for (int distance = 16; distance > 0; distance /= 2) {
    const Value other = b_.shuffle("other", worst, kernel::ShuffleMode::Xor, b_.constant(distance));
    b_.assign(worst, b_.math(scalar::Op::Max, {worst, other}));
  }
  b_.if_(b_.thread() % 32 == 0, [&] {
    const Value block = b_.wide(kernel_.threads().here().team) * parameters_.time_split +
                        b_.wide(kernel_.threads().here().rank);
    const Value record = block * parameters_.warps() + b_.wide(kernel_.own().warp);
    const Value jump = b_.select(b_.real(0) < lost, b_.real(executable::Convergence::kLost), worst);
    b_.store_vector(report_.memory[record * executable::Convergence::kRecord],
                    {sweeps_, in_order_, jump, b_.real(0)});
  });
}

Value ShootRounds::rounds_until_in_order(const Bounds& bounds, Value round) {
  return b_.let("rounds_until", bounds.side_by_side + kernel_.threads().here().rank - round);
}

Value ShootRounds::turns_in_order(const Bounds& bounds, Value round) {
  if (parameters_.segments == 1) return {};
  const Value in_order = rounds_until_in_order(bounds, round) == 0;
  return b_.let("turns", b_.select(in_order, b_.constant(parameters_.segments), b_.constant(0)));
}

void ShootRounds::turns(Value round) {
  const Value until = rounds_until_in_order(bounds_, round);
  const Value in_order = b_.let("in_order", until == 0);
  if (parameters_.segments == 1) return sweep_where_needed(round, until >= 1, in_order);
  const Value turns = b_.let("turns", b_.select(in_order, b_.constant(parameters_.segments), b_.constant(1)));
  b_.for_("turn", b_.constant(0), turns, b_.constant(1), 1, [&](Value turn) {
    const Value mine = b_.let("mine", in_order && kernel_.threads().here().segment == turn);
    b_.if_(mine, [&] { take_turn(turn); });
    sweep_where_needed(round, until >= 1 || (in_order && turn == 1 && kernel_.threads().here().segment >= 2),
                       mine);
    b_.if_(mine, [&] {
      each_state([&](int k, int c, Value) { b_.store(handover(k, c), sweep_.state(k, c)); });
      sweep_.settle();
    });
    b_.if_(in_order, [&] { b_.named_barrier(kWalkBarrier, parameters_.computing()); });
  });
}

kernel::Place ShootRounds::handover(int state, int channel) {
  return handover_[kernel_.threads().here().lane_channel + (state * parameters_.channels + channel)];
}

void ShootRounds::take_turn(Value turn) {
  b_.if_(turn >= 1, [&] {
    each_state([&](int k, int c, Value incoming) { b_.assign(incoming, b_.load("end", handover(k, c))); });
  });
  judge();
}

// Beside others a start that is not finite is no better than the one before, and many far off make their warp
// wait for its turn. In order the start is the true one.
void ShootRounds::sweep_where_needed(Value round, Value beside, Value mine) {
  const Value wanted = again_ == b_.real(1);
  beside = beside && finite();
  if (!parameters_.newton) {
    const Value far = kernel_.count_lanes(wanted && round >= 1 && differs(kFar));
    beside = beside && far < b_.real(kFarLanes);
  }
  const Value sweeps = kernel_.count_lanes(wanted && (beside || mine));
  b_.if_(b_.real(0) < sweeps, [&] {
    b_.if_(round >= 1, [&] {
      each_state([&](int k, int c, Value incoming) {
        b_.assign(sweep_.state(k, c), b_.select(wanted, incoming, sweep_.beginning(k, c)));
      });
    });
    b_.assign(sweeps_, sweeps_ + b_.real(1));
    b_.if_(mine, [&] { b_.assign(in_order_, in_order_ + b_.real(1)); });
    sweep_.run(parameters_.warmup == 0
                   ? b_.constant(0)
                   : b_.let("lead_in", b_.select(round == 0, kernel_.own().lead, b_.constant(0))));
  });
}

void ShootRounds::scan(Value round, Value changed) {
  const std::vector<AffineTransform> transforms = sweep_.transforms(kShootSteepest);
  Value total;
  if (scan_warp_) {
    scan_warp_->publish(round, transforms, changed);
    scan_among_blocks(round);
    total = scan_warp_->total(round);
  } else {
    const Value slot = round % kSlots;
    const TransformTable table = table_.starting_at(slot * table_.parts);
    table.store(b_, kernel_.threads().here().segment, kernel_.threads().here().lane_channel, transforms);
    b_.if_(b_.thread() % 32 == 0,
           [&] { b_.store(counts_[slot * parameters_.warps() + kernel_.own().warp], changed); });
    b_.named_barrier(kWalkBarrier, parameters_.computing());
    scan_all(table, kernel_.threads().here().segment);
    total = b_.variable("total", b_.real(0));
    b_.for_("of_warp", 0, parameters_.warps(), std::min(8, parameters_.warps()), [&](Value of_warp) {
      b_.assign(total, total + b_.load("count", counts_[slot * parameters_.warps() + of_warp]));
    });
  }
  conclude(bounds_, round, total);
}

void ShootRounds::scan_all(const TransformTable& table, Value own) {
  b_.comment("where this segment should have started");
  for (int c = 0; c < parameters_.per_thread; ++c) scan_in_block(table, own, c);
}

void ShootRounds::scan_in_block(const TransformTable& table, Value own, int c) {
  TransformColumn running, before;
  for (int k = 0; k < sweep_.states(); ++k) {
    running.rows.push_back(b_.variable("running", sweep_.initial(k, c)));
    before.rows.push_back(incoming_[at(k * parameters_.per_thread + c)]);
  }
  EachTransform each;
  if (!rounding_.empty()) {
    const Value steps = b_.let("segment_steps", b_.to_real(kernel_.own().length));
    const RememberedRounding walked(b_, sweep_.states());
    each = [this, c, steps, walked, own](Value part, const AffineTransform& map,
                                         const std::vector<Value>& from, const std::vector<Value>& to) {
      rounding_[at(c)].take_if(part == own, walked);
      walked.pass(map, steps, from, to);
    };
  }
  scan_transforms(b_, table, kernel_.threads().here().lane_channel + c, own, running, before, true, each);
}

// Of the segments before this one, and of the blocks before, only the maps of all together are there.
void ShootRounds::scan_among_blocks(Value round) {
  ScanWarp::EachPrefix each;
  if (!rounding_.empty()) {
    const Value steps =
        b_.let("steps_before", b_.to_real(kernel_.threads().here().segment * kernel_.own().length));
    each = [this, round, steps](int c, const AffineTransform& map, const std::vector<Value>& from,
                                const std::vector<Value>& to) {
      const RememberedRounding walked = scan_warp_->incoming_rounding(round, c);
      walked.pass(map, steps, from, to);
      rounding_[at(c)].take(walked);
    };
  }
  const std::vector<Value> scanned = scan_warp_->incoming_carries(round, each);
  for (std::size_t i = 0; i < scanned.size(); ++i) b_.assign(incoming_[i], scanned[i]);
}

Value ShootRounds::differs(double share) {
  Value all;
  each_state([&](int k, int c, Value incoming) {
    const Value within = jump(k, c, incoming) <= size(k, c, incoming) * b_.real(share);
    const bool excused = share == tolerance_ && !rounding_.empty();
    const Value small = excused ? within || rounding(k, c, incoming) : within;
    all = all.valid() ? all && small : small;
  });
  return b_.select(all, b_.real(0), b_.real(1)) == b_.real(1);
}

Value ShootRounds::jump(int k, int c, Value incoming) {
  const Value start = b_.math(scalar::Op::Abs, {incoming - sweep_.beginning(k, c)});
  return parameters_.newton ? start * sweep_.growth(k, c) : start;
}

// The jump alone is compared with the rounding: the segment multiplies both. NaN is within none, and a
// variance that has outgrown fp32 excuses nothing.
Value ShootRounds::rounding(int k, int c, Value incoming) {
  const Value off = b_.let("off", b_.math(scalar::Op::Abs, {incoming - sweep_.beginning(k, c)}));
  const Value variance = rounding_[at(c)].of(k);
  return off * off <= variance * b_.real(kShootDeviations * kShootDeviations) &&
         variance < b_.real(kMostVariance) &&
         jump(k, c, incoming) <= size(k, c, incoming) * b_.real(kShootMostJump);
}

// From a start that is off a segment may have run away, to infinity even: what it reached says nothing then.
Value ShootRounds::size(int k, int c, Value incoming) {
  const auto abs = [&](Value value) { return b_.math(scalar::Op::Abs, {value}); };
  const Value starts = b_.math(scalar::Op::Max, {abs(incoming), abs(sweep_.beginning(k, c))});
  const Value seen = sweep_.scale(k, c), end = sweep_.state(k, c);  // a maximum drops a NaN
  const Value size = b_.math(scalar::Op::Min, {seen, starts * b_.real(kWithinSegment)});
  return b_.select(seen - seen == b_.real(0) && end - end == b_.real(0), size, b_.real(0));
}

Value ShootRounds::finite() {
  Value all;
  each_state([&](int, int, Value incoming) {
    const Value number = incoming - incoming == b_.real(0);
    all = all.valid() ? all && number : number;
  });
  return all;
}

void ShootRounds::judge() {
  b_.if_(kernel_.exists(),
         [&] { b_.assign(again_, b_.select(differs(tolerance_), b_.real(1), b_.real(0))); });
}

}  // namespace rondo::schedule
