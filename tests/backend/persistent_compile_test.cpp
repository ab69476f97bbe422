// Persistent kernels with fp32 storage compile for every architecture, products in three terms and in tf32,
// without a register spilled.
#include <gtest/gtest.h>

#include "runtime/nvrtc.h"
#include "runtime/plan.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/dense_points.h"

namespace rondo::schedule {
namespace {

struct Team {
  int blocks, grid;
  bool reduce_scatter;
};

class PersistentCompile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto nvrtc = runtime::Nvrtc::get();
    if (!nvrtc) FAIL() << nvrtc.error().message << " (tools/setup installs it)";
    nvrtc_ = nvrtc.value();
  }

  void expect_compiles(const char* cell, kernel::Math math, Pass pass, const Team& team, int turn) const {
    Problem problem;
    problem.sizes = {9, 16, 1, 72};
    problem.storage = kernel::Storage::F32;
    problem.math = math;
    problem.pass = pass;
    problem.arch = GetParam();
    const Parameters point = persistent_point(problem, team.blocks, team.grid, turn,
                                              team.reduce_scatter && pass == Pass::Backward);
    const KernelPlan plan = find_strategy("persistent")->build(cell_named(cell), problem, point);
    SCOPED_TRACE(std::string(cell) + " " + pass_name(pass) + " " + kernel::math_name(math) + " " +
                 print(point));
    const auto compiled = nvrtc_->compile(runtime::emit_source(plan), "persistent.cu", GetParam(),
                                          runtime::plan_compile_flags());
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_EQ(compiled->kernels.size(), plan.launches.size());
    for (const runtime::KernelResources& used : compiled->kernels) {
      EXPECT_FALSE(used.spills()) << used.name;
      EXPECT_EQ(used.stack_bytes, 0) << used.name;
    }
  }

  const runtime::Nvrtc* nvrtc_ = nullptr;
};

TEST_P(PersistentCompile, Fp32) {
  const bool clusters = runtime::compute_capability(GetParam()) >= 90;
  int turn = 0;
  for (const Team& team : {Team{1, 0, false}, {2, 0, true}, {3, 1, false}, {3, 1, true}}) {
    if (team.blocks > 1 && team.grid == 0 && !clusters) continue;
    for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Tf32}) {
      expect_compiles(turn % 2 == 0 ? "lstm" : "mgu", math, Pass::ForwardSave, team, turn);
      expect_compiles(turn % 2 == 0 ? "gru" : "lstm", math, Pass::Backward, team, turn);
      ++turn;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, PersistentCompile,
                         ::testing::Values("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rondo::schedule
