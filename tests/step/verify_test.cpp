#include "compiler/step/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/step/cell_builder.h"

namespace rondo::step::testing {
namespace {

// The first node of a kind (and reading a tensor): where nodes are does not matter here.
Node& first(Cell& cell, NodeKind kind, TensorId tensor = -1) {
  for (Node& node : cell.graph.nodes)
    if (node.kind == kind && (tensor < 0 || node.tensor == tensor)) return node;
  ADD_FAILURE() << "no such node";
  return cell.graph.nodes.front();
}

TEST(Verify, AcceptsTheLibrary) {
  for (const Cell& cell : {mingru(), lstm(), diagonal_gru(), normalised()}) {
    EXPECT_TRUE(verify(cell).empty()) << cell.name << ": " << verify(cell).front();
    EXPECT_TRUE(verify(cell, backward_step(cell)).empty()) << cell.name;
  }
}

TEST(Verify, FindsEveryPlantedDefect) {
  const std::vector<std::pair<const char*, std::function<void(Cell&)>>> defects{
      {"does not come before it", [](Cell& c) { first(c, NodeKind::Scalar).operands[0] = 1000; }},
      {"does not come before it", [](Cell& c) { first(c, NodeKind::Scalar).operands[0] = -1; }},
      {"has 1 operands, needs 2", [](Cell& c) { first(c, NodeKind::Scalar).operands.resize(1); }},
      {"row 9 of x, which has 4 rows", [](Cell& c) { first(c, NodeKind::Leaf, 0).row = 9; }},
      {"names tensor 77", [](Cell& c) { first(c, NodeKind::Leaf).tensor = 77; }},
      {"which is no matrix parameter", [](Cell& c) { first(c, NodeKind::MatVec).tensor = 0; }},
      {"wrong extent", [](Cell& c) { first(c, NodeKind::MatVec).extent = Extent::Scalar; }},
      {"reads the matrix R as a vector", [](Cell& c) { first(c, NodeKind::Leaf).tensor = 1; }},
      {"reads the output h", [](Cell& c) { first(c, NodeKind::Leaf, 3).tensor = 5; }},
      {"outside a backward step", [](Cell& c) { c.graph.gradient({}, Extent::Vector); }},
      {"names constant 3", [](Cell& c) { c.graph.named_constant(3); }},
      {"the next value of c[0] is missing", [](Cell& c) { c.next.pop_back(); }},
      {"the next value of h[0] is missing or out of order", [](Cell& c) { std::swap(c.next[0], c.next[1]); }},
      {"which does not exist", [](Cell& c) { c.next[0].value = kNoNode; }},
      {"2 rows, the tensors have 1", [](Cell& c) { c.outputs.push_back(c.outputs[0]); }},
      {"its leading extents give 4",
       [](Cell& c) {
         c.tensors[0].rows = 3;
         c.graph.nodes.clear();
       }},
      {"extents below 1",
       [](Cell& c) {
         c.tensors[0].lead = {-2, -2};
         c.tensors[0].rows = 4;
       }},
      {"more than 256 rows",
       [](Cell& c) {
         c.tensors[0].lead = {1 << 30, 1 << 30, 1 << 30};
         c.tensors[0].rows = 0;
       }},
      {"more than 256 rows", [](Cell& c) { c.tensors[0].lead = {c.tensors[0].rows = 1 << 30}; }},
      {"declared twice", [](Cell& c) { c.tensors[0].name = c.tensors[2].name; }},
      {"a matrix but no parameter", [](Cell& c) { c.tensors[0].tail = Tail::Matrix; }},
      {"is a vector, the tensor is a scalar", [](Cell& c) { c.tensors[5].tail = Tail::Scalar; }},
  };
  for (const auto& [message, plant] : defects) {
    Cell cell = lstm();
    plant(cell);
    std::string all;
    for (const std::string& defect : verify(cell)) all += defect + "\n";
    EXPECT_NE(all.find(message), std::string::npos) << "wanted: " << message << "\ngot: " << all;
  }
}

TEST(Verify, BackwardStepMustKeepTheForwardGraph) {
  const Cell cell = lstm();
  BackwardStep step = backward_step(cell);
  for (Node& node : step.graph.nodes)
    if (node.op == scalar::Op::Tanh) node.op = scalar::Op::Sin;
  EXPECT_FALSE(verify(cell, step).empty());
  step = backward_step(cell);
  step.inputs.pop_back();
  EXPECT_FALSE(verify(cell, step).empty());
  step = backward_step(cell);
  step.matrices[0].row = 4;
  EXPECT_FALSE(verify(cell, step).empty());
}

}  // namespace
}  // namespace rondo::step::testing
