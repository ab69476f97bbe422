// The target of a kernel's code: from its features, and as its text needs it.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "tests/backend/compiled.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/schedule/part_plans.h"
#include "tests/target/board.h"

namespace rondo::backend {
namespace {

using kernel::Feature;

TEST(Target, HasTheArchitecturesOwnNameWhereFeaturesNeedIt) {
  EXPECT_EQ(target_for(target::Target::gpu(90), {}).name(), "sm_90");
  EXPECT_EQ(target_for(target::Target::gpu(90), {Feature::Clusters, Feature::AsyncCopy}).name(), "sm_90");
  EXPECT_EQ(target_for(target::Target::gpu(90), {Feature::WarpgroupMma}).name(), "sm_90a");
  EXPECT_EQ(target_for(target::Target::gpu(100), {Feature::Mma, Feature::SetMaxNReg}).name(), "sm_100a");
  EXPECT_EQ(target_for(target::Target::gpu(89), {Feature::SetMaxNReg}).name(), "sm_89")
      << "its text leaves the instruction out";
}

bool needs_own_name(const std::string& text) {
  return text.find("wgmma") != std::string::npos || text.find("setmaxnreg") != std::string::npos;
}

// Kernels whose text has such an instruction, and only those, are compiled under the architecture's own name.
void expect_features_match(const std::vector<const kernel::Kernel*>& kernels, int& with, int& without) {
  const Source source = backend_for(Language::CudaCxx).lower(kernels, target::Target::gpu(90));
  const bool needed = needs_own_name(source.text);
  ++(needed ? with : without);
  EXPECT_EQ(kernel::architecture_specific(source.features), needed) << kernels.front()->name;
}

TEST(Target, FeaturesSayWhatTheTextNeeds) {
  int with = 0, without = 0;
  for (const cuda::testing::Sample& sample : cuda::testing::samples())
    expect_features_match({&sample.kernel}, with, without);
  for (const schedule::PartPlan& of : schedule::part_plans()) {
    expect_features_match(engine::kernels_of(of.plan), with, without);
    for (const kernel::Part part : of.parts)
      expect_features_match(engine::kernels_of(schedule::plan_without(of.plan, part)), with, without);
  }
  const target::Profile& board = target::board();
  for (const char* name : {"lstm", "gru"})
    for (const schedule::Pass pass : {schedule::Pass::Forward, schedule::Pass::Backward})
      for (const std::int64_t dim : {64, 768}) {
        schedule::Problem problem;
        problem.sizes = {16, 512, 1, dim};
        problem.pass = pass;
        const step::Cell cell = schedule::cell_named(name);
        const auto choice = engine::choose({cell, problem, board});
        ASSERT_TRUE(choice.ok()) << choice.error().message;
        const auto plan = engine::build_choice({cell, problem, board}, *choice);
        ASSERT_TRUE(plan.ok()) << plan.error().message;
        for (const schedule::Launch& launch : plan->launches)
          expect_features_match({&launch.kernel}, with, without);
      }
  EXPECT_GT(with, 3);
  EXPECT_GT(without, 20);
}

// The name reaches the compiler: under the plain one its assembler refuses the instruction.
TEST(Target, ReachesTheCompiler) {
  const Backend& backend = backend_for(Language::CudaCxx);
  ASSERT_TRUE(backend.available().ok())
      << backend.available().error().message << " (tools/setup installs it)";
  Request request{
      backend.name(),
      "extern \"C\" __global__ void f() { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\"); }",
      "f.cu",
      {target::Target::Kind::Gpu, 90, true},
      backend.flags()};
  const auto compiled = compile(request);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(compiled->image.target, "sm_90a");
  request.target.specific = false;
  EXPECT_FALSE(compile(request).ok());
}

TEST(Backends, AreFoundByName) {
  ASSERT_FALSE(backends().empty());
  for (const Backend* backend : backends()) EXPECT_EQ(find_backend(backend->name()), backend);
  EXPECT_EQ(find_backend("none such"), nullptr);
  const auto unknown = compile({"none such", "", "x.cu", target::Target::gpu(90), {}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'none such'"), std::string::npos);
}

}  // namespace
}  // namespace rondo::backend
