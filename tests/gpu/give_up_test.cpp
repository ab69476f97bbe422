// A plan whose block 0 never sends, on a real GPU: the launch ends by itself, the plan says what happened,
// and the next launch computes as if nothing had been.
#include <chrono>

#include "compiler/schedule/strategies.h"
#include "engine/check/verify.h"
#include "engine/measure/measure.h"
#include "tests/gpu/gpu.h"
#include "tests/schedule/point_plan.h"
#include "tests/schedule/silent_block.h"

namespace rondo::tuner {
namespace {

using rondo::testing::library_cell;
using schedule::Pass;

class GiveUp : public rondo::testing::GpuTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (gpu_ != nullptr && gpu_->info.cc() < 90) GTEST_SKIP() << "clusters begin with sm_90";
  }
  schedule::Parameters parameters() const {
    return {{"blocks", 4},          {"exchange", GetParam()},
            {"reduce_scatter", 0},  {"cluster_k_split", 1},
            {"setmaxnreg", 0},      {"batch_tiles_in_flight", 1},
            {"split_k", 1},         {"unit_blocks", 1},
            {"batch_tiles", 1},     {"register_k_tiles", 1},
            {"accumulators", 1},    {"steps", 4},
            {"stages", 3},          {"vector", 8},
            {"producer_warps", 1},  {"store_warps", 1},
            {"poll_delay", 0},      {"tiles_in_turn", 1},
            {"gather_fragments", 0}};
  }
  Result<std::unique_ptr<runtime::LoadedPlan>> loaded(const step::Cell& cell, const schedule::Problem& p,
                                                      bool silent) const {
    schedule::KernelPlan plan =
        schedule::point_plan(*schedule::find_strategy("persistent"), cell, p, parameters(), gpu_->profile);
    EXPECT_TRUE(!silent || schedule::silence_block(plan) > 0);
    const auto compiled =
        engine::compile_plan(std::make_shared<const schedule::Task>(cell, p, gpu_->profile), std::move(plan));
    if (!compiled) return compiled.error();
    return gpu_->device->load(compiled->executable);
  }
};

TEST_P(GiveUp, ThePlanSaysSoAndTheGpuGoesOn) {
  const step::Cell cell = library_cell("lstm");
  const schedule::Problem p = problem(Pass::Forward, {8, 512, 1, 64}, kernel::Storage::BF16);
  const auto silent = loaded(cell, p, true);
  ASSERT_TRUE(silent.ok()) << silent.error().message;
  auto data = engine::RunData::make({cell, p, {}}, 0, *gpu_->device, 3);
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_TRUE(data->reserve(**silent).ok());
  const engine::TimedWork work = data->work(**silent);
  for (const bool by_next_launch : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(work.run(0).ok());
    ASSERT_TRUE(gpu_->device->wait().ok()) << "the context is lost";
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_GT(taken.count(), 3);
    EXPECT_LT(taken.count(), 12);
    std::vector<Status> said;
    if (by_next_launch) said = {work.run(0), work.run(0)};
    said.push_back((*silent)->check());
    for (const Status& status : said) {
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().kind, ErrorKind::Device);
      EXPECT_NE(status.error().message.find("lstm_persistent_fw waited more than 4 s for each other"),
                std::string::npos)
          << status.error().message;
    }
    EXPECT_TRUE((*silent)->check().ok()) << "said twice";
  }
  // In the workspace that the launch above has left.
  const auto whole = loaded(cell, p, false);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  ASSERT_TRUE(data->work(**whole).run(0).ok());
  ASSERT_TRUE(gpu_->device->wait().ok());
  EXPECT_TRUE((*whole)->check().ok());
  const auto verifier =
      engine::Verifier::make({cell, p, {}}, engine::cases_for({cell, p, {}}, {}, engine::gpu_budget()), 5);
  ASSERT_TRUE(verifier.ok()) << verifier.error().message;
  const auto verified = verifier->check(*gpu_->device, **whole);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_TRUE(verified->passed) << verified->summary();
}

INSTANTIATE_TEST_SUITE_P(Lstm, GiveUp, ::testing::Values(0, 1),
                         [](const auto& test) { return test.param == 0 ? "cluster" : "grid"; });

}  // namespace
}  // namespace rondo::tuner
