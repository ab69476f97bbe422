// What goes along the channels of a head: shifts, rotations and running sums. The stage that makes the vector
// leaves it in a row of Role::Carries, running sums as those within the parts of a row beside the sum of each
// part; a launch that reads it finds what other channels have left.
#include <algorithm>

#include "compiler/schedule/lower/along_head.h"
#include "compiler/schedule/stepwise/body.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

bool is_prefix(const Reduction& reduction) { return reduction.kind == Reduction::Kind::Prefix; }

}  // namespace

// Two rows each behind those of carries and kept values, for steps of both parities: a block may still read
// what another one writes for the next step.
Value StepwiseBody::along_place(const Reduction& reduction, Value parity, Value channel, int turn) {
  auto& b = builder_;
  const auto before =
      std::count_if(stages_.reductions.data(), &reduction, [](const Reduction& r) { return r.along(); });
  const auto first = static_cast<std::int64_t>(2 * sweep_.first.size() + stages_.kept.size()) + 2 * before;
  const Value head = b.wide(channels_[at(turn)].batch_row) * task_.problem.sizes.heads + b.wide(head_);
  return head * carry_elements(sweep_, stages_, shape_) + b.wide((parity + first) * shape_.dim + channel);
}

// Of the turns [first, end), all of one row.
void StepwiseBody::hand_on_along(Part& part, const Reduction& reduction, int first, int end) {
  auto& b = builder_;
  const std::vector<Value>& shares = part.shares.at(reduction.vectors.front());
  const auto leave = [&](int turn, Value value) {
    const Channel& c = channels_[at(turn)];
    const Value to = along_place(reduction, part.parity, c.channel, turn);
    b.if_(c.exists, [&] { b.store(carries_.memory[to], value); });
  };
  if (!reduction.runs()) {
    for (int turn = first; turn < end; ++turn) leave(turn, shares[at(turn)]);
    return;
  }
  const bool up = is_prefix(reduction);
  Value of_part = b.real(0);
  for (int i = first; i < end; ++i) {
    const int turn = up ? i : end - 1 - (i - first);
    const Channel& c = channels_[at(turn)];
    Value own = shares[at(turn)];
    if (shape_.dim % shape_.units != 0) own = b.select(c.channel < shape_.dim, own, b.real(0));
    const auto [before, all] = shape_.row_by_row ? sums_of_lanes(b, lanes_, shape_.threads, own, up)
                                                 : sums_of_warp_lanes(b, row_lanes(shape_), c.unit, own, up);
    leave(turn, of_part + (before + own));
    of_part = b.let("of_part", of_part + all);
  }
  if (parts_of(shape_) > 1) store_part(part, reduction, first, of_part);
}

Value StepwiseBody::bring_along(Part& part, const Reduction& reduction, int turn) {
  auto& b = builder_;
  const Channel& c = channels_[at(turn)];
  const Value value = b.variable(reduction.runs() ? "running_sum" : "moved", b.real(0));
  if (!reduction.runs()) {
    const HeadMove move(sweep_.step.graph.at(reduction.node), shape_.dim);
    const Value gets = move.gets(c.channel);
    b.if_(gets.valid() ? c.exists && gets : c.exists, [&] {
      const Value from = along_place(reduction, part.parity, move.source(c.channel), turn);
      b.assign(value, b.load("from_channel", carries_.memory[from]));
    });
    return value;
  }
  Value others = b.real(0);
  if (parts_of(shape_) > 1) {
    const Value from = b.let("parts_at", part_place(number_of(reduction), part.parity, turn));
    const Value own = b.let("own_part", number_of_part(turn));
    others = sum_of_parts(
        turn,
        [&](Value p) {
          const Value of_part = b.load("part", carries_.memory[from + b.wide(p)]);
          return b.select(is_prefix(reduction) ? p < own : own < p, of_part, b.real(0));
        },
        Op::Add);
  }
  b.if_(c.exists, [&] {
    const Value place = along_place(reduction, part.parity, c.channel, turn);
    b.assign(value, others + b.load("within_part", carries_.memory[place]));
  });
  return value;
}

}  // namespace rondo::schedule
