#include "compiler/step/step_ir.h"

#include <algorithm>

#include "compiler/scalar/philox.h"
#include "compiler/support/enum_text.h"

namespace rondo::step {

namespace {

constexpr EnumText<TensorKind> kTensorKinds[] = {
    {TensorKind::Input, "input"},   {TensorKind::Param, "param"}, {TensorKind::State, "state"},
    {TensorKind::Output, "output"}, {TensorKind::Reset, "reset"}, {TensorKind::Length, "length"}};
static_assert(is_total(kTensorKinds));

Extent extent_of(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case NodeKind::Constant:
    case NodeKind::NamedConst:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax:
    case NodeKind::ReduceSpread:
    case NodeKind::HeadSize:
    case NodeKind::StepIndex: return Extent::Scalar;
    case NodeKind::MatVec:
    case NodeKind::MatTVec:
    case NodeKind::MaxPlus:
    case NodeKind::ArgMaxPlus:
    case NodeKind::ScatterSum:
    case NodeKind::Uniform:
    case NodeKind::Shift:
    case NodeKind::Rotate:
    case NodeKind::PrefixSum:
    case NodeKind::SuffixSum: return Extent::Vector;
    case NodeKind::Leaf:
    case NodeKind::Gradient: return node.extent;
    case NodeKind::SumRows:
    case NodeKind::Scalar: break;
  }
  const bool vector = std::ranges::any_of(
      node.operands, [&](NodeId operand) { return graph.at(operand).extent == Extent::Vector; });
  return vector ? Extent::Vector : Extent::Scalar;
}

Node make(NodeKind kind, std::vector<NodeId> operands = {}) {
  Node node;
  node.kind = kind;
  node.operands = std::move(operands);
  return node;
}

Node make_indexed(NodeKind kind, TensorId tensor, int row, std::vector<NodeId> operands = {}) {
  Node node = make(kind, std::move(operands));
  node.tensor = tensor;
  node.row = row;
  return node;
}

}  // namespace

const char* tensor_kind_name(TensorKind kind) { return to_text(kTensorKinds, kind); }

std::uint32_t draw_stream(const Node& node) { return scalar::philox_stream(node.draw); }

NodeId Graph::add(Node node) {
  node.extent = extent_of(*this, node);
  nodes.push_back(std::move(node));
  return static_cast<NodeId>(nodes.size() - 1);
}

NodeId Graph::constant(double value) {
  Node node = make(NodeKind::Constant);
  node.value = value;
  return add(std::move(node));
}

NodeId Graph::named_constant(int const_index) {
  Node node = make(NodeKind::NamedConst);
  node.const_index = const_index;
  return add(std::move(node));
}

NodeId Graph::leaf(TensorId tensor, int row, Extent extent) {
  Node node = make_indexed(NodeKind::Leaf, tensor, row);
  node.extent = extent;
  return add(std::move(node));
}

NodeId Graph::scalar(scalar::Op op, std::vector<NodeId> operands) {
  Node node = make(NodeKind::Scalar, std::move(operands));
  node.op = op;
  return add(std::move(node));
}

NodeId Graph::matvec(TensorId matrix, int row, NodeId vector) {
  return add(make_indexed(NodeKind::MatVec, matrix, row, {vector}));
}

NodeId Graph::mat_t_vec(TensorId matrix, int row, NodeId vector) {
  return add(make_indexed(NodeKind::MatTVec, matrix, row, {vector}));
}

NodeId Graph::max_plus(TensorId matrix, int row, NodeId vector) {
  return add(make_indexed(NodeKind::MaxPlus, matrix, row, {vector}));
}

NodeId Graph::arg_max_plus(TensorId matrix, int row, NodeId vector) {
  return add(make_indexed(NodeKind::ArgMaxPlus, matrix, row, {vector}));
}

NodeId Graph::scatter_sum(NodeId vector, NodeId chosen) {
  return add(make(NodeKind::ScatterSum, {vector, chosen}));
}

NodeId Graph::reduce_sum(NodeId vector) { return add(make(NodeKind::ReduceSum, {vector})); }

NodeId Graph::reduce_max(NodeId vector) { return add(make(NodeKind::ReduceMax, {vector})); }

NodeId Graph::head_size() { return add(make(NodeKind::HeadSize)); }

NodeId Graph::gradient(GradientRef ref, Extent extent) {
  Node node = make(NodeKind::Gradient);
  node.gradient = ref;
  node.extent = extent;
  return add(std::move(node));
}

NodeId Graph::uniform(const std::string& draw, NodeId seed) {
  Node node = make(NodeKind::Uniform, {seed});
  node.draw = draw;
  return add(std::move(node));
}

NodeId Graph::step_index() { return add(make(NodeKind::StepIndex)); }
NodeId Graph::sum_rows(NodeId of_thread) { return add(make(NodeKind::SumRows, {of_thread})); }

NodeId Graph::along_head(NodeKind kind, NodeId vector, int offset) {
  Node node = make(kind, {vector});
  node.offset = offset;
  return add(std::move(node));
}

std::vector<TensorId> Cell::of_kind(TensorKind kind) const {
  std::vector<TensorId> found;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].kind == kind) found.push_back(static_cast<TensorId>(i));
  return found;
}

// An output may carry the name of a state (`output h`); the state is declared first and is the one found.
std::optional<TensorId> Cell::find(const std::string& tensor_name) const {
  const auto found =
      std::ranges::find_if(tensors, [&](const Tensor& tensor) { return tensor.name == tensor_name; });
  if (found == tensors.end()) return std::nullopt;
  return static_cast<TensorId>(found - tensors.begin());
}

std::optional<TensorId> Cell::first_of_kind(TensorKind kind) const {
  const std::vector<TensorId> found = of_kind(kind);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::optional<TensorId> Cell::seed() const {
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::Uniform) return graph.at(node.operands[0]).tensor;
  return std::nullopt;
}

std::optional<Row> Cell::state_behind(const Row& output) const {
  if (tensor(output.tensor).summed) return std::nullopt;
  const auto found =
      std::ranges::find_if(next, [&](const Row& candidate) { return candidate.value == output.value; });
  if (found == next.end()) return std::nullopt;
  return *found;
}

}  // namespace rondo::step
