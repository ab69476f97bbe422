// Correct kernels pass, whatever the cell: random cells, and cells on which a fixed tolerance fails. The
// simulator runs the plan that the model prefers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "compiler/schedule/plan/simulate_plan.h"
#include "engine/check/verify_simulated.h"
#include "engine/choice/candidates.h"
#include "tests/engine/plan/cells.h"
#include "tests/schedule/shoot/points.h"
#include "tests/step/random_cell.h"
#include "tests/support/slow_tests.h"
#include "tests/support/turns.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using schedule::Pass;

constexpr Storage kStorages[] = {Storage::BF16, Storage::F16, Storage::F32};

// What became of one verification.
struct Outcome {
  enum class Kind { Passed, Wrong, NoStrategy, Unstable, IllConditioned } kind = Kind::Passed;
  std::string text;
};

schedule::Problem problem_at(const step::Sizes& sizes, Pass pass, Storage storage) {
  schedule::Problem problem = rondo::testing::problem_of(pass, sizes.dim, storage);
  problem.sizes = sizes;
  return problem;
}

Outcome outcome_of(const step::Cell& cell, const schedule::Problem& problem, std::uint64_t seed) {
  const target::Profile& profile = target::board();
  const auto best = best_candidate({cell, problem, profile});
  if (!best) return {Outcome::Kind::NoStrategy, best.error().message};
  const schedule::KernelPlan plan =
      schedule::find_strategy(best->strategy)->build({cell, problem, profile}, best->parameters).value();
  VerifyCase shape;
  shape.sizes = problem.sizes;
  shape.layout.gap = 16 / kernel::storage_bytes(problem.storage);
  const auto verified = verify_simulated({cell, problem, {}}, plan, {shape}, seed);
  if (!verified) return {Outcome::Kind::Unstable, verified.error().message};
  if (verified->passed()) return {};
  if (verified->faults.empty() && verified->verification.said() == Said::CannotTell)
    return {Outcome::Kind::IllConditioned, verified->verification.summary()};
  return {Outcome::Kind::Wrong,
          verified->faults.empty() ? verified->verification.summary() : verified->faults.front()};
}

// Of RONDO_RANDOM_CELLS, or as many as CI has time for.
int cell_count() {
  const char* wanted = std::getenv("RONDO_RANDOM_CELLS");
  return wanted == nullptr ? 60 : std::atoi(wanted);
}

TEST(FalseAlarms, RandomCellsPass) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  std::map<Outcome::Kind, int> counts;
  for (int seed = 1; seed <= cell_count(); ++seed) {
    const step::Cell cell = step::testing::random_cell_of_seed(static_cast<std::uint64_t>(seed));
    for (const Storage storage : kStorages)
      for (const Pass pass : {Pass::Forward, Pass::Backward}) {
        const Outcome outcome = outcome_of(cell, problem_at({2, 9, 1, 24}, pass, storage),
                                           static_cast<std::uint64_t>(seed) + 1000);
        ++counts[outcome.kind];
        EXPECT_NE(outcome.kind, Outcome::Kind::Wrong)
            << schedule::pass_name(pass) << " " << kernel::storage_name(storage) << " " << outcome.text
            << "\n"
            << step::testing::provenance(static_cast<std::uint64_t>(seed), cell);
      }
  }
  const int all = 6 * cell_count();
  fmt::print(
      "{} verifications of random cells: {} passed, {} of no strategy, {} not finite, {} ill-conditioned\n",
      all, counts[Outcome::Kind::Passed], counts[Outcome::Kind::NoStrategy], counts[Outcome::Kind::Unstable],
      counts[Outcome::Kind::IllConditioned]);
  EXPECT_GE(counts[Outcome::Kind::Passed] * 2, all) << "too few cells are checked at all";
  EXPECT_LE(counts[Outcome::Kind::IllConditioned] * 50, all) << "too many are not compared";
}

// Random cells whose kernels were wrong once; what they were wrong in is in the tests of the strategy.
TEST(FalseAlarms, CellsThatWereWrongOnce) {
  const step::Cell cell = step::testing::random_cell_of_seed(238);
  for (const std::uint64_t seed : {1000, 2000}) {
    const Outcome outcome = outcome_of(cell, problem_at({2, 19, 1, 40}, Pass::Backward, Storage::F16), seed);
    EXPECT_EQ(outcome.kind, Outcome::Kind::Passed) << outcome.text << "\n"
                                                   << step::testing::provenance(238, cell);
  }
}

// Random cells of which a right kernel was called wrong: gradients that no fp32 number holds, and one element
// of many where rounding errs by more than in all the runs, of a tensor of which little can be told.
TEST(FalseAlarms, CellsThatWereCalledWrongOnce) {
  for (const std::uint64_t seed : {242, 1716})
    for (const Storage storage : kStorages) {
      const step::Cell cell = step::testing::random_cell_of_seed(seed);
      const Outcome outcome =
          outcome_of(cell, problem_at({2, 9, 1, 24}, Pass::Backward, storage), seed + 1000);
      EXPECT_TRUE(outcome.kind == Outcome::Kind::Passed || outcome.kind == Outcome::Kind::IllConditioned)
          << outcome.text << "\n"
          << step::testing::provenance(seed, cell);
    }
}

