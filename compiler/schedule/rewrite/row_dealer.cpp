#include "compiler/schedule/rewrite/row_dealer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/schedule/analysis/history.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

using scalar::Op;
using step::Row;

// So many terms are added up one after the other, and then these sums: chains stay short, and multiply-adds
// stay.
constexpr std::size_t kTermsInChain = 4;

// The lane whose value it is; none where all have it.
std::optional<int> lane_of(const Dealt& value) {
  const auto* own = std::get_if<OfLane>(&value);
  return own == nullptr ? std::nullopt : std::optional(own->lane);
}

NodeId node_of(const Dealt& value) {
  const auto* own = std::get_if<OfLane>(&value);
  return own == nullptr ? std::get<Alike>(value).id : own->id;
}

bool is_sum(const Dealt& value) { return std::holds_alternative<OverRows>(value); }

// Whether the values are those of one lane's rows, or all lanes have them.
bool of_one_lane(const std::vector<Dealt>& values) {
  std::optional<int> lane;
  for (const Dealt& value : values) {
    const std::optional<int> own = lane_of(value);
    if (is_sum(value) || (own && lane && *own != *lane)) return false;
    if (own) lane = own;
  }
  return true;
}

}  // namespace

NodeId RowDealer::scalar(Op op, std::vector<NodeId> operands) {
  Node node;
  node.kind = NodeKind::Scalar;
  node.op = op;
  node.operands = std::move(operands);
  return made_.keep(node);
}

// What is done to values of one lane, or of all. Nodes of two rows are alike whatever the order of what
// commutes.
Dealt RowDealer::like(Node node, const std::vector<Dealt>& operands) {
  std::optional<int> lane;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    node.operands[i] = node_of(operands[i]);
    if (const std::optional<int> own = lane_of(operands[i])) lane = own;
  }
  const bool commutes = node.kind == NodeKind::Scalar && (node.op == Op::Add || node.op == Op::Mul);
  if (commutes) std::ranges::sort(node.operands);
  const NodeId id = made_.keep(node);
  return lane ? Dealt(OfLane{*lane, id}) : Dealt(Alike{id});
}

std::optional<Dealt> RowDealer::deal(NodeId id) {
  Node node = from_.at(id);
  const bool gradient = node.kind == NodeKind::Gradient;
  if (node.kind == NodeKind::Leaf || gradient) {
    const step::TensorId tensor = gradient ? node.gradient.tensor : node.tensor;
    int& row = gradient ? node.gradient.row : node.row;
    if (!dealt_[at(tensor)]) return Alike{made_.keep(node)};
    const int lane = row / each(tensor);
    row %= each(tensor);
    return OfLane{lane, made_.keep(node)};
  }
  if (step::is_product(node) && products_ == Products::None) return std::nullopt;
  std::vector<Dealt> operands;
  for (const NodeId operand : node.operands) operands.push_back(*values_[at(operand)]);
  if (of_one_lane(operands)) return like(node, operands);
  if (OverRows sum; add_parts(sum, node, 1)) {
    // Made here where several read it; else it may go on in another sum.
    if (uses_[at(id)] < 2) return sum;
    const std::optional<Dealt> whole = settled(sum);
    return whole ? *whole : Dealt(sum);
  }
  for (Dealt& operand : operands) {
    const std::optional<Dealt> whole = settled(operand);
    if (!whole) return std::nullopt;
    operand = *whole;
  }
  if (!of_one_lane(operands)) return std::nullopt;
  return like(node, operands);
}

// Adds a node of from_. The sum over the first rows is that of one lane: what nobody else reads is taken
// apart, so that every lane has the same summands.
void RowDealer::add(OverRows& sum, NodeId id, int sign) {
  const Dealt& value = *values_[at(id)];
  const bool apart = lane_of(value) && uses_[at(id)] == 1;
  if (!apart || !add_parts(sum, from_.at(id), sign)) add(sum, value, sign);
}

// Adds what a sum or a difference is made of; false where the node is none.
bool RowDealer::add_parts(OverRows& sum, const Node& node, int sign) {
  if (node.kind != NodeKind::Scalar) return false;
  switch (node.op) {
    case Op::Add: add(sum, node.operands[0], sign), add(sum, node.operands[1], sign); return true;
    case Op::Sub: add(sum, node.operands[0], sign), add(sum, node.operands[1], -sign); return true;
    case Op::Neg: add(sum, node.operands[0], -sign); return true;
    case Op::Fma: {
      const std::vector<Dealt> factors{*values_[at(node.operands[0])], *values_[at(node.operands[1])]};
      if (!of_one_lane(factors)) return false;
      Node product;
      product.kind = NodeKind::Scalar;
      product.op = Op::Mul;
      product.operands.resize(2);
      add(sum, like(product, factors), sign), add(sum, node.operands[2], sign);
      return true;
    }
    default: return false;
  }
}

void RowDealer::add_alike(OverRows& sum, NodeId term, int sign) {
  if (term == step::kNoNode) return;
  if (sum.alike == step::kNoNode)
    sum.alike = sign > 0 ? term : scalar(Op::Neg, {term});
  else
    sum.alike = scalar(sign > 0 ? Op::Add : Op::Sub, {sum.alike, term});
}

