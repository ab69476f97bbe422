// The pass marks, on plans run by the KernelIR simulator: right kernels are well inside, a damaged one is
// caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/simplify.h"
#include "engine/check/verify.h"
#include "tests/engine/plan/cells.h"
#include "tests/schedule/point_plan.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using schedule::Pass;

// But those whose state is a matrix: the point of these tests is none of cells with states of the head, and
// tests/schedule/stream/rows_test.cpp compares them.
std::vector<std::string> diagonal_cells() {
  std::vector<std::string> names;
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell cell = rondo::testing::library_cell(embedded.name);
    if (schedule::outer_rows(cell) < schedule::kLeastRowsDealt &&
        schedule::find_strategy("stream")->legal({cell, {}, {}}).legal)
      names.push_back(embedded.name);
  }
  return names;
}

class Simulated : public ::testing::TestWithParam<std::tuple<std::string, Storage, Pass>> {
 protected:
  void SetUp() override {
    const auto& [name, storage, pass] = GetParam();
    cell_ = rondo::testing::library_cell(name);
    problem_ = rondo::testing::problem_of(pass, 72, storage);
    VerifyCase shape;
    shape.sizes = problem_.sizes = {2, 21, 1, 72};
    auto made = Verifier::make({cell_, problem_, {}}, {shape}, 23);
    ASSERT_TRUE(made.ok()) << made.error().message;
    verifier_ = std::make_unique<Verifier>(std::move(made).value());
  }
  // By the verifier, every tensor of a plan run on `data`.
  std::vector<TensorCheck> checks(const HostProblem& data) {
    const Verifier::CaseData& run = verifier_->cases()[0];
    const schedule::KernelPlan plan =
        rondo::testing::stream_plan(cell_, problem_, 16 / kernel::storage_bytes(problem_.storage));
    const auto launcher = rondo::testing::launcher_of(cell_, problem_, plan);
    schedule::TensorValues given;
    for (const executable::Tensor& tensor : launcher.tensors())
      if (const auto* values = given_values(tensor.ref, cell_, problem_.pass, data, run.exact.forward))
        given[tensor.ref] = *values;
    const schedule::SimulatedRun simulated = schedule::simulate_plan({cell_, problem_, {}}, plan, given);
    EXPECT_TRUE(simulated.faults.empty()) << simulated.faults.front();
    std::vector<TensorCheck> result;
    for (const auto& [ref, values] : simulated.written) {
      if (computed_values(ref, cell_, problem_.pass, run.exact) == nullptr) continue;
      ReadBack read;
      read.values = values;
      auto check = verifier_->check_tensor(run, ref, read);
      EXPECT_TRUE(check.ok()) << check.error().message;
      if (check) result.push_back(*check);
    }
    return result;
  }

  step::Cell cell_;
  schedule::Problem problem_;
  std::unique_ptr<Verifier> verifier_;
};

TEST_P(Simulated, RightResultsPass) {
  const auto all = checks(verifier_->cases()[0].data);
  EXPECT_GE(all.size(), 2u);
  for (const TensorCheck& check : all) EXPECT_TRUE(check.passed) << check.text();
}

TEST_P(Simulated, AnInputReadOneStepLateIsCaught) {
  const auto needs = schedule::backward_needs(step::simplify(cell_));
  if (problem_.pass == Pass::Backward && needs.inputs.empty()) return;  // it reads none
  HostProblem data = verifier_->cases()[0].data;
  for (auto& [name, values] : data.forward.inputs) {
    const auto step = static_cast<std::ptrdiff_t>(values.size() / (2 * 21));
    std::rotate(values.begin(), values.end() - step, values.end());
  }
  bool caught = false;
  for (const TensorCheck& check : checks(data)) caught |= !check.passed;
  EXPECT_TRUE(caught);
}

INSTANTIATE_TEST_SUITE_P(Cells, Simulated,
                         ::testing::Combine(::testing::ValuesIn(diagonal_cells()),
                                            ::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::Forward, Pass::ForwardSave,
                                                              Pass::Backward)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  kernel::storage_name(std::get<1>(test.param)) + "_" +
                                  schedule::pass_name(std::get<2>(test.param));
                         });

