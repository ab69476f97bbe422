// Domains, declaration errors, assignments, and points chosen by hand.
#include "compiler/constraint/system.h"

#include <gtest/gtest.h>

#include "compiler/constraint/solver.h"

namespace rondo::constraint {
namespace {

TEST(Domain, Kinds) {
  EXPECT_EQ(values({5, 1, 5, -2}).values(), (std::vector<Value>{-2, 1, 5}));
  EXPECT_EQ(range(2, 11, 4).values(), (std::vector<Value>{2, 6, 10}));
  EXPECT_EQ(range(3, 2).values().size(), 0u);
  EXPECT_EQ(powers_of_two(3, 64).values(), (std::vector<Value>{4, 8, 16, 32, 64}));
  EXPECT_EQ(powers_of_two(-7, 2).values(), (std::vector<Value>{1, 2}));
  EXPECT_EQ(range(kMost - 1, kMost).values().size(), 2u);
  EXPECT_THROW(range(1, 5, 0), std::logic_error);
  EXPECT_THROW(range(kLeast, kMost), std::length_error);
}

TEST(Domain, Text) {
  EXPECT_EQ(values({16, 32}).to_string(), "16, 32");
  EXPECT_EQ(range(1, 768).to_string(), "1 to 768");
  EXPECT_EQ(range(1, 99, 2).to_string(), "1, 3, 5, ..., 99");
}

TEST(System, DeclarationErrors) {
  System s, other;
  const Var a = s.var("a", range(1, 3), "");
  const Var foreign = other.var("b", range(1, 3), "");
  EXPECT_THROW(s.var("a", range(1, 3), ""), std::logic_error);
  EXPECT_THROW(s.define("a", a * 2, ""), std::logic_error);
  EXPECT_THROW(s.var("", range(1, 3), ""), std::logic_error);
  EXPECT_THROW(s.require(foreign == 1, "rule"), std::logic_error);
  EXPECT_THROW(s.define("d", foreign + 1, ""), std::logic_error);
  EXPECT_THROW(s.require(a == 1, ""), std::logic_error);
}

struct StagedRing {
  System s;
  Var channels = s.var("channels", powers_of_two(16, 256), "channels a CTA");
  Var stages = s.var("stages", range(2, 8), "stages of the input ring");
  Expr bytes = s.define("smem_bytes", stages * 128 * channels, "bytes of shared memory");
  StagedRing() { s.require(bytes <= 65536, "shared memory"); }
};

TEST(System, AssignmentLookup) {
  const StagedRing ring;
  const Assignment a = ring.s.check({{"channels", 64}, {"stages", 4}}).value();
  EXPECT_EQ(a[ring.channels], 64);
  EXPECT_EQ(a["stages"], 4);
  EXPECT_EQ(a["smem_bytes"], 32768);
  EXPECT_EQ(a.value(ring.bytes * 2), 65536);
  EXPECT_TRUE(a.holds(ring.channels > ring.stages));
  EXPECT_EQ(a.to_string(), "channels = 64, stages = 4, smem_bytes = 32768");
  EXPECT_THROW(a["warps"], std::logic_error);
}

TEST(System, AssignmentOutlivesItsSystem) {
  std::optional<Assignment> kept;
  {
    StagedRing ring;
    kept = find_first(ring.s).value().solution;
    ring.s.var("later", range(1, 2), "");
  }
  EXPECT_EQ(kept->to_string(), "channels = 16, stages = 2, smem_bytes = 4096");
}

TEST(System, AQuantityWithoutValueIsAnError) {
  System s;
  const Var a = s.var("a", range(0, 1), "");
  s.define("inverse", floor_div(1, a), "");
  const Assignment zero = s.check({{"a", 0}}).value();
  EXPECT_THROW(zero["inverse"], std::logic_error);
  EXPECT_EQ(zero.to_string(), "a = 0");
}

TEST(System, CheckNamesWhatIsWrong) {
  const StagedRing ring;
  const auto missing = ring.s.check({{"channels", 64}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::Input);
  EXPECT_EQ(missing.error().message, "no value for 'stages' (stages of the input ring)");
  const auto outside = ring.s.check({{"channels", 65}, {"stages", 4}});
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message, "'channels' = 65 is not allowed (channels a CTA)");
  EXPECT_EQ(outside.error().hint, "choose from 16, 32, 64, 128, 256");
  const auto unknown = ring.s.check({{"channels", 64}, {"stages", 4}, {"warps", 1}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "there is no variable 'warps' to set");
  EXPECT_EQ(unknown.error().hint, "the variables are channels, stages");
  const auto broken = ring.s.check({{"channels", 256}, {"stages", 8}});
  ASSERT_FALSE(broken);
  EXPECT_EQ(
      broken.error().message,
      "shared memory: smem_bytes <= 65536 does not hold (channels = 256, stages = 8, smem_bytes = 262144)");
}

TEST(System, CopiesAreIndependent) {
  StagedRing ring;
  System copy = ring.s;
  copy.require(ring.channels == 16, "narrow");
  copy.var("more", range(1, 2), "");
  EXPECT_EQ(ring.s.constraints().size(), 1u);
  EXPECT_EQ(ring.s.names().variables.size(), 2u);
  EXPECT_EQ(copy.names().variables.size(), 3u);
}

}  // namespace
}  // namespace rondo::constraint