void RowDealer::add(OverRows& sum, const Dealt& term, int sign) {
  const auto times = [&](NodeId id) -> std::vector<int>& {
    std::vector<int>& by_lane = sum.summands[id];
    by_lane.resize(at(lanes_), 0);
    return by_lane;
  };
  if (const auto* all = std::get_if<Alike>(&term)) return add_alike(sum, all->id, sign);
  if (const auto* own = std::get_if<OfLane>(&term)) {
    times(own->id)[at(own->lane)] += sign;
    return;
  }
  const auto& other = std::get<OverRows>(term);
  add_alike(sum, other.alike, sign);
  for (const auto& [id, by_lane] : other.summands)
    for (std::size_t lane = 0; lane < by_lane.size(); ++lane) times(id)[lane] += sign * by_lane[lane];
}

// What a lane's rows add to a sum, or take away from it if `sign` is -1.
NodeId RowDealer::own_share(const OverRows& sum, int sign) {
  std::vector<NodeId> chains;
  std::size_t terms = 0;
  for (const auto& [id, by_lane] : sum.summands) {
    const int times = sign * by_lane.front();
    if (times == 0) continue;
    NodeId term = id;
    if (times != 1 && times != -1) {
      Node factor;
      factor.value = std::abs(times);
      term = scalar(Op::Mul, {id, made_.keep(factor)});
    }
    if (terms++ % kTermsInChain == 0)
      chains.push_back(times > 0 ? term : scalar(Op::Neg, {term}));
    else
      chains.back() = scalar(times > 0 ? Op::Add : Op::Sub, {chains.back(), term});
  }
  while (chains.size() > 1) {
    std::vector<NodeId> half;
    for (std::size_t i = 0; i + 1 < chains.size(); i += 2)
      half.push_back(scalar(Op::Add, {chains[i], chains[i + 1]}));
    if (chains.size() % 2 == 1) half.push_back(chains.back());
    chains = std::move(half);
  }
  return chains.empty() ? step::kNoNode : chains.front();
}

// The value with its sum made, which all lanes have; nothing where that is not over all rows alike.
std::optional<Dealt> RowDealer::settled(const Dealt& value) {
  const auto* sum = std::get_if<OverRows>(&value);
  if (sum == nullptr) return value;
  int sign = 0;  // of the first summand
  for (const auto& [id, by_lane] : sum->summands) {
    if (std::ranges::any_of(by_lane, [&, first = by_lane.front()](int times) { return times != first; }))
      return std::nullopt;
    if (sign == 0) sign = by_lane.front() < 0 ? -1 : by_lane.front() > 0 ? 1 : 0;
  }
  const NodeId share = own_share(*sum, sign);
  if (share == step::kNoNode && sum->alike != step::kNoNode) return Alike{sum->alike};
  if (share == step::kNoNode) return Alike{made_.keep(Node{})};
  Node over_lanes;
  over_lanes.kind = NodeKind::SumRows;
  over_lanes.operands = {share};
  const NodeId total = made_.keep(over_lanes);
  if (sum->alike != step::kNoNode) return Alike{scalar(sign > 0 ? Op::Add : Op::Sub, {sum->alike, total})};
  return Alike{sign > 0 ? total : scalar(Op::Neg, {total})};
}

// The value that a lane gives a row: that of a row that is dealt is the row's lane's, or of all lanes.
std::optional<NodeId> RowDealer::result(const Row& row) {
  const std::optional<Dealt> value = settled(*values_[at(row.value)]);
  if (!value) return std::nullopt;
  const std::optional<int> lane = lane_of(*value);
  if (lane && (!dealt_[at(row.tensor)] || row.row / each(row.tensor) != *lane)) return std::nullopt;
  return node_of(*value);
}

std::optional<std::vector<Row>> RowDealer::run(const std::vector<Row>& rows) {
  std::vector<NodeId> roots;
  for (const Row& row : rows) roots.push_back(row.value);
  const std::vector<NodeId> order = reachable(from_, roots);
  uses_.assign(from_.nodes.size(), 0);
  for (const NodeId root : roots) ++uses_[at(root)];
  for (const NodeId id : order)
    for (const NodeId operand : from_.at(id).operands) ++uses_[at(operand)];
  for (const NodeId id : order)
    if (!(values_[at(id)] = deal(id))) return std::nullopt;
  std::vector<Row> own;
  std::map<std::pair<step::TensorId, int>, NodeId> known;
  for (Row row : rows) {
    const std::optional<NodeId> value = result(row);
    if (!value) return std::nullopt;
    if (dealt_[at(row.tensor)]) row.row %= each(row.tensor);
    const auto [known_row, is_new] = known.emplace(std::pair{row.tensor, row.row}, *value);
    if (known_row->second != *value) return std::nullopt;
    row.value = *value;
    if (is_new) own.push_back(row);
  }
  return own;
}

}  // namespace rondo::schedule
