// Folding what does not change from step to step: the same values, in no more operations a step.
#include "compiler/schedule/rewrite/fold_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "compiler/backend/cuda/emit.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/step/simplify.h"
#include "compiler/support/index.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/point_plan.h"
#include "tests/step/random_cell.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

using step::Cell;
using step::Node;
using step::NodeId;
using step::NodeKind;

step::StepGraph forward_of(const Cell& cell) {
  Problem problem;
  problem.pass = Pass::Forward;
  return {cell.graph, forward_roots({cell, problem, {}})};
}
step::StepGraph backward_of(const Cell& cell) {
  const step::BackwardStep step = backward_needs(cell).step;
  return {step.graph, roots_of(step)};
}

// What a step is evaluated on: a number for every leaf, the same in both graphs.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : seed_(seed) {}

  double leaf(const Node& node) {
    const auto key = std::tuple(node.kind, node.tensor, node.row, node.const_index, node.gradient.of,
                                node.gradient.tensor, node.gradient.row);
    const auto [known, inserted] = values_.try_emplace(key, 0);
    if (inserted) {
      std::mt19937_64 random(seed_ + values_.size());
      known->second = std::uniform_real_distribution<>(0.1, 0.9)(random);
    }
    return known->second;
  }

 private:
  std::uint64_t seed_;
  std::map<std::tuple<NodeKind, int, int, int, step::GradientRef::Of, int, int>, double> values_;
};

// Roots' values for one channel. What couples channels is linear in its operand, and the same in both graphs.
std::vector<double> evaluate(const step::StepGraph& step, Numbers& numbers) {
  std::vector<double> values(step.graph.nodes.size(), 0);
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    std::vector<double> args;
    for (const NodeId operand : node.operands) args.push_back(values[at(operand)]);
    double& value = values[at(id)];
    if (node.kind == NodeKind::Constant)
      value = node.value;
    else if (node.kind == NodeKind::Scalar)
      value = scalar::evaluate(node.op, args);
    else
      value = numbers.leaf(node) * (args.empty() ? 1 : args[0]);
  }
  std::vector<double> results;
  for (const NodeId root : step.roots) results.push_back(root == step::kNoNode ? 0 : values[at(root)]);
  return results;
}

// Operations that each step makes: what parameters and constants alone decide is made before. A sign costs
// nothing.
int operations(const Cell& cell, const step::StepGraph& step) {
  int count = 0;
  std::vector<bool> fixed(step.graph.nodes.size(), false);
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    const bool leaf =
        node.operands.empty() && node.kind != NodeKind::Gradient &&
        (node.kind != NodeKind::Leaf || cell.tensors[at(node.tensor)].kind == step::TensorKind::Param);
    fixed[at(id)] = leaf || (node.kind == NodeKind::Scalar &&
                             std::all_of(node.operands.begin(), node.operands.end(),
                                         [&](NodeId operand) { return fixed[at(operand)]; }));
    if (fixed[at(id)] || node.kind != NodeKind::Scalar || node.op == scalar::Op::Neg) continue;
    const auto cost = scalar::info(node.op).fast;
    count += cost.alu + cost.special;
  }
  return count;
}

// Sums in another order, and sigmoid by tanh: some roundings of fp64, which a step may magnify by its
// derivatives.
constexpr double kRoundings = 1e-11;

void expect_same(const step::StepGraph& plain, const step::StepGraph& folded, std::uint64_t seed) {
  Numbers numbers(seed);
  const std::vector<double> want = evaluate(plain, numbers), have = evaluate(folded, numbers);
  ASSERT_EQ(want.size(), have.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(have[i], want[i], kRoundings * (1 + std::abs(want[i]))) << "root " << i;
}

TEST(FoldParameters, RandomCellsKeepTheirValues) {
  const auto count = static_cast<std::uint64_t>(step::testing::random_cell_count());
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const Cell cell = step::simplify(step::testing::random_cell_of_seed(seed));
    SCOPED_TRACE(step::testing::provenance(seed, cell));
    for (const step::StepGraph& plain : {forward_of(cell), backward_of(cell)}) {
      const step::StepGraph folded = fold_parameters(cell, plain);
      expect_same(plain, folded, seed);
      EXPECT_LE(operations(cell, folded), operations(cell, plain));
    }
    if (HasFailure()) return;
  }
}

class FoldedCells : public ::testing::TestWithParam<std::string> {};

TEST_P(FoldedCells, TakeFewerOperations) {
  const Cell cell = step::simplify(cell_named(GetParam()));
  const step::StepGraph plain = forward_of(cell), folded = fold_parameters(cell, plain);
  expect_same(plain, folded, 1);
  EXPECT_LT(operations(cell, folded), operations(cell, plain));
}
INSTANTIATE_TEST_SUITE_P(Cells, FoldedCells, ::testing::Values("hgrn", "sru", "rglru"),
                         [](const auto& c) { return c.param; });

TEST(FoldParameters, TheGateOfHgrnIsOneMultiplyAddOfItsTanh) {
  const Cell cell = step::simplify(cell_named("hgrn"));
  const step::StepGraph folded = fold_parameters(cell, forward_of(cell));
  const auto gate = std::find_if(folded.graph.nodes.begin(), folded.graph.nodes.end(),
                                 [](const Node& node) { return node.label == "f"; });
  ASSERT_NE(gate, folded.graph.nodes.end());
  EXPECT_EQ(gate->op, scalar::Op::Fma);
  EXPECT_EQ(folded.graph.at(gate->operands[1]).op, scalar::Op::Tanh);
}

// What GraphLowering makes of x (1 - y) where the step is rewritten for few instructions.
TEST(FoldParameters, AComplementIsPartOfItsProduct) {
  const Cell cell = step::simplify(cell_named("hgrn"));
  Problem problem;
  problem.sizes = {2, 64, 1, 64};
  for (const bool fewer : {false, true}) {
    Parameters parameters = stream_in_cluster_of_two(64, false);
    parameters["rewrite"] = fewer ? 2 : 0;
    const KernelPlan plan = schedule::point_plan(Stream(), cell, problem, parameters);
    const std::string text = backend::cuda::emit({&plan.launches.front().kernel});
    EXPECT_EQ(text.find("fmaf(-f") != std::string::npos, fewer);
    EXPECT_EQ(text.find("1.0f - f") == std::string::npos, fewer);
  }
}

// What the space offers it for, and the model reckons with.
TEST(FoldParameters, InstructionsTakenAwayAreCounted) {
  const auto folded = [](const char* name) {
    const Cell cell = step::simplify(cell_named(name));
    return instructions_folded({cell, {}, {}}, "forward", [&] { return forward_of(cell); });
  };
  EXPECT_EQ(folded("hgrn"), 3);    // product and sum of the gate with its parameter; 1 - f
  EXPECT_EQ(folded("mingru"), 1);  // 1 - z
  EXPECT_EQ(folded("affine"), 0);
}

}  // namespace
}  // namespace rondo::schedule
