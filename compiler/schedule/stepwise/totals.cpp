// What a step reduces over the head. Each block hands on what its part of a row comes to; a launch that reads
// a reduction adds the parts up. All orders are fixed: of the channels of a lane, of the lanes, of the parts.
#include <algorithm>
#include <limits>

#include "compiler/schedule/stepwise/body.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;
using scalar::Op;
using step::NodeId;

namespace {

using Kind = Reduction::Kind;

constexpr int kWarp = 32;

// Neighbouring threads that have channels of one row.
int row_lanes(const StepTile& tile) { return tile.row_by_row ? tile.threads : std::min(tile.units, kWarp); }
// Parts of a row that are handed on.
int parts_of(const StepTile& tile) {
  return tile.tiles * (tile.row_by_row ? 1 : std::max(1, tile.units / kWarp));
}
int numbers_of(const Reduction& reduction) { return reduction.kind == Kind::Moment ? 2 : 1; }

Op op_of(const Reduction& reduction) { return reduction.kind == Kind::Max ? Op::Max : Op::Add; }

// Where there is nothing to reduce. The least number stands for minus infinity.
double neutral(Op op) { return op == Op::Max ? -static_cast<double>(std::numeric_limits<float>::max()) : 0; }

}  // namespace

std::int64_t StepwiseBody::carry_elements(const Sweep& sweep, const StepStages& stages,
                                          const StepTile& tile) {
  std::int64_t numbers = 0;
  for (const Reduction& reduction : stages.reductions) numbers += numbers_of(reduction);
  return carry_rows(sweep, stages) * tile.dim + numbers * 2 * parts_of(tile);
}

// Of the first part of a reduction, at steps of `parity`.
Value StepwiseBody::part_place(std::size_t reduction, Value parity, int turn) {
  auto& b = builder_;
  std::int64_t before = carry_rows(sweep_, stages_) * shape_.dim;
  for (std::size_t i = 0; i < reduction; ++i)
    before += std::int64_t{2} * numbers_of(stages_.reductions[i]) * parts_of(shape_);
  const Value row = b.wide(channels_[at(turn)].batch_row) * problem_.sizes.heads + b.wide(head_);
  return row * carry_elements(sweep_, stages_, shape_) +
         b.wide(parity * (numbers_of(stages_.reductions[reduction]) * parts_of(shape_)) + before);
}

bool StepwiseBody::is_number(TensorRef ref) const {
  return !is_internal(ref.role) && ref.role != Role::Products &&
         tensor(ref.tensor).tail == step::Tail::Scalar;
}

// All channels of a head have the number; its first one stores it.
void StepwiseBody::once(bool number, int turn, const std::function<void()>& body) {
  if (!number) return body();
  builder_.if_(channels_[at(turn)].channel == 0, body);
}

Value StepwiseBody::row_exists(int turn) {
  const Channel& c = channels_[at(turn)];
  Value exists = c.batch_row < batch_;
  if (!shape_.row_by_row && (turn + 1) * shape_.threads > shape_.channels())
    exists = exists && c.row < shape_.batch;
  return exists;
}

// A share of each lane of a row, reduced, in all of them. Threads that are lanes of a vector exchange through
// memory of their own, others shuffle.
Value StepwiseBody::over_lanes(Value share, Op op) {
  auto& b = builder_;
  if (shape_.row_by_row) {
    b.barrier();
    b.store(lanes_[b.thread()], share);
    b.barrier();
    std::vector<Value> values;
    for (int lane = 0; lane < shape_.threads; ++lane)
      values.push_back(b.load("lane", lanes_[b.constant(lane)]));
    for (; values.size() > 1; values.resize(values.size() / 2))
      for (std::size_t i = 0; i < values.size() / 2; ++i)
        values[i] = b.math(op, {values[2 * i], values[2 * i + 1]});
    return b.let("of_row", values.front());
  }
  const Value total = b.variable("of_row", share);
  for (int apart = row_lanes(shape_) / 2; apart > 0; apart /= 2)
    b.assign(total,
             b.math(op, {total, b.shuffle("other", total, kernel::ShuffleMode::Xor, b.constant(apart))}));
  return total;
}

void StepwiseBody::begin_shares(Part& part, int turn) {
  for (const std::size_t i : part.stage->partials) {
    const Reduction& reduction = stages_.reductions[i];
    for (const NodeId vector : reduction.vectors) {
      std::vector<Value>& shares = part.shares[vector];
      if (static_cast<int>(shares.size()) == turn)
        shares.push_back(builder_.variable("share", builder_.real(0)));
    }
  }
}

// Channels of the turn's part that lie within the head; at least one, to divide by.
Value StepwiseBody::channels_of_part(int turn) {
  auto& b = builder_;
  const int channels = shape_.row_by_row ? shape_.units : row_lanes(shape_);
  const Value first = shape_.row_by_row ? tile_ * shape_.units
                                        : channels_[at(turn)].channel - channels_[at(turn)].unit % channels;
  const Value rest = b.constant(shape_.dim) - first;
  return b.math(Op::Max, {b.to_real(min(rest, b.constant(channels))), b.real(1)});
}

