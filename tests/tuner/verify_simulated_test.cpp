// The pass marks, on plans run by the KernelIR simulator: right kernels are well inside, a damaged one is
// caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "compiler/schedule/simulate_plan.h"
#include "tests/runtime/plan_cells.h"
#include "tuner/verify.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using schedule::Pass;

std::vector<std::string> diagonal_cells() {
  std::vector<std::string> names;
  for (const runtime::EmbeddedCell& embedded : runtime::embedded_cells())
    if (schedule::find_strategy("stream")->legal(rondo::testing::library_cell(embedded.name), {}).legal)
      names.push_back(embedded.name);
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
    auto made = Verifier::make(cell_, problem_, {shape}, 23);
    ASSERT_TRUE(made.ok()) << made.error().message;
    verifier_ = std::make_unique<Verifier>(std::move(made).value());
  }
  // By the verifier, every tensor of a plan run on `data`.
  std::vector<TensorCheck> checks(const runtime::HostProblem& data) {
    const Verifier::CaseData& run = verifier_->cases()[0];
    const schedule::KernelPlan plan =
        rondo::testing::stream_plan(cell_, problem_, 16 / kernel::storage_bytes(problem_.storage));
    const auto arguments = runtime::PlanArguments::make(cell_, problem_, plan).value();
    schedule::TensorValues given;
    for (const runtime::PlanTensor& tensor : arguments.tensors())
      if (const auto* values =
              runtime::given_values(tensor.ref, cell_, problem_.pass, data, run.exact.forward))
        given[tensor.ref] = *values;
    const schedule::SimulatedRun simulated = schedule::simulate_plan(cell_, problem_, plan, given);
    EXPECT_TRUE(simulated.faults.empty()) << simulated.faults.front();
    std::vector<TensorCheck> result;
    for (const auto& [ref, values] : simulated.written) {
      if (runtime::computed_values(ref, cell_, problem_.pass, run.exact) == nullptr) continue;
      runtime::ReadBack read;
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
  runtime::HostProblem data = verifier_->cases()[0].data;
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

}  // namespace
}  // namespace rondo::tuner
