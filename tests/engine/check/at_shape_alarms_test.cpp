// Correct kernels pass the check at the full shape, whatever the cell: random cells in the simulator, each by
// the plan that the model prefers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "compiler/schedule/strategies.h"
#include "engine/choice/candidates.h"
#include "tests/engine/check/simulated_shape.h"
#include "tests/engine/plan/cells.h"
#include "tests/step/random_cell.h"
#include "tests/support/slow_tests.h"
#include "tests/support/turns.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

// How many tensors agreed, and of how many it cannot be told.
struct Told {
  std::int64_t agree = 0, untold = 0;
};

// "passed", "wrong", or why nothing can be compared.
std::string outcome_at_shape(const step::Cell& cell, const schedule::Problem& problem, std::uint64_t seed,
                             std::string& says, Told& told) {
  const target::Profile& profile = target::board();
  const auto best = best_candidate({cell, problem, profile});
  if (!best) return "no strategy";
  auto plain = plain_plans({cell, problem, profile}, best->strategy, best->parameters);
  if (!plain) return "no plain plan";
  SimulatedShape runs(
      cell, problem,
      schedule::find_strategy(best->strategy)->build({cell, problem, profile}, best->parameters).value(),
      std::move(plain).value());
  const Result<Verification> checked = check_at_shape({cell, problem, {}}, runs, seed);
  if (!checked) return checked.error().kind == ErrorKind::Input ? "not finite" : checked.error().message;
  says = checked->summary();
  told.agree += checked->count(Said::Agrees);
  told.untold += checked->count(Said::CannotTell);
  if (checked->said() == Said::CannotTell) return "ill-conditioned";
  return checked->passed ? "passed" : "wrong";
}

// RONDO_RANDOM_CELLS, or as many as CI has time for.
int cells_at_shape() {
  const char* wanted = std::getenv("RONDO_RANDOM_CELLS");
  return wanted == nullptr ? 12 : std::atoi(wanted);
}

TEST(AtShapeFalseAlarms, RandomCellsPass) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  std::map<std::string, int> counts;
  Told told;
  for (int seed = 1; seed <= cells_at_shape(); ++seed) {
    const step::Cell cell = step::testing::random_cell_of_seed(static_cast<std::uint64_t>(seed));
    for (const kernel::Storage storage : {kernel::Storage::BF16, kernel::Storage::F32})
      for (const Pass pass : {Pass::Forward, Pass::Backward}) {
        schedule::Problem problem = rondo::testing::problem_of(pass, 16, storage);
        problem.sizes = {2, 9, 1, 16};
        std::string says;
        const std::string outcome =
            outcome_at_shape(cell, problem, static_cast<std::uint64_t>(seed) + 1000, says, told);
        ++counts[outcome];
        EXPECT_NE(outcome, "wrong") << schedule::pass_name(pass) << " " << kernel::storage_name(storage)
                                    << " " << says << "\n"
                                    << step::testing::provenance(static_cast<std::uint64_t>(seed), cell);
      }
  }
  for (const auto& [outcome, count] : counts) fmt::print("{}: {}\n", outcome, count);
  EXPECT_GE(counts["passed"], 2 * cells_at_shape()) << "half of them are compared";
}

// What matrices multiply is rounded at every step. Where a state has come to rest, errors that do not change
// with time only move it, and a difference of two steps does not show them.
struct Resting {
  const char* name;
  const char* text;
};
const Resting kResting[] = {
    {"difference", R"(cell difference(D) {
  input x[D]
  param R[D, D], b[D]
  state h[D]
  r = sigmoid(x)
  next h = r * h + (1 - r) * tanh(R @ h + b)
  output y = next h - h
})"},
    {"twin", R"(cell twin(D) {
  input x[3, D]
  param R[2, D, D], S[D, D], b[3, D]
  state h[D], e[D]
  const tau = 0.3
  g = R @ h
  f = S @ e
  r = sigmoid(g[0] + x[0] + b[0])
  next h = r * h + (1 - r) * tanh(g[1] + f * x[1] + b[1])
  next e = tau * e + (1 - tau) * abs(next h - h)
  output y = next h / (1 + square(next e)) + b[2] * x[2]
})"},
};

class RestingStates : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Cells, RestingStates, ::testing::Range(0, static_cast<int>(std::size(kResting))),
                         [](const auto& test) { return std::string(kResting[test.param].name); });

// Of a difference of nearly equal numbers less can be told.
TEST_P(RestingStates, AreNotCalledWrong) {
  const step::Cell cell = rondo::testing::cell_from(kResting[GetParam()].text);
  Told told;
  for (const kernel::Storage storage : {kernel::Storage::BF16, kernel::Storage::F16})
    for (const Pass pass : {Pass::Forward, Pass::Backward})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        if (!rondo::testing::has_turn(static_cast<int>(seed), 2)) continue;
        schedule::Problem problem = rondo::testing::problem_of(pass, 32, storage);
        problem.sizes = {2, 16, 1, 32};
        std::string says;
        const std::string outcome = outcome_at_shape(cell, problem, seed, says, told);
        EXPECT_TRUE(outcome == "passed" || outcome == "ill-conditioned")
            << schedule::pass_name(pass) << " " << kernel::storage_name(storage) << " seed " << seed << ": "
            << outcome << " " << says;
      }
  fmt::print("{} tensors agree, of {} it cannot be told\n", told.agree, told.untold);
  EXPECT_GE(told.agree, told.untold) << "half of them are compared";
}

}  // namespace
}  // namespace rondo::engine
