#include "compiler/schedule/gemm/time_operand.h"

#include <algorithm>

namespace rondo::schedule {

using kernel::Place;

KernelTensor KernelTensors::declare(TensorRef ref, bool written) {
  const auto known =
      std::ranges::find_if(known_, [&](const auto& k) { return k.first.ref == ref && k.second == written; });
  if (known != known_.end()) return known->first;
  return known_.emplace_back(written ? signature_.writes(ref) : signature_.reads(ref), written).first;
}

Value named_columns(kernel::Builder& b, const Problem& problem, std::int64_t columns) {
  return columns == problem.sizes.dim ? b.named("kDim", columns) : b.named("kColumns", columns);
}

TimeReader::TimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand)
    : problem_(problem), operand_(operand), tensor_(tensors.reads(operand.row.tensor)) {
  if (operand.shifted && operand.first) first_ = tensors.reads(*operand.first);
}

void TimeReader::place(const GemmTile& tile, GemmTile::Side side, Value head, Value channel) {
  kernel::Builder& b = *head.builder();
  const Value dim = named_columns(b, problem_, tensor_.columns);
  side_ = side;
  head_ = head;
  channel_ = b.variable(tensor_.name + "_channel", channel + tile.dealt(side).column);
  const Value row = operand_.shifted ? tile.dealt(side).row - 1 : tile.dealt(side).row;
  own_ = b.let(tensor_.name + "_own",
               b.wide(row) * tensor_.stride_t +
                   b.wide((head * tensor_.head_rows() + operand_.row.row) * dim + channel_));
  hop_ = b.let(tensor_.name + "_hop", tensor_.stride_t * tile.dealt(side).hop);
  at_ = b.variable(tensor_.name + "_at", own_);
}

void TimeReader::move_to(Value row, Value t) {
  kernel::Builder& b = *row.builder();
  b.assign(at_, own_ + tensor_.row_begin(row) + b.wide(t) * tensor_.stride_t);
}

void TimeReader::next_steps(int steps) { at_.builder()->assign(at_, at_ + tensor_.stride_t * steps); }

void TimeReader::next_channels(int channels) {
  at_.builder()->assign(at_, at_ + channels);
  channel_.builder()->assign(channel_, channel_ + channels);
}

Value TimeReader::whole(Value t, int steps, Value time) const {
  const Value inside = t + steps <= time;
  return operand_.shifted ? inside && t >= 1 : inside;
}

void TimeReader::stage(GemmTile& tile, const std::optional<Guard>& guard, Value end) const {
  kernel::Builder& b = *head_.builder();
  tile.stage(side_, [&](Place to, Value turn, Value tile_row) {
    const auto copy = [&] { tile.copy(to, tensor_.memory[at_ + b.wide(turn) * hop_]); };
    Value exists = end.valid() ? channel_ < end : Value{};
    if (!guard) return exists.valid() ? b.if_(exists, copy, [&] { tile.clear(to); }) : copy();
    const Value t = guard->t + tile_row;
    exists = exists.valid() ? exists && t < guard->time : t < guard->time;
    if (guard->begin.valid()) exists = exists && t >= guard->begin;
    const auto later = [&] { b.if_(exists, copy, [&] { tile.clear(to); }); };
    if (!operand_.shifted) return later();
    b.if_(
        exists && t == 0, [&] { copy_first(tile, to, guard->row); }, later);
  });
}

void TimeReader::copy_first(GemmTile& tile, Place to, Value row) const {
  if (!first_) return tile.clear(to);
  kernel::Builder& b = *row.builder();
  const Value dim = b.named("kDim", problem_.sizes.dim);
  const Value from =
      b.let("first", (b.wide(row) * problem_.sizes.heads + b.wide(head_)) * (dim * first_->rows) +
                         b.wide(dim * operand_.first_row + channel_));
  // One by one: no more than the alignment of its elements is asked of a state.
  std::vector<Value> values;
  for (int i = 0; i < tile.vector(); ++i) values.push_back(b.load("state", first_->memory[from + i]));
  b.store_vector(to, values);
}

}  // namespace rondo::schedule
