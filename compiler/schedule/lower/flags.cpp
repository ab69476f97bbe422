#include "compiler/schedule/lower/flags.h"

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;
using step::TensorId;
using step::TensorKind;

TensorRef flag_ref(const step::Cell& cell, TensorId tensor) {
  return {cell.tensors[at(tensor)].kind == TensorKind::Reset ? Role::Resets : Role::Lengths, tensor};
}

void FlagReader::declare(const step::Graph& graph, const std::vector<step::NodeId>& roots) {
  for (const step::NodeId id : reachable(graph, roots)) {
    const step::Node& node = graph.at(id);
    if (node.kind != step::NodeKind::Leaf || !step::is_flag(cell_.tensors[at(node.tensor)].kind)) continue;
    if (tensors_.count(node.tensor) == 0)
      tensors_[node.tensor] = signature_.reads(flag_ref(cell_, node.tensor));
  }
}

Value FlagReader::read(TensorId tensor, Value batch_row, Value t) const {
  kernel::Builder& b = *batch_row.builder();
  const KernelTensor& from = tensors_.at(tensor);
  if (from.ref.role == Role::Lengths) {
    const Value length = b.load("length", from.memory[batch_row]);
    const Value step = cell_.reversed ? time_ - 1 - t : t;
    return b.let("valid", b.select(step < length, b.real(1), b.real(0)));
  }
  const Value place = b.wide(batch_row) * from.stride_b + b.wide(t) * from.stride_t;
  const Value byte = b.load("reset_byte", from.memory[place]);
  return b.let("reset", b.select(byte == 0, b.real(0), b.real(1)));
}

FlagReader::Values FlagReader::read(Value batch_row, Value t) const {
  Values values;
  for (const auto& [id, tensor] : tensors_) values[id] = read(id, batch_row, t);
  return values;
}

}  // namespace rondo::schedule