void StepwiseBody::hand_on(Part& part, int first, int end) {
  auto& b = builder_;
  const Channel& c = channels_[at(first)];
  const auto own = [&](int turn) {
    return shape_.dim % shape_.units == 0 ? Value{} : channels_[at(turn)].channel < shape_.dim;
  };
  for (const std::size_t i : part.stage->partials) {
    const Reduction& reduction = stages_.reductions[i];
    const Op op = op_of(reduction);
    // Reduced over the channels of a lane, and over the lanes.
    const auto reduced = [&](const std::function<Value(Value)>& term) {
      Value lane;
      for (int turn = first; turn < end; ++turn) {
        Value sum;
        for (const NodeId vector : reduction.vectors) {
          const Value of = term(part.shares.at(vector)[at(turn)]);
          sum = sum.valid() ? sum + of : of;
        }
        if (const Value exists = own(turn); exists.valid()) sum = b.select(exists, sum, b.real(neutral(op)));
        lane = lane.valid() ? b.math(op, {lane, sum}) : sum;
      }
      return over_lanes(b.let("share_of_lane", lane), op);
    };
    std::vector<Value> numbers{reduced([](Value v) { return v; })};
    if (reduction.kind == Kind::Moment) {
      const Value count = channels_of_part(first) * b.real(static_cast<double>(reduction.vectors.size()));
      numbers[0] = b.let("mean", numbers[0] / count);
      numbers.push_back(reduced([&](Value v) {
        const Value off = b.let("off_mean", v - numbers[0]);
        return off * off;
      }));
    }
    const int lanes = row_lanes(shape_);
    const Value number =
        shape_.row_by_row ? tile_ : tile_ * (parts_of(shape_) / shape_.tiles) + c.unit / lanes;
    const Value to = part_place(i, part.parity, first) + b.wide(number);
    b.if_(row_exists(first) && (shape_.row_by_row ? b.thread() == 0 : c.unit % lanes == 0), [&] {
      for (std::size_t n = 0; n < numbers.size(); ++n)
        b.store(carries_.memory[to + static_cast<std::int64_t>(n) * parts_of(shape_)], numbers[n]);
    });
  }
}

// `at` gives the number of part p; lanes take turns with the parts.
Value StepwiseBody::sum_of_parts(int turn, const std::function<Value(Value)>& at_part, Op op) {
  auto& b = builder_;
  const int parts = parts_of(shape_), lanes = row_lanes(shape_);
  const Value total = b.variable("total", b.real(neutral(op)));
  const Value lane = shape_.row_by_row ? b.thread() : channels_[at(turn)].unit % lanes;
  b.if_(row_exists(turn), [&] {
    if (parts == 1) return b.assign(total, at_part(b.constant(0)));
    b.for_("part", lane, b.constant(parts), b.constant(lanes), 4, [&](Value p) {
      b.assign(total, b.math(op, {total, at_part(p)}));
    });
  });
  return parts == 1 ? total : over_lanes(total, op);
}

void StepwiseBody::bring_totals(Part& part, int turn) {
  auto& b = builder_;
  const int parts = parts_of(shape_);
  for (const std::size_t i : part.stage->totals) {
    const Reduction& reduction = stages_.reductions[i];
    const Value from = b.let("parts_at", part_place(i, part.parity, turn));
    const auto number = [&](Value p, int which) {
      return b.load("part", carries_.memory[from + b.wide(p + which * parts)]);
    };
    if (reduction.kind != Kind::Moment) {
      part.reads[reduction.node].push_back(sum_of_parts(
          turn, [&](Value p) { return number(p, 0); }, op_of(reduction)));
      continue;
    }
    const int width = shape_.row_by_row ? shape_.units : row_lanes(shape_);
    const auto each = static_cast<double>(reduction.vectors.size());
    const auto count = [&](Value p) {
      const Value own = b.to_real(min(b.constant(shape_.dim) - p * width, b.constant(width)));
      return b.math(Op::Max, {own, b.real(0)}) * b.real(each);
    };
    HeadMoment moment;
    moment.count = each * static_cast<double>(shape_.dim);
    const Value sum = sum_of_parts(
        turn, [&](Value p) { return number(p, 0) * count(p); }, Op::Add);
    moment.mean = b.let("mean", sum / b.real(moment.count));
    moment.squares = sum_of_parts(
        turn,
        [&](Value p) {
          const Value off = b.let("off_mean", number(p, 0) - moment.mean);
          return number(p, 1) + count(p) * off * off;
        },
        Op::Add);
    part.moments[reduction.node].push_back(moment);
  }
}

}  // namespace rondo::schedule
