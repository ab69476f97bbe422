#include "compiler/schedule/host/sweep_tensors.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

void SweepTensors::declare_once(TensorRef ref, bool written) {
  const bool known = std::ranges::any_of(tensors_, [&](const auto& tensor) { return tensor.ref == ref; });
  if (!known) tensors_.push_back(written ? signature_.writes(ref) : signature_.reads(ref));
}

void SweepTensors::declare_leaf(const Node& node, NodeId id) {
  if (node.kind == step::NodeKind::Leaf && task_.cell.tensor(node.tensor).kind == step::TensorKind::Param)
    declare_once({Role::Param, node.tensor}, false);
  const auto source = sweep_.sources.find(id);
  if (source == sweep_.sources.end() || source->second.kind == SweepSource::Kind::Carry ||
      source->second.kind == SweepSource::Kind::Flag)
    return;
  declare_once(source->second.row.tensor, false);
  if (source->second.kind == SweepSource::Kind::Before) declare_once(source->second.first.tensor, false);
}

void SweepTensors::declare_reads(const step::Graph& graph, const std::vector<NodeId>& roots) {
  for (const NodeId id : reachable(graph, roots)) declare_leaf(graph.at(id), id);
}

void SweepTensors::declare_ends() {
  for (const auto& sinks : sweep_.sinks)
    for (const SweepSink& sink : sinks)
      if (sink.kind == SweepSink::Kind::Now) declare_once(sink.row.tensor, true);
  if (sweep_.sum_rows > 0) sums_ = signature_.writes({Role::Workspace, -1});
  for (const RowRef& row : sweep_.first) declare_once(row.tensor, false);
  for (const RowRef& row : sweep_.last) declare_once(row.tensor, true);
}

const KernelTensor& SweepTensors::declared(TensorRef ref) const {
  const auto found = std::ranges::find_if(tensors_, [&](const auto& tensor) { return tensor.ref == ref; });
  if (found == tensors_.end()) throw std::logic_error("host: a tensor that was not declared");
  return *found;
}

bool SweepTensors::is_head_value(TensorRef ref) const {
  return !is_internal(ref.role) && task_.cell.is_head_value(ref.tensor);
}

Value SweepTensors::at_step(const KernelTensor& tensor, int row, Value t, const Place& place) const {
  kernel::Builder& b = *t.builder();
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value step = tensor.row_begin(place.batch_row) + b.wide(t) * tensor.stride_t;
  if (is_head_value(tensor.ref)) return step + b.wide(place.head * tensor.head_rows() + row);
  return step + b.wide(place.head * (tensor.head_rows() * dim) + row * dim + place.channel);
}

Value SweepTensors::boundary(const KernelTensor& tensor, int row, const Place& place) const {
  kernel::Builder& b = *place.channel.builder();
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value team = b.wide(place.batch_row) * task_.problem.sizes.heads + b.wide(place.head);
  if (is_head_value(tensor.ref)) return team * tensor.rows + b.wide(b.constant(row));
  return team * (tensor.rows * dim) + b.wide(place.channel + row * dim);
}

kernel::Place SweepTensors::sum(int row, const Place& place) const {
  return sum(row, place, place.channel.builder()->constant(0), 1);
}

kernel::Place SweepTensors::sum(int row, const Place& place, Value share, int shares) const {
  kernel::Builder& b = *place.channel.builder();
  const std::int64_t dim = task_.problem.sizes.dim;
  Value part = b.wide(place.batch_row);
  if (shares > 1) part = part * shares + b.wide(share);
  const Value team = part * task_.problem.sizes.heads + b.wide(place.head);
  return sums_.memory[team * (sweep_.sum_rows * dim) + b.wide(place.channel + row * dim)];
}

Value SweepTensors::param(const Node& leaf, const Place& place) const {
  const step::Tensor& tensor = task_.cell.tensor(leaf.tensor);
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value element = tensor.tail == step::Tail::Scalar
                            ? place.head * tensor.rows + leaf.row
                            : place.head * (tensor.rows * dim) + leaf.row * dim + place.channel;
  return place.head.builder()->load("param", declared({Role::Param, leaf.tensor}).memory[element]);
}

Value SweepTensors::first(const RowRef& row, const Place& place) const {
  const KernelTensor& tensor = declared(row.tensor);
  return place.head.builder()->load("first", tensor.memory[boundary(tensor, row.row, place)]);
}

Value SweepTensors::read(const SweepSource& source, Value t, const Place& place) const {
  kernel::Builder& b = *t.builder();
  const KernelTensor& here = declared(source.row.tensor);
  if (source.kind == SweepSource::Kind::Now)
    return b.load(here.name, here.memory[at_step(here, source.row.row, t, place)]);
  const Value before = b.variable("before", b.real(0));
  b.if_(
      t == 0, [&] { b.assign(before, first(source.first, place)); },
      [&] { b.assign(before, b.load("saved", here.memory[at_step(here, source.row.row, t - 1, place)])); });
  return before;
}

}  // namespace rondo::schedule
