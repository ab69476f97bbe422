#include "compiler/schedule/lower/flags.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

TensorRef flag_ref(const step::Cell& cell, TensorId tensor) {
  return {cell.tensor(tensor).kind == TensorKind::Reset ? Role::Resets : Role::Lengths, tensor};
}

void FlagReader::declare(const step::Graph& graph, const std::vector<step::NodeId>& roots) {
  for (const step::NodeId id : reachable(graph, roots)) {
    const step::Node& node = graph.at(id);
    if (node.kind != step::NodeKind::Leaf || !step::is_flag(cell_.tensor(node.tensor).kind)) continue;
    if (tensors_.count(node.tensor) == 0)
      tensors_[node.tensor] = signature_.reads(flag_ref(cell_, node.tensor));
  }
}

Value FlagReader::load(TensorId tensor, Value batch_row, Value t) const {
  kernel::Builder& b = *batch_row.builder();
  const KernelTensor& from = tensors_.at(tensor);
  if (is_length(tensor)) return b.load("length", from.memory[from.row_of_call(batch_row)]);
  return load_at(tensor, place(tensor, batch_row, t));
}

Value FlagReader::place(TensorId tensor, Value batch_row, Value t) const {
  kernel::Builder& b = *batch_row.builder();
  const KernelTensor& from = tensors_.at(tensor);
  if (left_out_.valid()) t = t + left_out_;
  return from.row_begin(batch_row) + b.wide(t) * from.stride_t;
}

Value FlagReader::load_at(TensorId tensor, Value place) const {
  return place.builder()->load("reset_byte", tensors_.at(tensor).memory[place]);
}

Value FlagReader::value(TensorId tensor, Value loaded, Value t) const {
  kernel::Builder& b = *loaded.builder();
  if (!is_length(tensor)) return b.let("reset", b.select(loaded == 0, b.real(0), b.real(1)));
  return b.let("valid", b.select(within(loaded, t), b.real(1), b.real(0)));
}

Value FlagReader::within(Value length, Value t) const {
  if (left_out_.valid()) t = t + left_out_;
  const Value of_time = signature_.by_direction([&] { return t; }, [&] { return time_ - 1 - t; });
  return of_time < length;
}

Value FlagReader::read(TensorId tensor, Value batch_row, Value t) const {
  return value(tensor, load(tensor, batch_row, t), t);
}

std::vector<TensorId> FlagReader::tensors() const {
  std::vector<TensorId> result;
  for (const auto& entry : tensors_) result.push_back(entry.first);
  return result;
}

bool FlagReader::stops_early() const {
  const std::optional<TensorId> lengths = cell_.first_of_kind(TensorKind::Length);
  return lengths && cell_.direction != step::Direction::Reversed && tensors_.count(*lengths) != 0;
}

bool FlagReader::starts_late() const {
  const std::optional<TensorId> lengths = cell_.first_of_kind(TensorKind::Length);
  return lengths && cell_.direction != step::Direction::Forward && tensors_.count(*lengths) != 0;
}

bool FlagReader::declare_lengths() {
  const std::optional<TensorId> lengths = cell_.first_of_kind(TensorKind::Length);
  if (lengths && tensors_.count(*lengths) == 0)
    tensors_[*lengths] = signature_.reads(flag_ref(cell_, *lengths));
  return lengths.has_value();
}

Value FlagReader::longest(Value first, Value end, int unroll) const {
  kernel::Builder& b = *first.builder();
  const KernelTensor& lengths = tensors_.at(*cell_.first_of_kind(TensorKind::Length));
  const Value longest = b.variable("longest", b.constant(1));
  b.for_("row", first, end, b.constant(1), unroll, [&](Value row) {
    const Value length = b.load("length", lengths.memory[lengths.row_of_call(row)]);
    b.assign(longest, b.select(longest < length, length, longest));
  });
  return b.let("walked", min(longest, time_));
}

FlagReader::Values FlagReader::read(Value batch_row, Value t) const {
  Values values;
  for (const auto& [id, tensor] : tensors_) values[id] = read(id, batch_row, t);
  return values;
}

Value FlagReader::left_out_before(Value left_out) const {
  return signature_.by_direction([&] { return left_out.builder()->constant(0); }, [&] { return left_out; });
}

}  // namespace rondo::schedule
