#include "compiler/schedule/backward/time_values.h"

#include <algorithm>
#include <utility>

namespace rondo::schedule {

TimeValues::TimeValues(kernel::Builder& builder, Signature& signature, const Task& task,
                       const BackwardSplit& split, const step::Graph& graph,
                       std::map<NodeId, RowRef> products)
    : builder_(builder),
      signature_(signature),
      task_(task),
      split_(split),
      graph_(graph),
      where_(std::move(products)),
      flags_(signature, task.cell) {}

void TimeValues::declare(const std::vector<NodeId>& roots, int vector) {
  vector_ = vector;
  const std::vector<NodeId> read = reachable(graph_, roots);
  const auto uses = [&](TensorId id, int row) {
    return std::ranges::any_of(read, [&](NodeId node) {
      const Node& of = graph_.at(node);
      return of.kind == NodeKind::Leaf && of.tensor == id && of.row == row;
    });
  };
  for (const auto kind : {TensorKind::Input, TensorKind::Param})
    for (const TensorId id : tensors_read(task_.cell, graph_, roots, kind))
      given_[id] = signature_.reads({kind == TensorKind::Input ? Role::Input : Role::Param, id});
  for (const TensorId id : tensors_read(task_.cell, graph_, roots, TensorKind::State)) {
    first_[id] = signature_.reads({Role::InitialState, id});
    for (int row = 0; row < tensor(id).rows; ++row)
      if (uses(id, row)) {
        const TensorRef ref = split_.needs.history.at({id, row}).tensor;
        if (before_.count(ref.tensor) == 0) before_[ref.tensor] = signature_.reads(ref);
      }
  }
  for (const NodeId id : read) {
    const step::GradientRef& of = graph_.at(id).gradient;
    if (graph_.at(id).kind == NodeKind::Gradient && gradients_.count(of.tensor) == 0)
      gradients_[of.tensor] = signature_.reads({Role::OutputGradient, of.tensor});
  }
  flags_.declare(graph_, roots);
  for (const NodeId id : read) {
    const auto product = where_.find(id);
    if (product == where_.end()) continue;
    const TensorRef& ref = product->second.tensor;
    if (std::ranges::none_of(products_, [&](const KernelTensor& t) { return t.ref == ref; }))
      products_.push_back(signature_.reads(ref));
  }
}

Value TimeValues::place(const KernelTensor& tensor, int row, const When& when) {
  const std::int64_t dim = task_.problem.sizes.dim;
  Value step = tensor.row_begin(at_.row) + builder_.wide(when.t) * tensor.stride_t;
  if (when.later != 0) step = step + tensor.stride_t * when.later;
  if (tensor.per_head) return step + builder_.wide(at_.head * tensor.head_rows() + row);
  return step + builder_.wide(at_.head * (tensor.head_rows() * dim) + at_.channel + row * dim);
}

Value TimeValues::param(const Node& node, int c) {
  const step::Tensor& t = tensor(node.tensor);
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value at = t.tail == step::Tail::Scalar
                       ? at_.head * t.rows + node.row
                       : at_.head * (t.rows * dim) + at_.channel + (node.row * dim + c);
  return builder_.load("param", given_.at(node.tensor).memory[at]);
}

bool TimeValues::is_state(NodeId id) const {
  const Node& node = graph_.at(id);
  return node.kind == NodeKind::Leaf && tensor(node.tensor).kind == TensorKind::State;
}

std::vector<NodeId> TimeValues::loaded_by(const std::vector<NodeId>& roots,
                                          const std::vector<NodeId>& given) const {
  std::vector<NodeId> nodes;
  for (const NodeId id : reachable(graph_, roots)) {
    const Node& node = graph_.at(id);
    const bool product = node.kind == NodeKind::MatVec && std::ranges::find(given, id) == given.end();
    const bool leaf = node.kind == NodeKind::Leaf && tensor(node.tensor).kind != TensorKind::Param;
    if (product || leaf || node.kind == NodeKind::Gradient) nodes.push_back(id);
  }
  return nodes;
}

TimeValues::Step TimeValues::load(const std::vector<NodeId>& nodes, const When& when, bool known_later) {
  When before{when.t, when.later - 1};
  if (!known_later) before = {builder_.let("before", builder_.select(when.t == 0, when.t, when.t - 1))};
  Step step{when, known_later};
  for (const NodeId id : nodes) {
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::MatVec) {
      const RowRef& where = where_.at(id);
      step.values[id] = load_channels("product", product_tensor(where.tensor), where.row, when);
    } else if (node.kind == NodeKind::Gradient) {
      const step::GradientRef& of = node.gradient;
      step.values[id] = load_channels("gradient", gradients_.at(of.tensor), of.row, when);
    } else if (is_state(id)) {
      const RowRef& where = split_.needs.history.at({node.tensor, node.row});
      step.values[id] = load_channels("saved", before_.at(where.tensor.tensor), where.row, before);
    } else if (step::is_flag(tensor(node.tensor).kind)) {
      step.values[id] = {flags_.read(node.tensor, at_.row, when.step())};
    } else {
      step.values[id] = load_channels(tensor(node.tensor).name, given_.at(node.tensor), node.row, when);
    }
  }
  return step;
}

