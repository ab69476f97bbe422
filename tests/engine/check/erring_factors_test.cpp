#include "engine/check/erring_factors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compiler/scalar/storage.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/verify.h"
#include "engine/check/spread.h"
#include "engine/data/host_problem.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using schedule::Pass;
using schedule::Problem;

// One step of `next h = R @ h`, with R = 1: what R multiplies, as it erred.
class Multiplied : public ::testing::Test {
 protected:
  static constexpr std::int64_t kDim = 64;

  std::vector<double> run(const step::Cell& erring, double seed, std::int64_t steps = 1,
                          double amplitude = 1) const {
    step::ForwardArguments<double> arguments;
    std::vector<double>& matrix = arguments.params["R"];
    matrix.assign(kDim * kDim, 0.0);
    for (std::int64_t i = 0; i < kDim; ++i) matrix[static_cast<std::size_t>(i * kDim + i)] = 1;
    arguments.params[erring.tensors.back().name] = {seed, amplitude};
    arguments.initial_states["h"].assign(kDim, 1.0);
    return step::run_forward(erring, {1, steps, 1, kDim}, arguments).value().outputs.at("y");
  }
  static double largest(const std::vector<double>& values) {
    double error = 0;
    for (const double value : values) error = std::max(error, std::abs(value - 1));
    return error;
  }

  const step::Cell cell_ = rondo::testing::cell_from(
      "cell turn(D) {\n  param R[D, D]\n  state h[D]\n  next h = R @ h\n  output y = next h\n}");
  const Problem problem_ = rondo::testing::problem_of(Pass::Forward, kDim, Storage::BF16);
};

TEST_F(Multiplied, ErrsByARoundingAtMostAndByMostOfOne) {
  const double unit = scalar::unit_roundoff(Storage::BF16);
  const auto erring = with_erring_factors({cell_, problem_, {}});
  ASSERT_TRUE(erring);
  EXPECT_EQ(step::verify(*erring), std::vector<std::string>{});
  const double near = largest(run(*erring, 1)), far = largest(run(*erring, 1, 1, kFar));
  EXPECT_GT(near, 0.8 * unit);
  EXPECT_LE(near, unit);
  EXPECT_GT(far, 0.8 * kFar * unit);
  EXPECT_LE(far, kFar * unit);
}

// As a kernel does: a sum of rounded numbers may be exactly zero.
TEST_F(Multiplied, RoundsToNearestWhereItIsAskedTo) {
  const auto erring = with_erring_factors({cell_, problem_, {}});
  ASSERT_TRUE(erring);
  step::ForwardArguments<float> arguments;
  std::vector<float>& matrix = arguments.params["R"];
  matrix.assign(kDim * kDim, 0.0F);
  std::vector<float>& first = arguments.initial_states["h"];
  for (std::int64_t i = 0; i < kDim; ++i) {
    matrix[static_cast<std::size_t>(i * kDim + i)] = 1;
    first.push_back(std::ldexp(1 + static_cast<float>(i) * 0.01567F, static_cast<int>(i % 9) - 4));
  }
  arguments.params[erring->tensors.back().name] = {1, 0};
  const auto run = step::run_forward(*erring, {1, 1, 1, kDim}, arguments);
  ASSERT_TRUE(run.ok());
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(run->outputs.at("y")[i], scalar::round_to(Storage::BF16, first[i])) << first[i];
}

// So that of two sides of a decision a pair of runs takes both.
TEST_F(Multiplied, ErrsTheOtherWayRoundWithTheSameDraws) {
  const auto erring = with_erring_factors({cell_, problem_, {}});
  ASSERT_TRUE(erring);
  for (const double amplitude : {1.0, kFar}) {
    const std::vector<double> one = run(*erring, 7, 1, amplitude), other = run(*erring, 7, 1, -amplitude);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i] - 1, 1 - other[i], 1e-12) << i;
  }
}

TEST_F(Multiplied, ErrsAnewInEveryRunAndStep) {
  const auto erring = with_erring_factors({cell_, problem_, {}});
  ASSERT_TRUE(erring);
  EXPECT_NE(run(*erring, 1), run(*erring, 2));
  EXPECT_EQ(run(*erring, 1), run(*erring, 1));
  const std::vector<double> steps = run(*erring, 1, 2);
  std::set<double> factors;
  for (std::int64_t i = 0; i < kDim; ++i)
    factors.insert(steps[static_cast<std::size_t>(kDim + i)] / steps[static_cast<std::size_t>(i)]);
  EXPECT_GT(factors.size(), 60);
}

// Gates that multiply one vector read it rounded once; a backward pass rounds products too.
TEST(ErringFactors, AreOneForAVectorAndOneForAProductOfABackwardPass) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  const auto draws = [&](Pass pass) {
    const auto erring = with_erring_factors({cell, rondo::testing::problem_of(pass, 32, Storage::F16), {}});
    std::set<std::string> names;
    for (const step::Node& node : erring->graph.nodes)
      if (node.kind == step::NodeKind::Uniform) names.insert(node.draw);
    return names.size();
  };
  EXPECT_EQ(draws(Pass::Forward), 1);
  EXPECT_EQ(draws(Pass::Backward), 5);
}

TEST(ErringFactors, AreThereWhereAKernelRounds) {
  const step::Cell gru = rondo::testing::library_cell("gru");
  EXPECT_FALSE(with_erring_factors({gru, rondo::testing::problem_of(Pass::Forward, 32, Storage::F32), {}}));
  Problem tf32 = rondo::testing::problem_of(Pass::Forward, 32, Storage::F32);
  tf32.math = kernel::Math::Tf32;
  EXPECT_TRUE(with_erring_factors({gru, tf32, {}}));
  const step::Cell mingru = rondo::testing::library_cell("mingru");
  EXPECT_FALSE(
      with_erring_factors({mingru, rondo::testing::problem_of(Pass::Forward, 32, Storage::BF16), {}}));
}

}  // namespace
}  // namespace rondo::engine
