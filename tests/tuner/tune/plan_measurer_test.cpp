// What the measurer of real kernels tells the search of them.
#include "tuner/tune/plan_measurer.h"

#include <gtest/gtest.h>

#include "tests/engine/plan/cells.h"
#include "tests/runtime/device/guarded_device.h"

namespace rondo::tuner {
namespace {

schedule::Parameters in_the_grid(std::int64_t batch_tiles_in_flight) {
  return {{"blocks", 4},           {"exchange", 1},     {"reduce_scatter", 0},
          {"cluster_k_split", 1},  {"setmaxnreg", 0},   {"batch_tiles_in_flight", batch_tiles_in_flight},
          {"split_k", 1},          {"unit_blocks", 1},  {"batch_tiles", 1},
          {"register_k_tiles", 1}, {"accumulators", 1}, {"steps", 4},
          {"stages", 3},           {"vector", 8},       {"producer_warps", 1},
          {"store_warps", 1},      {"poll_delay", 0},   {"tiles_in_turn", 1},
          {"gather_fragments", 0}};
}

// Batch tiles in flight are a matter of the launch: the text is the same, and the time is not.
TEST(PlanMeasurer, OneTextThatIsLaunchedInTwoWaysIsNoDuplicate) {
  ASSERT_TRUE(backend::preferred_backend().available().ok()) << "no NVRTC: tools/setup installs it";
  const step::Cell cell = rondo::testing::library_cell("elman");
  schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Forward);
  problem.sizes = {64, 32, 1, 64};
  std::vector<engine::Candidate> candidates;
  for (const std::int64_t tiles : {1, 2, 1}) candidates.push_back({"persistent", in_the_grid(tiles), {}});
  const auto measurer =
      PlanMeasurer::make({cell, problem, target::find_profile("h200").value()}, candidates, nullptr, {});
  ASSERT_TRUE(measurer.ok()) << measurer.error().message;
  std::map<std::size_t, Compiled> compiled;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    (*measurer)->compile(i);
    const std::optional<Compiled> made = (*measurer)->next_compiled(60);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->status, db::TrialStatus::Ok) << made->reason;
    compiled[made->candidate] = *made;
  }
  ASSERT_EQ(compiled.size(), 3u);
  ASSERT_EQ(compiled[0].cubin_key, compiled[1].cubin_key) << "one text";
  EXPECT_NE(compiled[0].code, compiled[1].code) << "launched in two ways";
  EXPECT_EQ(compiled[0].code, compiled[2].code) << "the same altogether";
}

// Kernels on it do nothing, and it tells the parameters of those that were loaded.
class IdleDevice final : public rondo::testing::GuardedDevice {
 public:
  IdleDevice() : GuardedDevice(rondo::testing::Guard::Behind) {}
  Result<std::unique_ptr<runtime::LoadedPlan>> load(const executable::Executable& executable) const override {
    loaded.push_back(executable.identity.parameters);
    return std::unique_ptr<runtime::LoadedPlan>(new IdlePlan(executable.tensors));
  }

  mutable std::vector<std::string> loaded;

 private:
  class IdlePlan final : public runtime::LoadedPlan {
   public:
    explicit IdlePlan(std::vector<executable::Tensor> tensors) : tensors_(std::move(tensors)) {}
    std::int64_t workspace_bytes(std::int64_t, std::int64_t) const override { return 0; }
    const std::vector<executable::Tensor>& tensors() const override { return tensors_; }
    Status launch(const runtime::Bindings&, std::int64_t, std::int64_t) const override { return success(); }

   private:
    std::vector<executable::Tensor> tensors_;
  };
};

// The plain kernel beside a kernel of its own strategy has other tiles, whichever compiler made that one.
TEST(PlanMeasurer, ATwinIsComparedBesideOtherTilesToo) {
  const step::Cell cell = rondo::testing::library_cell("elman");
  schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Forward);
  problem.sizes = {4, 8, 1, 64};
  const std::vector<engine::Candidate> candidates = {
      {"alternating", {{"units", 16}, {"batch_tiles", 1}, {"warps", 4}, {"stages", 3}}, {}}};
  const auto device = std::make_shared<const IdleDevice>();
  PlanMeasurerOptions options;
  options.trial_limit = std::chrono::milliseconds(0);  // in this process
  const auto measurer =
      PlanMeasurer::make({cell, problem, target::find_profile("h200").value()}, candidates, device, options);
  ASSERT_TRUE(measurer.ok()) << measurer.error().message;
  const std::optional<std::size_t> twin = (*measurer)->twin(0);
  ASSERT_TRUE(twin) << "one compiler alone: tools/setup installs NVRTC and LLVM";
  for (const std::size_t candidate : {std::size_t{0}, *twin}) {
    (*measurer)->compile(candidate);
    const std::optional<Compiled> made = (*measurer)->next_compiled(60);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->status, db::TrialStatus::Ok) << made->reason;
    device->loaded.clear();
    EXPECT_FALSE((*measurer)->verify_at_shape(candidate).ok()) << "nothing was computed";
    ASSERT_GE(device->loaded.size(), 2u);
    EXPECT_NE(device->loaded[0].find("units=16"), std::string::npos) << "the kernel itself";
    EXPECT_NE(device->loaded[1].find("units=8"), std::string::npos) << candidate << ": " << device->loaded[1];
  }
}

}  // namespace
}  // namespace rondo::tuner
