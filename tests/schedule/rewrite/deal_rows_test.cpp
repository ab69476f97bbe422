// Rows dealt to lanes: what the lanes compute together is what the unrolled step computes, and a step that
// mixes rows otherwise than by sums stays with one thread.
#include "compiler/schedule/rewrite/deal_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "compiler/step/forms.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/rows_cells.h"

namespace rondo::schedule {
namespace {

Task dealt_task(const step::Cell& cell, Pass pass) {
  Problem problem;
  problem.pass = pass;
  return {cell, problem, {}};
}

// A number for every leaf, whichever graph reads it.
class LeafNumbers {
 public:
  double at(const Node& leaf, int row) {
    const bool gradient = leaf.kind == NodeKind::Gradient;
    const auto key =
        std::tuple(leaf.kind, gradient ? leaf.gradient.tensor : leaf.tensor, row, leaf.const_index,
                   gradient ? leaf.gradient.of : step::GradientRef::Of::Output);
    const auto [known, is_new] = values_.try_emplace(key, 0);
    if (is_new) known->second = std::uniform_real_distribution<>(0.1, 0.9)(random_);
    return known->second;
  }

 private:
  std::mt19937_64 random_{11};
  std::map<std::tuple<NodeKind, int, int, int, step::GradientRef::Of>, double> values_;
};

// What all lanes have of each root. Sums over the channels are left as they are: here there is one channel.
std::vector<std::vector<double>> of_lanes(const step::StepGraph& step, const Task& whole,
                                          const std::vector<bool>& dealt, int lanes, LeafNumbers& numbers) {
  std::vector<std::vector<double>> values(step.graph.nodes.size(), std::vector<double>(at(lanes), 0));
  const auto row_of = [&](step::TensorId tensor, int row, int lane) {
    return dealt[at(tensor)] ? lane * whole.cell.tensor(tensor).rows / lanes + row : row;
  };
  for (const NodeId id : reachable(step.graph, step.roots)) {
    const Node& node = step.graph.at(id);
    double sum = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      std::vector<double> args;
      for (const NodeId operand : node.operands) args.push_back(values[at(operand)][at(lane)]);
      double& value = values[at(id)][at(lane)];
      switch (node.kind) {
        case NodeKind::Constant: value = node.value; break;
        case NodeKind::Scalar: value = scalar::evaluate(node.op, args); break;
        case NodeKind::SumRows: sum += args[0]; break;
        case NodeKind::ReduceSum: value = args[0]; break;
        case NodeKind::Leaf: value = numbers.at(node, row_of(node.tensor, node.row, lane)); break;
        case NodeKind::Gradient:
          value = numbers.at(node, row_of(node.gradient.tensor, node.gradient.row, lane));
          break;
        default: value = numbers.at(node, 0);
      }
    }
    if (node.kind == NodeKind::SumRows) values[at(id)].assign(at(lanes), sum);
  }
  std::vector<std::vector<double>> results;
  for (const NodeId root : step.roots) results.push_back(values[at(root)]);
  return results;
}

std::vector<step::Row> rows_of(const DealtPass& pass, Pass kind) {
  std::vector<step::Row> rows;
  const auto add = [&](const std::vector<step::Row>& some) {
    rows.insert(rows.end(), some.begin(), some.end());
  };
  if (kind != Pass::Backward) {
    add(pass.task.cell.next), add(pass.task.cell.outputs);
  } else {
    add(pass.needs.step.previous_states), add(pass.needs.step.inputs), add(pass.needs.step.params);
  }
  return rows;
}

// Every lane has the rows that it is dealt, and what is not dealt as the others have it.
void expect_dealt(const step::Cell& cell, Pass kind, int lanes) {
  const Task task = dealt_task(cell, kind);
  const auto dealt = dealt_pass(task, lanes), whole = dealt_pass(task, 1);
  ASSERT_TRUE(*dealt) << cell.name << " to " << lanes;
  const DealtPass& own = **dealt;
  EXPECT_EQ(step::verify(own.task.cell, own.step), std::vector<std::string>{});
  EXPECT_EQ(step::verify(own.task.cell), std::vector<std::string>{});
  LeafNumbers numbers;
  const auto want = of_lanes((*whole)->step, task, (*whole)->dealt, 1, numbers);
  const auto have = of_lanes(own.step, task, own.dealt, lanes, numbers);
  std::map<std::pair<step::TensorId, int>, double> by_row;
  const std::vector<step::Row> all = rows_of(**whole, kind), some = rows_of(own, kind);
  ASSERT_EQ(all.size(), want.size());
  ASSERT_EQ(some.size(), have.size());
  for (std::size_t i = 0; i < all.size(); ++i) by_row[{all[i].tensor, all[i].row}] = want[i].front();
  for (std::size_t i = 0; i < some.size(); ++i)
    for (int lane = 0; lane < lanes; ++lane) {
      const step::TensorId id = some[i].tensor;
      const int each = task.cell.tensor(id).rows / lanes;
      const double value = by_row.at({id, own.dealt[at(id)] ? lane * each + some[i].row : some[i].row});
      EXPECT_NEAR(have[i][at(lane)], value, 1e-12 * (1 + std::abs(value)))
          << cell.name << " " << pass_name(kind) << " to " << lanes << ": " << task.cell.tensor(id).name;
    }
}

int sums_over_rows(const step::StepGraph& step) {
  return static_cast<int>(std::ranges::count_if(reachable(step.graph, step.roots), [&](NodeId id) {
    return step.graph.at(id).kind == NodeKind::SumRows;
  }));
}

TEST(DealRows, TheDeltaRule) {
  for (const Pass kind : {Pass::Forward, Pass::Backward})
    for (const int lanes : {2, 4, 8, 16}) expect_dealt(delta_rule(16), kind, lanes);
}

// A sum over rows is one exchange: what is read and what is written out, and in the backward pass what is
// read again, gradients of the value and of the decay.
TEST(DealRows, ADeltaRuleHasFewExchanges) {
  const step::Cell cell = delta_rule(64);
  EXPECT_EQ(sums_over_rows((*dealt_pass(dealt_task(cell, Pass::Forward), 8))->step), 2);
  EXPECT_EQ(sums_over_rows((*dealt_pass(dealt_task(cell, Pass::Backward), 8))->step), 3);
}

// A lane has its part of the operations.
TEST(DealRows, TheStepShrinks) {
  const step::Cell cell = delta_rule(64);
  for (const Pass kind : {Pass::Forward, Pass::Backward}) {
    const auto size = [&](int lanes) {
      const step::StepGraph step = (*dealt_pass(dealt_task(cell, kind), lanes))->step;
      return static_cast<double>(reachable(step.graph, step.roots).size());
    };
    EXPECT_LT(size(8), size(1) / 8 + 24);
    EXPECT_LT(size(16), size(1) / 16 + 24);
  }
}

// Normalisers, stabilisers, gates of rows, parameters, means, states without rows, outputs of rows.
TEST(DealRows, OtherStates) {
  const char* texts[] = {
      "cell rwkv(D) {\n input r[8], w[8], k[8], a[8], b[8], v[D]\n state S[8, D]\n"
      " next S = w * S + b * dot(a, S) + k * v\n output o = dot(r, next S)\n}\n",
      "cell pairs(D) {\n input x[8, 2, D]\n state S[8, 2, D]\n next S = 0.5 * tanh(S) + x\n"
      " total = sum(next S, rows)\n output o = total[0] - 3 * total[1]\n}\n"};
  for (const char* text : texts)
    for (const Pass kind : {Pass::Forward, Pass::Backward})
      for (const int lanes : {2, 8}) expect_dealt(cell_of_text(text), kind, lanes);
  for (const step::Cell& cell : {stabilised_memory(8), rows_with_parameters(16)})
    for (const Pass kind : {Pass::Forward, Pass::Backward})
      for (const int lanes : {2, 8}) expect_dealt(cell, kind, lanes);
}

TEST(DealRows, FormsOfTheSequence) {
  for (const step::Forms& forms : {step::Forms{true, true, false}, {true, true, true, true}})
    for (const Pass kind : {Pass::Forward, Pass::Backward})
      expect_dealt(step::with_forms(delta_rule(8), forms).value(), kind, 4);
}

// Rows that follow each other, a row by itself, products and maxima over rows, and numbers that differ from
// row to row.
TEST(DealRows, WhatMixesRowsIsNotDealt) {
  const char* steps[] = {"next S = [S[1], S[2], S[3], S[4], S[5], S[6], S[7], S[0]] + x",
                         "next S = S * S[3] + x",
                         "p = S[0] * S[1]\n next S = 0.5 * S + p + x",
                         "p = max(S[0], S[1])\n next S = 0.5 * S + p + x",
                         "w = [1, 2, 3, 4, 5, 6, 7, 8]\n next S = 0.5 * S * w + x",
                         "p = S[0] + S[1] + S[2] + S[3] + S[4] + S[5] + S[6]\n next S = 0.5 * S + p + x"};
  for (const char* step : steps) {
    const step::Cell cell = cell_of_text(std::string("cell mixed(D) {\n input x[D]\n state S[8, D]\n ") +
                                         step + "\n output o = sum(next S, rows)\n}\n");
    for (const Pass kind : {Pass::Forward, Pass::Backward}) {
      EXPECT_FALSE(*dealt_pass(dealt_task(cell, kind), 2)) << step;
      EXPECT_TRUE(*dealt_pass(dealt_task(cell, kind), 1)) << step;
    }
  }
}

TEST(DealRows, RowsThatLanesDoNotDivideOrThatAreFew) {
  EXPECT_FALSE(*dealt_pass(dealt_task(delta_rule(12), Pass::Forward), 8));
  EXPECT_TRUE(*dealt_pass(dealt_task(delta_rule(12), Pass::Forward), 4));
  EXPECT_FALSE(*dealt_pass(dealt_task(delta_rule(4), Pass::Forward), 2));
}

// No shipped cell without a matrix state is dealt.
TEST(DealRows, OneThreadHasFewRows) {
  for (const char* name : {"lru", "mingru", "paralstm", "lstm"})
    EXPECT_FALSE(*dealt_pass(dealt_task(cell_named(name), Pass::Forward), 2)) << name;
}

}  // namespace
}  // namespace rondo::schedule
