// What stands between a product with a matrix and the function of it.
#include "compiler/schedule/rewrite/shorten_chain.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/schedule/analysis/history.h"
#include "tests/schedule/cell_files.h"

namespace rondo::schedule {
namespace {

using step::Node;
using step::NodeId;
using step::NodeKind;

// Operations that follow one another from a product to a function of it, at most.
int operations_after_products(const step::StepGraph& step) {
  int most = 0;
  std::vector<int> after(step.graph.nodes.size(), -1);  // of a product; -1: of none, or behind a function
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    const auto at = static_cast<std::size_t>(id);
    if (node.kind == NodeKind::MatVec) after[at] = 0;
    if (node.kind != NodeKind::Scalar) continue;
    int latest = -1;
    for (const NodeId operand : node.operands)
      latest = std::max(latest, after[static_cast<std::size_t>(operand)]);
    if (latest < 0) continue;
    if (scalar::info(node.op).fast.special > 0)
      most = std::max(most, latest);
    else
      after[at] = latest + 1;
  }
  return most;
}

class AfterProducts : public ::testing::TestWithParam<std::string> {};

TEST_P(AfterProducts, OneOperationIsLeftBeforeTheFunction) {
  const step::Cell cell = cell_named(GetParam());
  Problem problem;
  problem.sizes = {1, 1, 1, 8};
  problem.pass = Pass::Forward;
  const step::StepGraph plain{cell.graph, forward_roots({cell, problem, {}})};
  EXPECT_GE(operations_after_products(plain), 2);
  EXPECT_EQ(operations_after_products(shorten_chain({cell, problem, {}}, plain)), 1);
}

INSTANTIATE_TEST_SUITE_P(Cells, AfterProducts, ::testing::Values("elman", "lstm", "janet"),
                         [](const auto& c) { return c.param; });

}  // namespace
}  // namespace rondo::schedule
