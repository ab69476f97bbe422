// The rewriting of steps that reduce: the same values, in fewer exchanges, without cancellation.
#include "compiler/schedule/rewrite/fewer_exchanges.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/schedule/analysis/step_order.h"
#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/schedule/stream/resources.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/schedule/sweep/sweep.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/cell_files.h"
#include "tests/step/random_cell.h"

namespace rondo::schedule {
namespace {

step::Cell cell_from(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "test.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "test.cell");
  return step::simplify(parsed.cells.at(0));
}

step::Cell simple_cell(const std::string& name) { return step::simplify(cell_named(name)); }

step::Cell cell_rewritten(const step::Cell& cell) {
  Problem problem;
  problem.pass = Pass::Forward;
  const step::StepGraph step = spread_sweep({cell, problem, {}}).step;
  step::Cell result = cell;
  result.graph = step.graph;
  for (std::size_t k = 0; k < cell.next.size(); ++k) result.next[k].value = step.roots[k];
  for (std::size_t k = 0; k < cell.outputs.size(); ++k)
    result.outputs[k].value = step.roots[cell.next.size() + k];
  EXPECT_EQ(step::verify(result), std::vector<std::string>{});
  return result;
}

// Reductions of each stage of a pass.
std::vector<int> stages_of(const step::Cell& cell, Pass pass) {
  Problem problem;
  problem.sizes = {1, 2, 1, 32};
  problem.pass = pass;
  const step::StepGraph step = spread_sweep({cell, problem, {}}).step;
  return reduction_words(step_order({cell, problem, {}}, step, product_groups(step.graph, step.roots), true));
}

template <class Real>
step::ForwardArguments<Real> drawn_arguments(const step::Cell& cell, const step::Sizes& sizes,
                                             double offset) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  step::ForwardArguments<Real> result;
  for (const step::Tensor& tensor : cell.tensors) {
    std::vector<Real> values(static_cast<std::size_t>(step::element_count(tensor, sizes)));
    const double shift = tensor.kind == step::TensorKind::Input ? offset : 0;
    for (Real& value : values) value = static_cast<Real>(static_cast<float>(shift + uniform(rng)));
    if (tensor.kind == step::TensorKind::Input) result.inputs[tensor.name] = values;
    if (tensor.kind == step::TensorKind::Param) result.params[tensor.name] = values;
    if (tensor.kind == step::TensorKind::State) result.initial_states[tensor.name] = values;
  }
  return result;
}

template <class Real>
std::vector<double> run_cell(const step::Cell& cell, double offset) {
  const step::Sizes sizes{2, 3, 1, 33};
  const auto result =
      step::run_forward(cell, sizes, drawn_arguments<Real>(cell, sizes, offset), step::RunOptions<Real>{1});
  EXPECT_TRUE(result) << result.error().message;
  const auto& output = result->outputs.begin()->second;
  return {output.begin(), output.end()};
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::abs(a[i] - b[i]));
  return result;
}

constexpr const char* kNormalised = R"(cell normal(D) {
  input x[D]
  state h[D]
  centred = x - mean(x)
  next h = 0.5 * h + centred * rsqrt(mean(square(centred)) + 1e-5)
  output h
})";

TEST(FewerExchanges, ValuesStayTheSame) {
  for (const step::Cell& cell :
       {simple_cell("lnlstm"), simple_cell("lngru"), simple_cell("rmslstm"), cell_from(kNormalised)}) {
    EXPECT_LT(worst_difference(run_cell<double>(cell, 0), run_cell<double>(cell_rewritten(cell), 0)), 1e-12)
        << cell.name;
    EXPECT_LT(worst_difference(run_cell<double>(cell, 3), run_cell<double>(cell_rewritten(cell), 3)), 1e-12)
        << cell.name;
  }
}

// Mean and variance of one vector, or of the rows of all gates, share an exchange.
TEST(FewerExchanges, MomentsAreOneStage) {
  EXPECT_EQ(stages_of(cell_from(kNormalised), Pass::Forward), (std::vector<int>{2}));
  EXPECT_EQ(stages_of(simple_cell("lnlstm"), Pass::Forward), (std::vector<int>{2, 2}));
  EXPECT_EQ(stages_of(simple_cell("lngru"), Pass::Forward), (std::vector<int>{2}));
  EXPECT_EQ(stages_of(simple_cell("rmslstm"), Pass::Forward), (std::vector<int>{1}));
}

// Backward each normalisation is one stage: moments of the forward step wait for no carry, and a launch
// before the sweep makes them.
TEST(FewerExchanges, AGradientOfANormalisationIsOneStage) {
  EXPECT_EQ(stages_of(simple_cell("lnlstm"), Pass::Backward).size(), 2u);
  EXPECT_EQ(stages_of(simple_cell("lngru"), Pass::Backward).size(), 1u);
  EXPECT_EQ(stages_of(simple_cell("rmslstm"), Pass::Backward).size(), 1u);
}

