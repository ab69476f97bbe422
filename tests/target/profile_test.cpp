#include "compiler/target/profile.h"

#include <gtest/gtest.h>

#include <set>

namespace rondo::target {
namespace {

TEST(Profile, EveryArchitectureHasOne) {
  std::set<std::string> archs;
  for (const Profile& p : shipped_profiles()) archs.insert(p.arch());
  EXPECT_EQ(archs, (std::set<std::string>{"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}));
}

TEST(Profile, FoundByKeyNameAndArchitecture) {
  EXPECT_EQ(find_profile("h200")->name, "NVIDIA H200");
  EXPECT_EQ(find_profile("NVIDIA H200")->key, "h200");
  EXPECT_EQ(find_profile("sm_90")->key, "h200");
  EXPECT_EQ(find_profile("sm_80")->key, "a100");
  const auto none = find_profile("sm_10");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Input);
  EXPECT_NE(none.error().message.find("sm_10"), std::string::npos);
  EXPECT_NE(none.error().hint.find("rtx4090 (sm_89)"), std::string::npos);
}

TEST(Profile, JsonKeepsEveryField) {
  for (Profile p : shipped_profiles()) {
    p.limits.l2_bytes += 7;
    p.speeds.launch_s *= 1.25;
    const auto back = profile_from_json(to_json(p));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), to_json(p));
    EXPECT_EQ(back->limits.l2_bytes, p.limits.l2_bytes);
    EXPECT_EQ(back->speeds.launch_s, p.speeds.launch_s);
  }
}

TEST(Profile, SpeedsThatCameLaterMayBeMissing) {
  const Profile h200 = find_profile("h200").value();
  std::string text = to_json(h200);
  for (const std::string name : {"\"graph_launch_s\"", "\"l2_bytes_per_s\"", "\"mma_flops_per_cycle_sm\""}) {
    const std::size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos);
    text.insert(at + 1, "not_");
  }
  const auto back = profile_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->speeds.l2_bytes_per_s, h200.speeds.l2_bytes_per_s);
  EXPECT_EQ(back->speeds.graph_launch_s, Speeds{}.graph_launch_s);
  EXPECT_EQ(back->speeds.mma_flops_per_cycle_sm, Speeds{}.mma_flops_per_cycle_sm);
}

TEST(Profile, BadJsonIsAnError) {
  for (const char* text : {"", "{", "[]", "{\"name\": 3}", "{\"name\":\"x\",\"key\":\"y\"}"}) {
    const auto parsed = profile_from_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::Input);
  }
}

}  // namespace
}  // namespace rondo::target
