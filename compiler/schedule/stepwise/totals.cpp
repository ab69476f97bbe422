// What a step reduces over the head. Each block hands on what its part of a row comes to; a launch that reads
// a reduction adds the parts up. All orders are fixed: of the channels of a lane, of the lanes, of the parts.
#include <algorithm>
#include <limits>

#include "compiler/schedule/stepwise/body.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using Kind = Reduction::Kind;

constexpr int kWarp = 32;

Op op_of(const Reduction& reduction) { return reduction.kind == Kind::Max ? Op::Max : Op::Add; }

// Where there is nothing to reduce. The least number stands for minus infinity.
double neutral(Op op) { return op == Op::Max ? -static_cast<double>(std::numeric_limits<float>::max()) : 0; }

}  // namespace

int row_lanes(const StepTile& tile) { return tile.row_by_row ? tile.threads : std::min(tile.units, kWarp); }

int parts_of(const StepTile& tile) {
  return tile.tiles * (tile.row_by_row ? 1 : std::max(1, tile.units / kWarp));
}

std::int64_t StepwiseBody::carry_elements(const Sweep& sweep, const StepStages& stages,
                                          const StepTile& tile) {
  const auto numbers = static_cast<std::int64_t>(2 * stages.reductions.size());
  return carry_rows(sweep, stages) * tile.dim + numbers * parts_of(tile);
}

// Of the first part of a reduction, at steps of `parity`.
Value StepwiseBody::part_place(std::size_t reduction, Value parity, int turn) {
  auto& b = builder_;
  const std::int64_t before =
      carry_rows(sweep_, stages_) * shape_.dim + static_cast<std::int64_t>(2 * reduction) * parts_of(shape_);
  const Value row = b.wide(channels_[at(turn)].batch_row) * task_.problem.sizes.heads + b.wide(head_);
  return row * carry_elements(sweep_, stages_, shape_) + b.wide(parity * parts_of(shape_) + before);
}

bool StepwiseBody::is_head_value(TensorRef ref) const {
  if (ref.role == Role::Scratch) return ref.tensor == kHeadValues;
  return !is_internal(ref.role) && ref.role != Role::Products &&
         tensor(ref.tensor).tail == step::Tail::Scalar;
}

// All channels of a head have the per-head value; its first one stores it.
void StepwiseBody::once(bool per_head, int turn, const std::function<void()>& body) {
  if (!per_head) return body();
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
  const auto own = [&](int turn) {
    return shape_.dim % shape_.units == 0 ? Value{} : channels_[at(turn)].channel < shape_.dim;
  };
  std::map<NodeId, Value> of_row;  // by node of the reduction
  for (const std::size_t i : part.stage->partials) {
    const Reduction& reduction = stages_.reductions[i];
    if (reduction.along()) {
      hand_on_along(part, reduction, first, end);
      continue;
    }
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
    if (reduction.kind == Kind::Spread) {
      const Value count = channels_of_part(first) * b.real(static_cast<double>(reduction.vectors.size()));
      const Value mean = b.let("mean", of_row.at(reduction.sum) / count);
      of_row[reduction.node] = reduced([&](Value v) {
        const Value off = b.let("off_mean", v - mean);
        return off * off;
      });
    } else {
      of_row[reduction.node] = reduced([](Value v) { return v; });
    }
    store_part(part, reduction, first, of_row.at(reduction.node));
  }
}

Value StepwiseBody::number_of_part(int turn) {
  if (shape_.row_by_row) return tile_;
  const Channel& c = channels_[at(turn)];
  const int lanes = row_lanes(shape_);
  return tile_ * (parts_of(shape_) / shape_.tiles) + c.unit / lanes;
}

void StepwiseBody::store_part(const Part& part, const Reduction& reduction, int turn, Value of_part) {
  auto& b = builder_;
  const int lanes = row_lanes(shape_);
  const Value number = number_of_part(turn);
  const Value to = part_place(number_of(reduction), part.parity, turn) + b.wide(number);
  const Value leads = shape_.row_by_row ? b.thread() == 0 : channels_[at(turn)].unit % lanes == 0;
  b.if_(row_exists(turn) && leads, [&] { b.store(carries_.memory[to], of_part); });
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
  for (const std::size_t i : part.stage->totals) {
    const Reduction& reduction = stages_.reductions[i];
    if (reduction.along()) {
      part.reads[reduction.node].push_back(bring_along(part, reduction, turn));
      continue;
    }
    const Value from = b.let("parts_at", part_place(i, part.parity, turn));
    const auto number = [&](Value p) { return b.load("part", carries_.memory[from + b.wide(p)]); };
    part.reads[reduction.node].push_back(reduction.kind == Kind::Spread
                                             ? spread_of_parts(part, reduction, turn, number)
                                             : sum_of_parts(turn, number, op_of(reduction)));
  }
}

// What the means of the parts are off that of the head counts for all channels of a part; the last parts may
// have none.
Value StepwiseBody::spread_of_parts(Part& part, const Reduction& reduction, int turn,
                                    const std::function<Value(Value)>& at_part) {
  auto& b = builder_;
  if (parts_of(shape_) == 1) return sum_of_parts(turn, at_part, Op::Add);
  const auto each = static_cast<double>(reduction.vectors.size());
  const double all = each * static_cast<double>(shape_.dim);
  const Value mean = b.let("mean", part.reads.at(reduction.sum)[at(turn)] * b.real(1 / all));
  const auto sum = stages_.reduction_of(reduction.sum) - stages_.reductions.data();
  const Value sums = b.let("sums_at", part_place(at(sum), part.parity, turn));
  const int width = shape_.row_by_row ? shape_.units : row_lanes(shape_);
  const bool alike = shape_.dim % shape_.units == 0;
  const auto count_of = [&](Value p) {
    if (alike) return b.real(width * each);
    const Value own = b.to_real(min(b.constant(shape_.dim) - p * width, b.constant(width)));
    return b.let("count", b.math(Op::Max, {own, b.real(0)}) * b.real(each));
  };
  return sum_of_parts(
      turn,
      [&](Value p) {
        const Value sum_of_part = b.load("sum", carries_.memory[sums + b.wide(p)]), count = count_of(p);
        const Value mean_of_part = alike ? sum_of_part * b.real(1 / (width * each))
                                         : sum_of_part / b.math(Op::Max, {count, b.real(1)});
        const Value off = b.let("off_mean", mean_of_part - mean);
        return at_part(p) + count * off * off;
      },
      Op::Add);
}

}  // namespace rondo::schedule