// What the sweep reads of them: sum and spread of each normalisation, and the sum of each centred vector.
TEST(FewerExchanges, WhatWaitsForNoCarryIsMadeBeforeTheSweep) {
  const auto head_values_of = [](const step::Cell& cell, Pass pass) {
    Problem problem;
    problem.pass = pass;
    return spread_sweep({cell, problem, {}}).head_values.size();
  };
  EXPECT_EQ(head_values_of(simple_cell("lnlstm"), Pass::Backward), 6u);
  EXPECT_EQ(head_values_of(simple_cell("lnlstm"), Pass::Forward), 0u);
  EXPECT_EQ(head_values_of(simple_cell("lstm"), Pass::Backward), 0u);
  // A sum of an output's gradient waits for no step before, that of a carried one does.
  const step::Cell centred = cell_from(R"(cell centred(D) {
    input x[D]
    param R[D, D]
    state h[D]
    next h = tanh(R @ h + x)
    output y = next h - mean(next h)
  })");
  EXPECT_EQ(head_values_of(centred, Pass::Backward), 1u);
  EXPECT_TRUE(stages_of(centred, Pass::Backward).empty());
}

// Sums of rows, and of rows that are scaled alike, are one sum.
TEST(FewerExchanges, SumsOfRowsAreOne) {
  const step::Cell cell = cell_from(R"(cell rows(D) {
    input x[3, D]
    state h[D]
    next h = 0.5 * h * x[1] + (mean(x[0]) + mean(x[1]) + mean(x[2])) / 3
    output h
  })");
  EXPECT_EQ(stages_of(cell, Pass::Forward), (std::vector<int>{1}));
  EXPECT_LT(worst_difference(run_cell<double>(cell, 0), run_cell<double>(cell_rewritten(cell), 0)), 1e-12);
}

// A maximum is no sum: what is subtracted before the exponential has to be known.
TEST(FewerExchanges, ASoftmaxHasTwoStages) {
  const step::Cell cell = cell_from(R"(cell softmax(D) {
    input x[D]
    state h[D]
    e = exp(x - max(x))
    next h = 0.5 * h + e / sum(e)
    output h
  })");
  EXPECT_EQ(stages_of(cell, Pass::Forward), (std::vector<int>{1, 1}));
  EXPECT_LT(worst_difference(run_cell<double>(cell, 0), run_cell<double>(cell_rewritten(cell), 0)), 1e-12);
}

// Numbers around 10,000 of which the difference matters: their squares differ in the ninth digit, which fp32
// has not.
TEST(FewerExchanges, NothingCancels) {
  const step::Cell cell = cell_from(kNormalised);
  const std::vector<double> exact = run_cell<double>(cell, 1e4);
  EXPECT_LT(worst_difference(run_cell<float>(cell_rewritten(cell), 1e4), exact),
            2 * worst_difference(run_cell<float>(cell, 1e4), exact) + 1e-5);
  EXPECT_LT(worst_difference(run_cell<float>(cell_rewritten(cell), 1e4), exact), 1e-2);
}

// Rows that are normalised together, whose sums a cell says one by one.
constexpr const char* kRows = R"(cell rows(D) {
  input x[2, D]
  state h[D]
  m = (mean(x[0]) + mean(x[1]) + mean(h)) / 3
  v = (mean(square(x[0] - m)) + mean(square(x[1] - m)) + mean(square(h - m))) / 3
  next h = 0.5 * h + (x[0] - m) * rsqrt(v + 0.1)
  output h
})";

StepStages stages_of_launches(const step::Cell& cell, Pass pass, Spreads spreads) {
  Problem problem;
  problem.sizes = {1, 2, 1, 32};
  problem.pass = pass;
  const BackwardSplit split = backward_split({cell, problem, {}});
  const Sweep sweep = pass == Pass::Backward
                          ? backward_sweep({cell, problem, {}}, split,
                                           spread_sweep({cell, problem, {}}, split, Steps::OfLaunches))
                          : forward_sweep({cell, problem, {}});
  return step_stages(cell, sweep.step.graph, sweep.step.roots, spreads);
}

HeadReductions reductions_in_a_block(const step::Cell& cell, Pass pass) {
  Problem problem;
  problem.pass = pass;
  return head_reductions({cell, problem, {}}, stream_step({cell, problem, {}}));
}

// One sum of all rows and one spread, for launches, for blocks of whole heads and for walks over one: the
// last know the mean before the squares, which takes a walk and no exchange.
TEST(FewerExchanges, EveryStrategyHasAllRewritings) {
  const step::Cell rows = cell_from(kRows);
  EXPECT_EQ(stages_of(rows, Pass::Forward), (std::vector<int>{2}));
  const StepStages launches = stages_of_launches(rows, Pass::Forward, Spreads::WithTheirSum);
  EXPECT_EQ(launches.reductions.size(), 2u);
  EXPECT_EQ(launches.stages.size(), 2u);
  const StepStages walks = stages_of_launches(rows, Pass::Forward, Spreads::AfterTheirSum);
  EXPECT_EQ(walks.reductions.size(), 2u);
  EXPECT_EQ(walks.stages.size(), 3u);
  const HeadReductions block = reductions_in_a_block(rows, Pass::Forward);
  EXPECT_EQ(block.levels, 1);
  ASSERT_EQ(block.reductions.size(), 1u);
  EXPECT_EQ(block.reductions.front().operands.size(), 3u);
}

