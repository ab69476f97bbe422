#include "compiler/target/target.h"

#include <gtest/gtest.h>

#include "compiler/target/profile.h"

namespace rondo::target {
namespace {

TEST(Target, ReadsArchitectureNames) {
  EXPECT_EQ(find_target("sm_80"), Target::gpu(80));
  EXPECT_EQ(find_target("sm_90a"), Target::gpu(90));
  EXPECT_EQ(find_target("sm_120f"), Target::gpu(120));
  EXPECT_EQ(find_target("x86-64-v3"), (Target{Target::Kind::X86_64, 3}));
  EXPECT_EQ(find_target("aarch64"), (Target{Target::Kind::AArch64, 0}));
  EXPECT_EQ(find_target("cpu"), host_target());
  for (const char* bad : {"", "90", "sm_", "sm_9", "sm_90x", "sm_90aa", "compute_90", "sm_1234", "SM_90"})
    EXPECT_FALSE(find_target(bad)) << bad;
}

TEST(Target, NamesItself) {
  EXPECT_EQ(Target::gpu(80).name(), "sm_80");
  EXPECT_EQ((Target{Target::Kind::Gpu, 90, true}).name(), "sm_90a");
  EXPECT_EQ((Target{Target::Kind::AArch64, 0}).name(), "aarch64");
}

TEST(Target, CpusRunCodeOfTheirKindAndOfLowerLevels) {
  const Target arm = *find_target("aarch64"), two = *find_target("x86-64-v2"),
               four = *find_target("x86-64-v4");
  EXPECT_TRUE(four.runs(two));
  EXPECT_TRUE(four.runs(four));
  EXPECT_TRUE(find_target("x86-64-v4-amx")->runs(four));
  EXPECT_FALSE(four.runs(*find_target("x86-64-v4-amx")));
  EXPECT_FALSE(two.runs(four));
  EXPECT_FALSE(four.runs(arm));
  EXPECT_FALSE(arm.runs(two));
  EXPECT_FALSE(Target::gpu(90).runs(Target::gpu(80)));
}

// What a user says of the suffix changes nothing.
TEST(Target, TheSuffixIsNoChoice) {
  EXPECT_EQ(plain_arch("sm_90a"), "sm_90");
  EXPECT_EQ(plain_arch("sm_120f"), "sm_120");
  EXPECT_EQ(plain_arch("sm_86"), "sm_86");
  EXPECT_EQ(plain_arch("hopper"), "hopper");
  EXPECT_EQ(find_profile("sm_90a")->key, find_profile("sm_90")->key);
  EXPECT_EQ(find_profile("sm_90a")->arch(), "sm_90");
  EXPECT_EQ(find_profile("sm_100a")->key, "b200");
}

// GCC knows the levels by name.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
TEST(HostTarget, IsTheLevelThatTheCompilerSays) {
  const int said = __builtin_cpu_supports("x86-64-v4") ? 4 : __builtin_cpu_supports("x86-64-v3") ? 3 : 2;
  Target here = *host_target();
  if (here.has_matrix_tiles()) {
    EXPECT_TRUE(__builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-tile"));
    here.level = 4;
  }
  EXPECT_EQ(here, (Target{Target::Kind::X86_64, said}));
}
#endif

}  // namespace
}  // namespace rondo::target
