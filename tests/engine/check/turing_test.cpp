// GPUs before compute capability 8.0: what serves them, and that the kernels of all shipped cells, in every
// type, pass and strategy, compute in the simulator what the reference does. Each case has its turn, one in
// four; a long run takes all.
#include <gtest/gtest.h>

#include "compiler/kernel/passes/features.h"
#include "compiler/schedule/strategies.h"
#include "engine/check/verify_simulated.h"
#include "engine/choice/overrides.h"
#include "engine/plan/ready_plan.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::engine {
namespace {

using kernel::Feature;
using kernel::Storage;
using schedule::Pass;

constexpr Storage kTuringTypes[] = {Storage::F32, Storage::BF16, Storage::F16};
constexpr Pass kTuringPasses[] = {Pass::Forward, Pass::ForwardSave, Pass::Backward};

schedule::Task task_of(const step::Cell& cell, const step::Sizes& sizes, Storage storage, Pass pass) {
  schedule::Problem problem = rondo::testing::problem_of(pass, sizes.dim, storage);
  problem.sizes = sizes;
  return {cell, problem, target::board("t4")};
}

// What such a GPU lacks (kernel::Feature), but for mbarriers and products, whose forms are those of the text.
void expect_no_later_features(const schedule::KernelPlan& plan) {
  for (const schedule::Launch& launch : plan.launches) {
    const kernel::FeatureSet features = kernel::features_of(launch.kernel);
    for (const Feature feature : {Feature::AsyncCopy, Feature::Tf32Mma, Feature::AsyncStore,
                                  Feature::Clusters, Feature::WarpgroupMma, Feature::SetMaxNReg})
      EXPECT_FALSE(features.contains(feature)) << launch.kernel.name << " " << static_cast<int>(feature);
    EXPECT_LE(kernel::shared_bytes(launch.kernel), target::board("t4").limits.shared_per_block);
  }
}

void expect_computes(const schedule::Task& task, const std::string& strategy,
                     const schedule::Parameters& fixed = {}) {
  const Result<Choice> choice = choose_with(task, {strategy, fixed});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  SCOPED_TRACE(schedule::print(choice->parameters));
  const Result<schedule::KernelPlan> plan = build_choice(task, *choice);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  expect_no_later_features(*plan);
  VerifyCase shape;
  shape.sizes = task.problem.sizes;
  const Result<SimulatedVerification> simulated = verify_simulated(task, *plan, {shape}, 11);
  ASSERT_TRUE(simulated.ok()) << simulated.error().message;
  EXPECT_TRUE(simulated->faults.empty()) << simulated->faults.front();
  EXPECT_TRUE(simulated->verification.passed) << simulated->verification.summary();
}

TEST(Turing, AllCellsComputeInTheSimulator) {
  std::map<std::string, int> run, legal;  // by strategy
  std::map<std::string, int> number;      // each strategy has its own turns
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell cell = rondo::testing::library_cell(embedded.name);
    bool any = false;
    for (const char* strategy : {"stream", "shoot", "persistent", "alternating"})
      for (const Storage storage : kTuringTypes)
        for (const Pass pass : kTuringPasses) {
          const schedule::Task task = task_of(cell, {3, 19, 1, 40}, storage, pass);
          if (!schedule::find_strategy(strategy)->legal(task).legal) continue;
          any = true;
          ++legal[strategy];
          if (!rondo::testing::has_turn(number[strategy]++, 4)) continue;
          SCOPED_TRACE(cell.name + " " + strategy + " " + kernel::storage_name(storage) + " " +
                       schedule::pass_name(pass));
          ASSERT_NO_FATAL_FAILURE(expect_computes(task, strategy));
          ++run[strategy];
        }
    EXPECT_TRUE(any) << cell.name << " has no strategy";
  }
  // All types and passes of shoot, which is forward alone, and of persistent, which is fp16 alone.
  EXPECT_EQ(legal["shoot"] % 6, 0);
  EXPECT_EQ(legal["stream"] % 9, 0);
  EXPECT_EQ(legal["alternating"] % 9, 0);
  EXPECT_EQ(legal["persistent"] % 3, 0);
  EXPECT_EQ(legal["persistent"], legal["alternating"] / 3 - 3) << "all dense cells but onlstm";
  for (const auto& [strategy, count] : legal)
    EXPECT_GE(run[strategy], count / 9) << strategy << ": of " << count;
}

// Forms that the model does not choose for small heads.
TEST(Turing, OtherFormsComputeInTheSimulator) {
  const auto cell = [](const char* name) { return rondo::testing::library_cell(name); };
  const step::Sizes head{3, 11, 1, 96}, channels{2, 40, 1, 64};
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    expect_computes(task_of(cell("lstm"), head, Storage::F16, pass), "persistent", {{"exchange", 1}});
    expect_computes(task_of(cell("rmslstm"), head, Storage::F16, pass), "persistent", {{"exchange", 1}});
    expect_computes(task_of(cell("mgu"), head, Storage::BF16, pass), "alternating", {{"stages", 4}});
    expect_computes(task_of(cell("mingru"), channels, Storage::BF16, pass), "stream",
                    {{"producer_warps", 1}});
  }
  expect_computes(task_of(cell("mingru"), channels, Storage::BF16, Pass::Forward), "stream",
                  {{"interleaved_copies", 1}});
  expect_computes(task_of(cell("mingru"), channels, Storage::F16, Pass::Forward), "stream",
                  {{"exchange", 1}, {"time_split", 2}});
}

TEST(Turing, MatricesOfOtherTypesStayInNoRegisters) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  for (const Storage storage : {Storage::F32, Storage::BF16}) {
    const schedule::Task task = task_of(cell, {16, 64, 1, 64}, storage, Pass::Forward);
    const Result<Choice> choice = choose_with(task, {"persistent", {}});
    ASSERT_FALSE(choice.ok());
    EXPECT_EQ(choice.error().kind, ErrorKind::Input);
    for (const char* part : {"the tensor cores of Tesla T4 multiply fp16 alone", "alternating computes"})
      EXPECT_NE(choice.error().message.find(part), std::string::npos) << choice.error().message;
    EXPECT_EQ(choose_with(task, {})->strategy, "alternating");
  }
  EXPECT_EQ(choose_with(task_of(cell, {16, 64, 1, 64}, Storage::F16, Pass::Forward), {})->strategy,
            "persistent");
}

TEST(Turing, EarlierGpusAreNotServed) {
  target::Profile volta = target::board("t4");
  volta.target = target::Target::gpu(70);
  volta.name = "Tesla V100";
  for (const char* name : {"stream", "shoot", "persistent", "alternating"}) {
    const schedule::Legality served = schedule::find_strategy(name)->serves(volta);
    EXPECT_FALSE(served.legal);
    EXPECT_NE(served.reason.find("from compute capability 7.5 on; Tesla V100 has 7.0"), std::string::npos)
        << served.reason;
    EXPECT_TRUE(schedule::find_strategy(name)->serves(target::board("rtx2080ti")).legal);
  }
}

}  // namespace
}  // namespace rondo::engine