// Cells whose results hang on cancellation, division or long products.
struct HardCell {
  const char* name;
  const char* text;
};
const HardCell kHardCells[] = {
    {"rotation", R"(cell rotation(D) {
  input x[D]
  param a[D]
  state u[D]
  state v[D]
  c = cos(a)
  s = sin(a)
  next u = c * u - s * v + 0.1 * x
  next v = s * u + c * v
  y = next u + next v
  output y
})"},
    {"oscillator", R"(cell oscillator(D) {
  input x[D]
  param w[D]
  state p[D]
  state q[D]
  k = 0.2 + 0.1 * w
  next p = p + k * q
  next q = q - k * (p + k * q) + 0.05 * x
  y = next p
  output y
})"},
    {"liquid", R"(cell liquid(D) {
  input x[D]
  param tau[D]
  param a[D]
  state h[D]
  f = sigmoid(x + a * h)
  next h = (h + 0.1 * f * a) / (1 + 0.1 * (tau * tau + f))
  y = next h
  output y
})"},
    {"long_product", R"(cell long_product(D) {
  input x[D]
  param a[D]
  state h[D]
  g = sigmoid(8 + a)
  next h = g * h + (1 - g) * x
  y = next h
  output y
})"},
    {"normalised", R"(cell normalised(D) {
  input x[2, D]
  state c[D]
  state n[D]
  f = sigmoid(x[0])
  next c = f * c + x[1]
  next n = f * n + (1 - f)
  y = next c / (next n + 0.000001)
  output y
})"},
    {"residual", R"(cell residual(D) {
  input x[D]
  param a[D]
  state h[D]
  next h = h + x * h * 0.1 + relu(a - h) * 0.01
  y = next h
  output y
})"},
};

class HardCells : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Cells, HardCells, ::testing::Range(0, static_cast<int>(std::size(kHardCells))),
                         [](const auto& test) { return std::string(kHardCells[test.param].name); });

TEST_P(HardCells, Pass) {
  const step::Cell cell = rondo::testing::cell_from(kHardCells[GetParam()].text);
  for (const Storage storage : kStorages)
    for (const Pass pass : {Pass::Forward, Pass::Backward})
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        if (!rondo::testing::has_turn(static_cast<int>(seed), 4)) continue;
        const Outcome outcome = outcome_of(cell, problem_at({2, 549, 1, 16}, pass, storage), seed);
        EXPECT_EQ(outcome.kind, Outcome::Kind::Passed)
            << schedule::pass_name(pass) << " " << kernel::storage_name(storage) << " seed " << seed << ": "
            << outcome.text;
      }
}

// Every shipped cell, by seeds.
TEST(FalseAlarms, ShippedCellsPass) {
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell cell = rondo::testing::library_cell(embedded.name);
    for (const Storage storage : kStorages)
      for (const Pass pass : {Pass::ForwardSave, Pass::Backward})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          if (!rondo::testing::has_turn(static_cast<int>(seed))) continue;
          const Outcome outcome = outcome_of(cell, problem_at({3, 19, 2, 24}, pass, storage), seed);
          EXPECT_EQ(outcome.kind, Outcome::Kind::Passed)
              << embedded.name << " " << schedule::pass_name(pass) << " " << kernel::storage_name(storage)
              << " seed " << seed << ": " << outcome.text;
        }
  }
}

// A gradient goes back by the largest of many sums, and rounding a state turns some of these choices: what
// is stored, the first states too, turns none.
TEST(FalseAlarms, ChoicesAmongStoredStatesCanBeTold) {
  const step::Cell cell = rondo::testing::library_cell("viterbi");
  const schedule::Task task{cell, problem_at({3, 19, 2, 24}, Pass::Backward, Storage::BF16), target::board()};
  const auto best = best_candidate(task).value();
  const schedule::KernelPlan plan =
      schedule::find_strategy(best.strategy)->build(task, best.parameters).value();
  VerifyCase shape;
  shape.sizes = task.problem.sizes;
  shape.layout.gap = 8;
  shape.stored_states = true;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const SimulatedVerification found = verify_simulated(task, plan, {shape}, seed).value();
    EXPECT_TRUE(found.passed()) << "seed " << seed << ": " << found.verification.summary();
    EXPECT_EQ(found.verification.covered.size(), 1) << "seed " << seed << ": other data were needed";
  }
}

// Segments of time start off by no more than one step's rounding changes, which is little where no function
// of a step is approximate: a state that forgets its past, and has few roundings, shows the rest.
TEST(FalseAlarms, SegmentsOfACellWithoutFunctions) {
  const step::Cell cell = rondo::testing::library_cell("lif");
  for (const Storage storage : {Storage::BF16, Storage::F16}) {
    const schedule::Problem problem = problem_at({2, 99, 1, 40}, Pass::Forward, storage);
    const schedule::KernelPlan plan =
        schedule::point_plan(*schedule::find_strategy("shoot"), cell, problem,
                             schedule::shoot_point(problem, {4, 4, 0}), target::board());
    for (const std::uint64_t seed : {29, 31, 32}) {
      const auto result =
          verify_simulated({cell, problem, target::board()}, plan, {{problem.sizes, {}}}, seed);
      ASSERT_TRUE(result.ok()) << result.error().message;
      for (const TensorCheck& check : result->verification.checks)
        EXPECT_TRUE(check.passed) << kernel::storage_name(storage) << " seed " << seed << ": "
                                  << check.text();
    }
  }
}

}  // namespace
}  // namespace rondo::engine
