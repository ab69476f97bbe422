// Which parameters explain the spread of times, and peers beside problems.
#include "tuner/report/spread.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/report/peers.h"

namespace rondo::tuner {
namespace {

// Two parameters: `matters` of two values doubles the time, `idle` of two changes nothing.
std::vector<TimedPoint> spread_points() {
  std::vector<TimedPoint> all;
  for (int i = 0; i < 16; ++i)
    all.push_back({{{"matters", i % 2}, {"idle", i / 2 % 2}, {"fixed", 7}}, i % 2 == 0 ? 1e-3 : 2e-3});
  return all;
}

TEST(ExplainedSpread, AParameterThatDecidesExplainsAll) {
  const auto shares = explained_spread(spread_points());
  ASSERT_EQ(shares.size(), 2U) << "a parameter of one value explains nothing";
  EXPECT_EQ(shares[0].parameter, "matters");
  EXPECT_DOUBLE_EQ(shares[0].share, 1);
  EXPECT_EQ(shares[0].values, 2);
  EXPECT_EQ(shares[1].parameter, "idle");
  EXPECT_DOUBLE_EQ(shares[1].share, 0);
}

// By hand: log2 of the times are 0, 1, 2, 3 twice, in groups {0, 0, 1, 1} and {2, 2, 3, 3}. Sums of squares:
// in all 10, between the groups 8, within them 2 of 6 degrees of freedom; (8 - 2 / 6) / 10.
TEST(ExplainedSpread, TakesOffWhatChanceExplains) {
  std::vector<TimedPoint> all;
  for (int i = 0; i < 8; ++i) all.push_back({{{"half", i / 4}}, std::exp2(i / 2)});
  const auto shares = explained_spread(all);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_NEAR(shares[0].share, (8 - 2.0 / 6) / 10, 1e-12);
}

TEST(ExplainedSpread, FewPointsAndEqualTimesExplainNothing) {
  std::vector<TimedPoint> few = spread_points();
  few.resize(7);
  EXPECT_TRUE(explained_spread(few).empty());
  std::vector<TimedPoint> equal = spread_points();
  for (TimedPoint& point : equal) point.seconds = 1e-3;
  EXPECT_TRUE(explained_spread(equal).empty());
  std::vector<TimedPoint> broken = spread_points();
  for (TimedPoint& point : broken) point.seconds = -1;
  EXPECT_TRUE(explained_spread(broken).empty());
}

const char* kRecord = R"({"rows": [
  {"cell": "lstm", "shape": {"B": 16, "T": 1024, "H": 1, "D": 768}, "dtype": "bf16", "pass": "fw", "peer_ms": 4.75,
   "peer": "FlashRNN fused"},
  {"cell": "lstm", "shape": {"B": 16, "T": 1024, "H": 1, "D": 768}, "dtype": "bf16", "pass": "fwbw", "peer_ms": 12},
  {"cell": "gru", "shape": {"B": 1, "T": 1, "H": 1, "D": 1}, "dtype": "bf16", "pass": "fw", "peer_ms": null}]})";

TimedProblem timed_pass(const std::string& pass, double seconds) {
  return {"lstm", {"hash", "h200", "sm_90", {16, 1024, 1, 768}, "bf16", "fast", pass}, seconds};
}

TEST(Peers, StandBesideTheirProblems) {
  const auto rows = peers_from_json(kRecord, "a.json");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  const std::vector<Comparison> all =
      compared(*rows, {timed_pass("fw", 1e-3), timed_pass("fws", 2e-3), timed_pass("bw", 1.5e-3),
                       timed_pass("fws+products", 1e-3), timed_pass("bw+products", 2e-3)});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].problem, "lstm B=16,T=1024,H=1,D=768 bf16 forward on h200");
  EXPECT_DOUBLE_EQ(all[0].seconds, 1e-3);
  EXPECT_DOUBLE_EQ(all[0].peer_s, 4.75e-3);
  EXPECT_EQ(all[0].peer, "FlashRNN fused");
  EXPECT_DOUBLE_EQ(all[1].seconds, 3e-3) << "both passes with products saved, not one of each";
}

TEST(Peers, OfOtherProblemsAreNone) {
  const auto rows = peers_from_json(kRecord, "a.json");
  ASSERT_TRUE(rows);
  TimedProblem other = timed_pass("fw", 1e-3);
  other.problem.shape.B = 8;
  EXPECT_TRUE(compared(*rows, {other, timed_pass("bw", 1e-3)}).empty());
}

TEST(Peers, AFileThatIsNoneSaysWhy) {
  const auto message = [](const char* text) {
    const auto rows = peers_from_json(text, "a.json");
    return rows ? "" : rows.error().message;
  };
  EXPECT_EQ(message("{"), "'a.json' is no JSON");
  EXPECT_EQ(message("{}"), "'a.json' has no row with peer_ms");
  EXPECT_EQ(message("{\"rows\": 3}"), "'a.json' rows is no list");
  EXPECT_EQ(message(R"([{"peer_ms": 1}])"),
            "'a.json'[0]: a row with peer_ms needs the texts cell, dtype and pass");
  EXPECT_EQ(message(R"([{"cell": "a", "dtype": "b", "pass": "c", "peer_ms": -1}])"),
            "'a.json'[0]: peer_ms is no number above zero");
  EXPECT_EQ(message(R"([{"cell": "a", "dtype": "b", "pass": "c", "peer_ms": 1, "shape": {"B": 0}}])"),
            "'a.json'[0]: shape has not the whole numbers B, T, H and D");
}

}  // namespace
}  // namespace rondo::tuner
