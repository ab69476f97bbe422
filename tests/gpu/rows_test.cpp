// Shipped cells whose state is a matrix, on the GPU against the reference: by the model's choice, where a
// thread has all rows of a channel, and at a sample of points whose rows are dealt to lanes.
#include <algorithm>
#include <tuple>

#include "compiler/schedule/strategies.h"
#include "engine/check/verify.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using rondo::testing::library_cell;
using schedule::Pass;

class MatrixState : public rondo::testing::GpuTest,
                    public ::testing::WithParamInterface<std::tuple<std::string, Storage, Pass>> {
 protected:
  void verify(const std::vector<engine::VerifyCase>& cases) {
    const step::Cell cell = library_cell(std::get<0>(GetParam()));
    const step::Sizes& sizes = cases.back().sizes;
    const schedule::Problem p = problem(std::get<2>(GetParam()), sizes, std::get<1>(GetParam()));
    check(load_chosen(cell, p, engine::kFullAlignment), cell, p, cases);
  }
  void check(const std::unique_ptr<runtime::DevicePlan>& plan, const step::Cell& cell,
             const schedule::Problem& p, const std::vector<engine::VerifyCase>& cases) {
    if (plan == nullptr) return;
    expect_right(*plan, cell, p, cases, 17, 2);
  }
};

// One step, a stage and a tail, gaps between the steps and the steps first.
TEST_P(MatrixState, ByTheModelsChoice) {
  const std::int64_t gap = 16 / kernel::storage_bytes(std::get<1>(GetParam()));
  verify({{{3, 1, 2, 128}, {}, true},
          {{3, 7, 2, 128}, {engine::TensorLayout::Order::BatchMajor, gap}, true},
          {{2, 65, 2, 128}, {engine::TensorLayout::Order::TimeMajor, gap}, true}});
}
TEST_P(MatrixState, OddChannels) { verify({{{2, 19, 2, 33}, {}, true}}); }

INSTANTIATE_TEST_SUITE_P(Cells, MatrixState,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::matrix_state_cells()),
                                            ::testing::Values(Storage::BF16, Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  kernel::storage_name(std::get<1>(test.param)) + "_" +
                                  schedule::pass_name(std::get<2>(test.param));
                         });

class DealtRows : public rondo::testing::GpuTest, public ::testing::WithParamInterface<Pass> {};
INSTANTIATE_TEST_SUITE_P(Passes, DealtRows, ::testing::Values(Pass::Forward, Pass::Backward),
                         [](const auto& test) { return std::string(schedule::pass_name(test.param)); });

TEST_P(DealtRows, ASampleOfPointsIsRight) {
  const step::Cell cell = library_cell("gated_deltanet");
  const schedule::Problem p = problem(GetParam(), {2, 67, 2, 128}, Storage::BF16);
  auto candidates = engine::ranked_candidates({cell, p, gpu_->profile});
  ASSERT_TRUE(candidates.ok()) << candidates.error().message;
  std::erase_if(*candidates, [](const engine::Candidate& candidate) {
    const auto lanes = candidate.parameters.find("row_lanes");
    return lanes == candidate.parameters.end() || lanes->second == 1;
  });
  constexpr std::size_t kSample = 16;
  ASSERT_GE(candidates->size(), kSample);
  const engine::VerifyCase shape{{2, 67, 2, 128}, {engine::TensorLayout::Order::BatchMajor, 8}, true};
  const auto verifier = engine::Verifier::make({cell, p, {}}, {shape}, 5);
  ASSERT_TRUE(verifier.ok()) << verifier.error().message;
  for (std::size_t i = 0; i < kSample; ++i) {
    const engine::Candidate& candidate = (*candidates)[i * (candidates->size() - 1) / (kSample - 1)];
    const auto plan = load(cell, p, candidate.strategy, candidate.parameters, gpu_->profile, true);
    ASSERT_NE(plan, nullptr);
    const auto result = verifier->check(*gpu_->device, lent(*plan));
    ASSERT_TRUE(result.ok()) << schedule::print(candidate.parameters) << ": " << result.error().message;
    EXPECT_TRUE(result->passed) << schedule::print(candidate.parameters) << ": " << result->summary();
  }
}

}  // namespace
}  // namespace rondo::tuner