// Products that pass from forward to backward are compared where they are written, and matter where they are
// read.
TEST(SimulatedProducts, WrongOnesAreCaught) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  schedule::Problem problem = rondo::testing::problem_of(Pass::Backward, 40);
  problem.sizes = {2, 5, 1, 40};
  problem.save_products = true;
  const schedule::TensorRef ref{schedule::Role::Products, *cell.find("R")};
  const schedule::Strategy& strategy = *schedule::find_strategy("alternating");
  const schedule::Parameters point = {
      {"units", 8}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 3}, {"vector", 8}};
  const auto all_pass = [&](std::ptrdiff_t shift) {
    const auto verifier = Verifier::make({cell, problem, {}}, {{problem.sizes, {}, true}}, 7).value();
    const Verifier::CaseData& run = verifier.cases()[0];
    schedule::TensorValues given;
    const schedule::KernelPlan plan = schedule::point_plan(strategy, cell, problem, point);
    const auto launcher = rondo::testing::launcher_of(cell, problem, plan);
    for (const executable::Tensor& tensor : launcher.tensors())
      if (const auto* values = given_values(tensor.ref, cell, problem.pass, run.data, run.exact.forward))
        given[tensor.ref] = *values;
    std::vector<double>& products = given.at(ref);
    std::rotate(products.begin(), products.begin() + shift, products.end());
    bool passed = true;
    for (const auto& [written, values] : schedule::simulate_plan({cell, problem, {}}, plan, given).written) {
      ReadBack read;
      read.values = values;
      passed = passed && verifier.check_tensor(run, written, read)->passed;
    }
    return passed;
  };
  EXPECT_TRUE(all_pass(0));
  EXPECT_FALSE(all_pass(40)) << "the gate's neighbour";

  problem.pass = Pass::ForwardSave;
  const auto verifier = Verifier::make({cell, problem, {}}, {{problem.sizes, {}, true}}, 7).value();
  const Verifier::CaseData& run = verifier.cases()[0];
  ReadBack read;
  read.values = *computed_values(ref, cell, problem.pass, run.exact);
  EXPECT_TRUE(verifier.check_tensor(run, ref, read)->passed);
  std::rotate(read.values.begin(), read.values.begin() + 40, read.values.end());
  EXPECT_FALSE(verifier.check_tensor(run, ref, read)->passed);
}

// Cases share all cores. Which of them are made together must not be seen in what they say.
TEST(Verifiers, CasesMadeTogetherAreThoseMadeOneByOne) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Backward, 24);
  std::vector<VerifyCase> cases(3);
  cases[0].sizes = {1, 9, 1, 24};
  cases[1].sizes = {5, 3, 1, 24};
  cases[2].sizes = {1, 1, 1, 24};
  cases[2].initial_states = false;
  const Verifier together = Verifier::make({cell, problem, {}}, cases, 7).value();
  Verifier apart = Verifier::make({cell, problem, {}}, {}, 7).value();
  for (const VerifyCase& one : cases) ASSERT_TRUE(apart.add({one}).ok());
  ASSERT_EQ(together.cases().size(), 3U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Verifier::CaseData &one = together.cases()[i], &other = apart.cases()[i];
    EXPECT_EQ(one.shape.text(), other.shape.text());
    ASSERT_EQ(one.spreads.size(), other.spreads.size());
    for (const auto& [ref, spread] : one.spreads) {
      const std::vector<double>& exact = *computed_values(ref, cell, problem.pass, one.exact);
      EXPECT_EQ(exact, *computed_values(ref, cell, problem.pass, other.exact));
      for (std::size_t element = 0; element < exact.size(); ++element)
        EXPECT_EQ(spread.element_limit(element, true), other.spreads.at(ref).element_limit(element, true));
      EXPECT_EQ(spread.norm(), other.spreads.at(ref).norm());
    }
  }
}

TEST(Verifiers, ACaseThatStandsTwiceInAListIsMadeOnce) {
  const step::Cell cell = rondo::testing::library_cell("mingru");
  VerifyCase one, other;
  one.sizes = {1, 3, 1, 8};
  other.sizes = {1, 2, 1, 8};
  const schedule::Task task{cell, rondo::testing::problem_of(Pass::Forward, 8), {}};
  const Verifier verifier = Verifier::make(task, {one, other, one}, 7).value();
  ASSERT_EQ(verifier.cases().size(), 2U);
  EXPECT_EQ(verifier.cases()[0].shape.text(), one.text());
  EXPECT_EQ(verifier.cases()[1].shape.text(), other.text());
}

}  // namespace
}  // namespace rondo::engine