// The gradient of a normalisation is one exchange behind the moments that are made again.
TEST(FewerExchanges, GradientsOfNormalisationsAreAlikeInEveryStrategy) {
  EXPECT_EQ(reductions_in_a_block(cell_from(kNormalised), Pass::Backward).levels, 2);
  EXPECT_EQ(reductions_in_a_block(cell_from(kRows), Pass::Backward).levels, 2);
  EXPECT_EQ(stages_of_launches(cell_from(kRows), Pass::Backward, Spreads::WithTheirSum).stages.size(), 2u);
  EXPECT_EQ(
      stages_of_launches(simple_cell("lnlstm"), Pass::Backward, Spreads::WithTheirSum).reductions.size(), 4u);
}

// A variance whose mean nobody else reads still has the sum that its parts need.
TEST(FewerExchanges, AVarianceAlone) {
  const step::Cell cell = cell_from(R"(cell variance(D) {
    input x[D]
    state h[D]
    next h = 0.5 * h + x * mean(square(x - mean(x)))
    output h
  })");
  EXPECT_EQ(stages_of(cell, Pass::Forward), (std::vector<int>{2}));
  EXPECT_LT(worst_difference(run_cell<double>(cell, 3), run_cell<double>(cell_rewritten(cell), 3)), 1e-12);
}

// Squares about another number than the mean; what that is off is added.
TEST(FewerExchanges, SquaresAboutAnyNumber) {
  const step::Cell cell = cell_from(R"(cell about(D) {
    input x[2, D]
    state h[D]
    next h = 0.5 * h + x[0] * rsqrt(mean(square(x[0] - mean(x[1]))) + 0.1)
    output h
  })");
  EXPECT_EQ(stages_of(cell, Pass::Forward), (std::vector<int>{3}));
  EXPECT_LT(worst_difference(run_cell<double>(cell, 3), run_cell<double>(cell_rewritten(cell), 3)), 1e-12);
}

// The gradient of a per-head value is a share of each channel where that saves a sum, also behind a
// condition; where a state's gradient needs the sum as well, it is a part of the value.
TEST(FewerExchanges, GradientsOfHeadValuesAreShares) {
  const step::Cell alone = cell_from(R"(cell alone(D) {
    input x[D]
    param s
    state h[D]
    next h = tanh(s * h + x) - mean(x)
    output h
  })");
  EXPECT_EQ(reductions_in_a_block(alone, Pass::Backward).reductions.size(), 1u);
  const step::Cell chosen = cell_from(R"(cell chosen(D) {
    input x[D]
    param s
    state h[D]
    next h = tanh(select(max(x) > 0, s, 1) * h + x) - mean(x)
    output h
  })");
  EXPECT_EQ(stages_of_launches(chosen, Pass::Backward, Spreads::WithTheirSum).reductions.size(),
            stages_of_launches(cell_from(R"(cell fixed(D) {
    input x[D]
    param s
    state h[D]
    next h = tanh(select(max(x) > 0, 2, 1) * h + s + x) - mean(x)
    output h
  })"),
                               Pass::Backward, Spreads::WithTheirSum)
                .reductions.size());
}

// Exchanges before the last of the roots, in order.
Depth last_of(const step::StepGraph& step, ExchangeOrder order) {
  const std::vector<Depth> depths = exchange_depths(step.graph, order);
  Depth last;
  for (const step::NodeId root : step.roots)
    if (root != step::kNoNode) last = std::max(last, depths[static_cast<std::size_t>(root)]);
  return last;
}

TEST(FewerExchanges, RandomStepsNeverNeedMore) {
  int fewer = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    step::testing::Random random(seed);
    const step::Cell cell = step::simplify(step::testing::random_cell(random, {seed % 2 == 0, true, false}));
    for (const Pass pass : {Pass::Forward, Pass::Backward})
      for (const ExchangeOrder order : {ExchangeOrder::Levels, ExchangeOrder::Chain}) {
        Problem problem;
        problem.pass = pass;
        const step::StepGraph before = sweep_graph({cell, problem, {}});
        const step::StepGraph after = fewer_exchanges({cell, {}, {}}, before, {}, order).step;
        ASSERT_LE(last_of(after, order), last_of(before, order)) << step::testing::provenance(seed, cell);
        fewer += last_of(after, order) < last_of(before, order) ? 1 : 0;
      }
  }
  EXPECT_GT(fewer, 50);
}

// A plain cell's step is as it was, node by node.
TEST(FewerExchanges, CellsWithoutReductionsStay) {
  Problem problem;
  const step::Cell cell = simple_cell("lstm");
  const RewrittenStep step = spread_sweep({cell, problem, {}});
  ASSERT_EQ(step.step.graph.nodes.size(), cell.graph.nodes.size());
  for (std::size_t i = 0; i < step.origin.size(); ++i) EXPECT_EQ(step.origin[i], static_cast<int>(i));
}

}  // namespace
}  // namespace rondo::schedule