const KernelTensor& TimeValues::product_tensor(const TensorRef& ref) const {
  return *std::ranges::find_if(products_, [&](const KernelTensor& tensor) { return tensor.ref == ref; });
}

// One value if that is all a head has. A load takes 16 bytes at most.
std::vector<Value> TimeValues::load_channels(const std::string& name, const KernelTensor& from, int row,
                                             const When& when) {
  const Value at_row = place(from, row, when);
  const int count = from.per_head ? 1 : vector_;
  const int each = std::min(count, 16 / kernel::storage_bytes(from.storage));
  std::vector<Value> values = builder_.load_vector(name, from.memory[at_row], each);
  for (int first = each; first < count; first += each)
    for (const Value value : builder_.load_vector(name, from.memory[at_row + first], each))
      values.push_back(value);
  return values;
}

// One by one: no more than the alignment of its elements is asked of a state.
void TimeValues::take_first_states(Step& step) {
  auto& b = builder_;
  if (step.known_later) return;
  std::vector<NodeId> states;
  for (const auto& loaded : step.values)
    if (is_state(loaded.first)) states.push_back(loaded.first);
  if (states.empty()) return;
  for (const NodeId id : states)
    for (Value& value : step.values.at(id)) value = b.variable("state", value);
  b.if_(step.when.t == 0, [&] {
    for (const NodeId id : states)
      for (std::size_t c = 0; c < step.values.at(id).size(); ++c)
        b.assign(step.values.at(id)[c], first_state(graph_.at(id), static_cast<int>(c)));
  });
}

Value TimeValues::first_state(const Node& node, int c) {
  auto& b = builder_;
  const step::Tensor& state = tensor(node.tensor);
  const std::int64_t dim = task_.problem.sizes.dim;
  const Value team = b.wide(at_.row) * task_.problem.sizes.heads + b.wide(at_.head);
  const Value at = state.tail == step::Tail::Scalar
                       ? team * state.rows + b.wide(b.constant(node.row))
                       : team * (state.rows * dim) + b.wide(at_.channel + (node.row * dim + c));
  return b.load("first", first_.at(node.tensor).memory[at]);
}

Value TimeValues::leaf(const GraphLowering& lowering, const Node& node, const Step& step, int c) {
  if (step::is_of_place(node))
    return lowering.draw(node, c, {at_.row, step.when.step(), at_.head, at_.channel + c});
  const std::vector<Value>& values = step.values.at(id_of(node));
  return values[values.size() == 1 ? 0 : static_cast<std::size_t>(c)];
}

}  // namespace rondo::schedule
