// What a user is told when nothing fits.
#include "compiler/constraint/explain.h"

#include <gtest/gtest.h>

#include "tests/constraint/fused_lstm.h"

namespace rondo::constraint {
namespace {

struct Ring {
  System s;
  Var channels = s.var("channels", powers_of_two(64, 256), "channels a CTA");
  Var stages = s.var("stages", range(2, 8), "stages of the input ring");
  Var unrelated = s.var("unrelated", range(1, 9), "nothing to do with it");
  Expr bytes = s.define("smem_bytes", stages * 500 * channels, "bytes of shared memory");
  Ring() {
    s.require(unrelated >= 4, "an innocent rule");
    s.require(channels * 3 >= 300, "coalesced loads");
    s.require(stages > 4, "latency of the loads");
  }
};

TEST(Explain, NamesTheResourceTheNumbersAndThePlace) {
  Ring ring;
  ring.s.require(ring.bytes <= 232448, "shared memory");
  const Explanation explanation = explain(ring.s).value();
  ASSERT_EQ(explanation.conflict.size(), 3u);
  EXPECT_TRUE(explanation.minimal);
  const ConflictMember& memory = explanation.conflict[2];
  EXPECT_EQ(memory.label, "shared memory");
  EXPECT_EQ(memory.rule, "smem_bytes <= 232448");
  EXPECT_EQ(memory.shortfall->kind, Shortfall::Kind::TooLarge);
  EXPECT_EQ(memory.shortfall->attained, 320000);
  EXPECT_EQ(memory.shortfall->limit, 232448);
  EXPECT_TRUE(memory.shortfall->under_all_rules);
  EXPECT_EQ(memory.place, "channels = 128, stages = 5");
  EXPECT_EQ(explanation.text,
            "coalesced loads: at most 192, 300 needed; latency of the loads: at most 3 stages of the input "
            "ring, 5 needed; shared memory: at least 320000 bytes of shared memory, the limit is 232448");
}

TEST(Explain, ASingleRule) {
  Ring ring;
  ring.s.require(232448 >= ring.bytes * 2 + 1'000'000, "shared memory");
  const Explanation explanation = explain(ring.s).value();
  ASSERT_EQ(explanation.conflict.size(), 1u);
  EXPECT_EQ(explanation.conflict[0].text, "shared memory: at least 1640000, the limit is 232448");
  EXPECT_EQ(explanation.text, explanation.conflict[0].text);
  EXPECT_EQ(explanation.conflict[0].place, "channels = 128, stages = 5");
}

TEST(Explain, BothSidesMayVary) {
  System s;
  const Var need = s.var("need", range(10, 20), "rows needed"),
            have = s.var("have", range(1, 7), "rows there");
  s.require(need <= have, "rows");
  const Explanation explanation = explain(s).value();
  EXPECT_EQ(explanation.conflict[0].text, "rows: at least 10 rows needed, the limit is 7");
  EXPECT_EQ(explanation.conflict[0].place, "need = 10, have = 7");
}

TEST(Explain, EqualityTellsTheClosest) {
  System s;
  const Var a = s.var("a", values({3, 5}), "tile"), b = s.var("b", values({4, 6}), "count");
  s.require(a * b == 16, "tiles cover the head");
  const Explanation explanation = explain(s).value();
  EXPECT_EQ(explanation.conflict[0].shortfall->kind, Shortfall::Kind::Unequal);
  EXPECT_EQ(explanation.conflict[0].text, "tiles cover the head: no closer than 18 to 16");
  EXPECT_EQ(explanation.conflict[0].place, "a = 3, b = 6");
}

TEST(Explain, RulesWithoutANumber) {
  System s;
  const Var a = s.var("a", values({3, 5}), "tile");
  s.require(divides(a, 16), "tiles are whole");
  const Explanation explanation = explain(s).value();
  EXPECT_EQ(explanation.conflict[0].shortfall->kind, Shortfall::Kind::Other);
  EXPECT_EQ(explanation.conflict[0].text, "tiles are whole");
  EXPECT_EQ(explanation.conflict[0].rule, "a divides 16");
  EXPECT_EQ(explanation.conflict[0].place, "a = 3");
}

TEST(Explain, TheRuleCanSpeakForItself) {
  Ring ring;
  ring.s.require(ring.bytes <= 232448, "shared memory", [&](const Assignment& a) {
    return "a ring of " + std::to_string(a[ring.stages]) + " stages takes " +
           std::to_string(a["smem_bytes"] / 1000) + " KB; the GPU has 227 KB";
  });
  const Explanation explanation = explain(ring.s).value();
  EXPECT_EQ(explanation.conflict[2].text,
            "shared memory: a ring of 5 stages takes 320 KB; the GPU has 227 KB");
}

TEST(Explain, OverflowingRulesStillHaveAPlace) {
  System s;
  const Var a = s.var("a", range(2, 3), "");
  s.require(a * kMost <= a, "too far");
  const Explanation explanation = explain(s).value();
  ASSERT_TRUE(explanation.conflict[0].shortfall);
  EXPECT_EQ(explanation.conflict[0].shortfall->kind, Shortfall::Kind::Other);
}

// A strict rule says what it allows, not the number that it excludes.
TEST(Explain, StrictRulesNameWhatTheyAllow) {
  System s;
  const Var a = s.var("a", range(8, 9), "rows");
  s.require(a < 8, "few rows");
  EXPECT_EQ(explain(s).value().text, "few rows: at least 8 rows, the limit is 7");
  System other;
  const Var c = other.var("c", range(1, 4), "columns");
  other.require(c > 4, "many columns");
  EXPECT_EQ(explain(other).value().text, "many columns: at most 4 columns, 5 needed");
}

// The rules that stand are not named, and the number is one that they allow.
TEST(Explain, LimitsAreToldUnderTheRulesThatStand) {
  Ring ring;
  ring.s.require(implies(ring.unrelated >= 2, ring.bytes <= 232448), "shared memory");
  ring.s.require(implies(ring.unrelated >= 3, ring.bytes <= 100000), "shared memory");
  const Explanation explanation = explain(ring.s, Blame::Limits).value();
  ASSERT_EQ(explanation.conflict.size(), 1u);
  EXPECT_EQ(explanation.text, "shared memory: at least 320000 bytes of shared memory, the limit is 100000");
  Ring contradictory;
  contradictory.s.require(contradictory.channels < 100, "narrow");
  EXPECT_EQ(explain(contradictory.s, Blame::Limits)->text,
            "coalesced loads: at most 192, 300 needed; narrow: at least 128 channels a CTA, the limit is 99");
}

// Two cases of one limit: the one that is missed by the least speaks.
TEST(Explain, MembersWithOneLabelAreToldOnce) {
  System s;
  const Var warps = s.var("warps", range(1, 2), "warps");
  s.require(implies(warps == 1, 300 * warps <= 100), "registers");
  s.require(implies(warps == 2, 60 * warps <= 100), "registers");
  const Explanation explanation = explain(s, Blame::Limits).value();
  EXPECT_EQ(explanation.conflict.size(), 2u);
  EXPECT_EQ(explanation.text, "registers: at least 120, the limit is 100");
}

TEST(Explain, WorkIsCountedAndLimited) {
  example::FusedShape large;
  large.head_dim = 4096;
  const System system = example::fused_forward(large);
  const First found = find_first(system).value();
  EXPECT_FALSE(found.solution);
  EXPECT_GT(found.stats.work, 0u);
  EXPECT_EQ(find_first(system, {.work = found.stats.work}).value().stats.work, found.stats.work);
  EXPECT_FALSE(find_first(system, {.work = 1}));
}

TEST(Explain, EmptyDomain) {
  System s;
  s.var("tile", powers_of_two(33, 63), "rows of a tile");
  const Explanation explanation = explain(s).value();
  EXPECT_EQ(explanation.empty_variables, std::vector<std::string>{"tile"});
  EXPECT_EQ(explanation.text, "'tile' has no value to choose from");
}

TEST(Explain, ASpaceWithSolutionsIsNotExplained) {
  const auto result = explain(Ring().s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Internal);
}

TEST(Explain, LimitsAreReported) {
  example::FusedShape large;
  large.head_dim = 4096;
  const auto unknown = explain(example::fused_forward(large), Blame::AnyRule, {.nodes = 1});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Cancelled);
  // Propagation alone shows that this one is empty, but not that its parts are not.
  Ring ring;
  ring.s.require(ring.bytes <= 232448, "shared memory");
  const Explanation rough = explain(ring.s, Blame::AnyRule, {.nodes = 0}).value();
  EXPECT_FALSE(rough.minimal);
  ASSERT_EQ(rough.conflict.size(), 3u);
  EXPECT_FALSE(rough.conflict[0].shortfall);
  EXPECT_NE(rough.text.find("reached its limit"), std::string::npos);
}

TEST(Explain, AHeadTooLargeForTheChip) {
  example::FusedShape shape;
  shape.head_dim = 4096;
  const Explanation explanation = explain(example::fused_forward(shape)).value();
  EXPECT_TRUE(explanation.minimal);
  ASSERT_EQ(explanation.conflict.size(), 2u);
  EXPECT_EQ(explanation.conflict[0].label, "fw_co-resident CTAs");
  EXPECT_EQ(explanation.conflict[0].shortfall->limit, 132);
  EXPECT_EQ(explanation.conflict[0].shortfall->attained, 512);
  EXPECT_EQ(explanation.conflict[1].label, "fw_shared memory");
  EXPECT_GT(*explanation.conflict[1].shortfall->attained, *explanation.conflict[1].shortfall->limit);
}

}  // namespace
}  // namespace rondo::constraint
