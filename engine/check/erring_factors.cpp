#include "engine/check/erring_factors.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "compiler/step/extents.h"
#include "engine/check/plain.h"
#include "engine/check/spread.h"

namespace rondo::engine {

using scalar::Op;
using step::NodeId;
using step::NodeKind;

namespace {

class Rebuilt {
 public:
  Rebuilt(const schedule::Task& task)
      : made_(task.written),
        unit_(rounding_inside(task)),
        products_(task.problem.pass == schedule::Pass::Backward) {
    step::Tensor seed;
    seed.kind = step::TensorKind::Param;
    seed.name = "seed_of_errors";
    while (task.written.find(seed.name)) seed.name += "_";
    seed.tail = step::Tail::Scalar;
    seed.lead = {2};
    seed.rows = 2;
    made_.tensors.push_back(seed);
  }

  step::Cell run(const step::Cell& cell) {
    made_.graph = {};
    begin();
    for (const step::Node& node : cell.graph.nodes) moved_.push_back(move(node));
    for (std::vector<step::Row>* rows : {&made_.next, &made_.outputs})
      for (step::Row& row : *rows) row.value = instead_of(row.value);
    return std::move(made_);
  }

 private:
  step::Graph& graph() { return made_.graph; }
  NodeId instead_of(NodeId id) const { return moved_[static_cast<std::size_t>(id)]; }

  void begin() {
    const auto tensor = static_cast<step::TensorId>(made_.tensors.size()) - 1;
    seed_ = graph().leaf(tensor, 0, step::Extent::Scalar);
    // Chosen and not multiplied, so that no gradient flows to it.
    const NodeId size = graph().leaf(tensor, 1, step::Extent::Scalar);
    const auto is = [&](double value) { return graph().scalar(Op::Equal, {size, graph().constant(value)}); };
    rounds_ = is(0);
    half_ = graph().constant(unit_);
    for (const double times : {-1.0, kFar, -kFar})
      half_ = graph().scalar(Op::Select, {is(times), graph().constant(times * unit_), half_});
  }

  NodeId move(step::Node node) {
    for (NodeId& operand : node.operands) operand = instead_of(operand);
    // An input with an extent of its own is multiplied as it is stored, and the product is stored.
    const bool beside = step::is_product(node) && node.tensor >= 0 &&
                        step::multiplies_beside_walk(made_, made_.tensor(node.tensor));
    const bool multiplies = step::is_product(node) && !beside;
    if (multiplies) node.operands[0] = erring(node.operands[0]);
    const NodeId own = graph().add(std::move(node));
    return beside || (multiplies && products_) ? erring(own) : own;
  }

  // One error for a vector, whatever multiplies it.
  NodeId erring(NodeId vector) {
    const auto [known, fresh] = erring_.try_emplace(vector, step::kNoNode);
    if (!fresh) return known->second;
    const NodeId draw = graph().uniform(fmt::format("error of {}", vector), seed_);
    const NodeId sign = graph().scalar(Op::Fma, {graph().constant(2), draw, graph().constant(-1)});
    const NodeId factor = graph().scalar(Op::Fma, {sign, half_, graph().constant(1)});
    const NodeId off = graph().scalar(Op::Mul, {vector, factor});
    return erring_[vector] = graph().scalar(Op::Select, {rounds_, rounded(vector), off});
  }

  // To the type of which unit_ is half the distance between 1 and the next number: c - (c - v) with c = (2^s
  // + 1) v, which leaves all but the lowest s of 24 bits (Dekker, 1971). The bound, below any number, keeps a
  // compiler from computing c - v of the product in one step.
  NodeId rounded(NodeId vector) {
    const NodeId product = graph().scalar(Op::Mul, {vector, graph().constant(0x1p24 * unit_ + 1)});
    const NodeId c = graph().scalar(Op::Max, {product, graph().constant(-0x1p127)});
    return graph().scalar(Op::Sub, {c, graph().scalar(Op::Sub, {c, vector})});
  }

  step::Cell made_;
  double unit_;
  bool products_;
  NodeId seed_ = step::kNoNode, half_ = step::kNoNode;  // half of the range of errors
  NodeId rounds_ = step::kNoNode;                       // whether a run rounds in place of erring
  std::vector<NodeId> moved_;                           // by node of the cell
  std::map<NodeId, NodeId> erring_;
};

}  // namespace

std::optional<step::Cell> with_erring_factors(const schedule::Task& task) {
  if (!scalar::is_half(task.problem.storage) && task.problem.math != kernel::Math::Tf32) return {};
  if (!task.structure.has_matrix) return {};
  return Rebuilt(task).run(task.written);
}

}  // namespace rondo::engine
