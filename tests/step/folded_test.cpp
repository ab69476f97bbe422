// What is folded of numbers alone: in double, whatever named constants say, and rounded once.
#include "compiler/step/folded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/frontend.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/simplify.h"

namespace rondo::step {
namespace {

constexpr const char* kMean = R"(
cell mean(D) {
  input x[D]
  state h[D]
  const decay = 0.999999
  next h = decay * h + (1 - decay) * x
  output h, y = x * sqrt(decay / D) + select(decay > 1, x, 0) + log(decay - decay)
}
)";

Cell cell_of(const char* text) { return simplify(frontend::parse(text, "mean.cell").cells.at(0)); }

TEST(Folded, InDoubleAndByTheGivenConstants) {
  const Cell cell = cell_of(kMean);
  for (const double decay : {0.999999, 0.25}) {
    std::vector<double> found;
    const auto numbers = folded_numbers(cell.graph, {decay}, 64);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] && cell.graph.nodes[i].kind == NodeKind::Scalar) found.push_back(*numbers[i]);
    const auto has = [&](double value) {
      return std::find(found.begin(), found.end(), value) != found.end();
    };
    EXPECT_TRUE(has(1 - decay));
    EXPECT_TRUE(has(std::sqrt(decay / 64)));
    EXPECT_TRUE(has(0)) << "decay > 1";
    for (const double value : found)
      EXPECT_TRUE(std::isfinite(value)) << "the logarithm of 0 is left for run time";
  }
}

TEST(Folded, OnlyWhatDependsOnNumbersAlone) {
  const Cell cell = cell_of(kMean);
  const auto numbers = folded_numbers(cell.graph, {0.5}, 64);
  for (const Row& row : cell.next) EXPECT_FALSE(numbers[static_cast<std::size_t>(row.value)]);
  for (const Row& row : cell.outputs) EXPECT_FALSE(numbers[static_cast<std::size_t>(row.value)]);
}

// 1 - 0.999999 in fp32 is off by 1.3%, and so was h after a few steps.
TEST(Folded, TheReferenceInFp32RoundsOnce) {
  const Cell cell = cell_of(kMean);
  const Sizes sizes{1, 40, 1, 8};
  ForwardArguments<float> arguments;
  ForwardArguments<double> exact;
  arguments.inputs["x"].assign(320, 0.75F);
  exact.inputs["x"].assign(320, 0.75);
  const auto single = run_forward(cell, sizes, arguments);
  const auto twice = run_forward(cell, sizes, exact);
  ASSERT_TRUE(single.ok() && twice.ok());
  const double want = twice->last_states.at("h").front();
  EXPECT_NEAR(static_cast<double>(single->last_states.at("h").front()), want, 1e-6 * want);
}

}  // namespace
}  // namespace rondo::step
