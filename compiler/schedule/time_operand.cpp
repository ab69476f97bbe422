#include "compiler/schedule/time_operand.h"

#include <algorithm>

namespace rondo::schedule {

using kernel::Place;
using kernel::Value;

KernelTensor KernelTensors::declare(TensorRef ref, bool written) {
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& k) { return k.first.ref == ref && k.second == written; });
  if (known != known_.end()) return known->first;
  return known_.emplace_back(written ? signature_.writes(ref) : signature_.reads(ref), written).first;
}

TimeReader::TimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand)
    : problem_(problem), operand_(operand), tensor_(tensors.reads(operand.row.tensor)) {
  if (operand.shifted && operand.first) first_ = tensors.reads(*operand.first);
}

void TimeReader::copy(GemmTile& tile, Place to, Value row, Value t, Value head, Value channel,
                      Value exists) const {
  kernel::Builder& b = *channel.builder();
  const Value dim = b.named("kDim", problem_.sizes.dim);
  const Value from = b.wide(row) * tensor_.stride_b +
                     b.wide(operand_.shifted ? t - 1 : t) * tensor_.stride_t +
                     b.wide((head * tensor_.rows + operand_.row.row) * dim + channel);
  const auto later = [&] {
    b.if_(
        exists, [&] { tile.copy(to, tensor_.memory[from]); }, [&] { tile.clear(to); });
  };
  if (!operand_.shifted) return later();
  b.if_(
      exists && t == 0, [&] { copy_first(tile, to, row, head, channel); }, later);
}

void TimeReader::copy_first(GemmTile& tile, Place to, Value row, Value head, Value channel) const {
  if (!first_) return tile.clear(to);
  kernel::Builder& b = *channel.builder();
  const Value dim = b.named("kDim", problem_.sizes.dim);
  const Value from =
      b.let("first", (b.wide(row) * problem_.sizes.heads + b.wide(head)) * (dim * first_->rows) +
                         b.wide(dim * operand_.first_row + channel));
  // One by one: no more than the alignment of its elements is asked of a state.
  std::vector<Value> values;
  for (int i = 0; i < tile.vector(); ++i) values.push_back(b.load("state", first_->memory[from + i]));
  b.store_vector(to, values);
}

}  // namespace rondo::schedule
