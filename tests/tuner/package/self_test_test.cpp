// Self-tests: what the reference made is what right kernels compute, and wrong ones do not.
#include "tuner/package/self_test.h"

#include <algorithm>
#include <set>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/ready_plan.h"
#include "tests/engine/plan/cells.h"

namespace rondo::tuner {
namespace {

using package::SelfTest;
using schedule::Pass;

struct Simulated {
  SelfTest test;
  schedule::SimulatedRun run;
};

// The model's choice for an H200, run in the simulator on what the self-test gives.
Simulated simulated(const std::string& name, Pass pass, kernel::Storage storage, std::int64_t dim = 32) {
  const step::Cell cell = rondo::testing::library_cell(name);
  schedule::Problem problem = rondo::testing::problem_of(pass, dim, storage);
  problem.sizes = {16, 512, 1, dim};
  const target::Profile profile = target::find_profile("h200").value();
  const engine::Choice choice = engine::choose({cell, problem, profile}).value();
  const schedule::KernelPlan plan = engine::build_choice({cell, problem, profile}, choice).value();
  const executable::Executable executable = schedule::lower_plan({cell, problem, {}}, plan).value();
  Simulated result{make_self_test({cell, problem, {}}).value(), {}};
  problem.sizes.batch = result.test.batch;
  problem.sizes.time = result.test.time;
  schedule::TensorValues given;
  for (const SelfTest::Given& one : result.test.given)
    for (const executable::Tensor& tensor : executable.tensors)
      if (tensor.ref == one.tensor)
        given[one.tensor] =
            values_of(one, tensor.storage, tensor.size.at(problem.sizes.batch, problem.sizes.time));
  result.run = schedule::simulate_plan({cell, problem, {}}, plan, given);
  return result;
}

class SelfTests : public ::testing::TestWithParam<std::tuple<const char*, Pass, kernel::Storage>> {};

TEST_P(SelfTests, AreWhatKernelsCompute) {
  const auto [name, pass, storage] = GetParam();
  const Simulated s = simulated(name, pass, storage);
  EXPECT_TRUE(s.run.faults.empty());
  ASSERT_FALSE(s.test.expected.empty());
  for (const SelfTest::Expected& expected : s.test.expected) {
    ASSERT_TRUE(s.run.written.contains(expected.tensor));
    const std::vector<double>& values = s.run.written.at(expected.tensor);
    EXPECT_EQ(difference(expected, values), "") << static_cast<int>(expected.tensor.role);
    EXPECT_GE(expected.samples.size(), std::min<std::size_t>(16, values.size()));
    // Zeros, what a kernel that did not run leaves, and all values a little off.
    EXPECT_NE(difference(expected, std::vector<double>(values.size(), 0.0)), "");
    std::vector<double> scaled = values;
    for (double& value : scaled) value *= 1.1;
    EXPECT_NE(difference(expected, scaled), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SelfTests,
                         ::testing::Combine(::testing::Values("mingru", "lstm"),
                                            ::testing::Values(Pass::Forward, Pass::ForwardSave,
                                                              Pass::Backward),
                                            ::testing::Values(kernel::Storage::BF16, kernel::Storage::F32)));

TEST(SelfTestMade, IsTheSameEveryTime) {
  const step::Cell cell = rondo::testing::library_cell("gru");
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Backward, 32);
  const SelfTest test = make_self_test({cell, problem, {}}).value();
  EXPECT_EQ(test, make_self_test({cell, problem, {}}).value());
  schedule::Problem longer = problem;
  longer.sizes.batch = 7;
  longer.sizes.time = 70000;
  EXPECT_EQ(test, make_self_test({cell, longer, {}}).value()) << "B and T are the self-test's own";
  EXPECT_LT(package::to_bytes(test).size(), 20'000U);
}

// Six numbers: a count that shares a divisor with what the samples are drawn by.
TEST(SelfTestMade, ComparesAllOfFewElements) {
  const step::Cell cell =
      frontend::parse(
          "cell sc(D) {\n  input x[D], m\n  state h[D]\n  next h = sigmoid(m) * h + x\n  output h\n}\n",
          "sc.cell")
          .cells.at(0);
  const SelfTest test = make_self_test({cell, rondo::testing::problem_of(Pass::Backward, 32), {}}).value();
  std::set<std::int64_t> counts;
  for (const SelfTest::Expected& expected : test.expected) {
    counts.insert(expected.elements);
    EXPECT_EQ(expected.samples.size(),
              std::min<std::size_t>(16, static_cast<std::size_t>(expected.elements)));
  }
  EXPECT_LT(*counts.begin(), 16) << "the gradient of m";
}

}  // namespace
}  // namespace rondo::tuner
