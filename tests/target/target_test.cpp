#include "compiler/target/target.h"

#include <gtest/gtest.h>

#include "compiler/target/profile.h"

namespace rondo::target {
namespace {

TEST(Target, ReadsArchitectureNames) {
  EXPECT_EQ(compute_capability("sm_80"), 80);
  EXPECT_EQ(compute_capability("sm_90a"), 90);
  EXPECT_EQ(compute_capability("sm_120f"), 120);
  for (const char* bad : {"", "90", "sm_", "sm_9", "sm_90x", "sm_90aa", "compute_90", "sm_1234", "SM_90"})
    EXPECT_EQ(compute_capability(bad), 0) << bad;
}

TEST(Target, NamesItself) {
  EXPECT_EQ((Target{80, false}).name(), "sm_80");
  EXPECT_EQ((Target{90, true}).name(), "sm_90a");
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
TEST(HostCapability, IsTheLevelThatTheCompilerSays) {
  const int said = __builtin_cpu_supports("x86-64-v4") ? 4 : __builtin_cpu_supports("x86-64-v3") ? 3 : 2;
  EXPECT_EQ(host_capability(), said);
}
#endif

}  // namespace
}  // namespace rondo::target
