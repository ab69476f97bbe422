// Propagation strength where it matters, limits, stopping, overflow, determinism, and FlashRNN's space.
#include "compiler/constraint/solver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/constraint/all_solutions.h"
#include "tests/constraint/fused_lstm.h"
#include "tests/constraint/random_system.h"

namespace rondo::constraint {
namespace {

using List = std::vector<Value>;

TEST(Propagation, ProductsLeaveOnlyDivisors) {
  System s;
  const Var a = s.var("a", range(1, 1000), ""), b = s.var("b", range(1, 1000), ""),
            c = s.var("c", range(3, 5), "");
  s.require(a * b * c * 4 == 48, "cover");
  const auto left = propagated(s);
  ASSERT_TRUE(left);
  EXPECT_EQ((*left)[0], (List{1, 2, 3, 4}));
  EXPECT_EQ((*left)[2], (List{3, 4}));
}

TEST(Propagation, DividesAndMultiples) {
  System s;
  const Var tile = s.var("tile", range(1, 100), ""), size = s.var("size", range(1, 100), "");
  s.require(divides(tile * 16, 96), "tiles");
  s.require(divides(24, size), "rows");
  const auto left = propagated(s);
  EXPECT_EQ((*left)[0], (List{1, 2, 3, 6}));
  EXPECT_EQ((*left)[1], (List{24, 48, 72, 96}));
}

TEST(Propagation, BoundsGoDownThroughEveryOperator) {
  System s;
  const auto var = [&](const std::string& name) { return s.var(name, range(0, 1000), ""); };
  const Var a = var("a"), b = var("b"), c = var("c"), d = var("d"), e = var("e"), f = var("f");
  s.require(ceil_div(a, 8) <= 3, "ceil");
  s.require(floor_div(b, 8) >= 3 && b + 1 <= 30, "floor");
  s.require(min(c, 7) >= 5 && max(c, 2) <= 9, "min max");
  s.require(3 * d - 4 == 20, "linear");
  s.require(implies(d == 8, e > 998), "implication");
  s.require(when(d == 8, f, 1000 - f) < 2, "when");
  const auto left = propagated(s);
  ASSERT_TRUE(left);
  const auto ends = [&](std::size_t v) { return std::pair((*left)[v].front(), (*left)[v].back()); };
  EXPECT_EQ(ends(0), (std::pair<Value, Value>(0, 24)));
  EXPECT_EQ(ends(1), (std::pair<Value, Value>(24, 29)));
  EXPECT_EQ(ends(2), (std::pair<Value, Value>(5, 9)));
  EXPECT_EQ(ends(3), (std::pair<Value, Value>(8, 8)));
  EXPECT_EQ(ends(4), (std::pair<Value, Value>(999, 1000)));
  EXPECT_EQ(ends(5), (std::pair<Value, Value>(0, 1)));
}

TEST(Solver, OverflowNeverSatisfies) {
  System s;
  const Var a = s.var("a", values({2, Value{1} << 40, kMost}), ""),
            b = s.var("b", values({3, Value{1} << 40, kMost}), "");
  s.require(a * b <= 1000, "wrapping would allow 2^80 and kMost * kMost");
  EXPECT_EQ(find_all(s).solutions.size(), 1u);
  System t;
  const Var c = t.var("c", values({1, kMost}), "");
  t.require(c + 1 >= 0, "sum");
  t.require(!(c + 1 < 0), "negation");
  EXPECT_EQ(find_all(t).solutions.size(), 1u);
  System u;
  const Var d = u.var("d", values({kLeast, -1, 0, 1}), "");
  u.require(floor_div(kLeast, d) != 0, "quotient");
  EXPECT_EQ(find_all(u).solutions.size(), 2u);  // not -1 (overflow), not 0
}

TEST(Solver, FreeVariablesTakeAllTheirValues) {
  System t;
  t.var("a", range(1, 1000), "");
  const Var b = t.var("b", range(1, 1000), "");
  t.require(b * b <= 100, "square");
  EXPECT_EQ(count(t), 10'000u);
}

TEST(Solver, EmptySystemAndEmptyDomain) {
  EXPECT_EQ(count(System()), 1u);
  EXPECT_TRUE(find_first(System()).value().solution.has_value());
  System s;
  s.var("a", values({}), "");
  EXPECT_EQ(count(s), 0u);
  System t;
  t.require(Expr(1) == 2, "never");
  EXPECT_FALSE(find_first(t).value().solution);
}

System pigeons(int holes) {
  System s;
  std::vector<Var> birds;
  for (int i = 0; i <= holes; ++i) birds.push_back(s.var(fmt::format("bird{}", i), range(1, holes), ""));
  for (std::size_t i = 0; i < birds.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) s.require(birds[i] != birds[j], "one a hole");
  }
  return s;
}

TEST(Solver, LimitsAreReported) {
  const System hard = pigeons(11);
  const auto cut = find_first(hard, {.nodes = 1000});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::Cancelled);
  EXPECT_NE(cut.error().message.find("node limit after 1000 nodes"), std::string::npos);
  EXPECT_FALSE(find_first(hard, {.time = std::chrono::nanoseconds(0)}));
  const SearchStats stats = enumerate(hard, [](const Assignment&) { return true; }, {.nodes = 1000});
  EXPECT_EQ(stats.outcome, Outcome::NodeLimit);
  EXPECT_EQ(stats.nodes, 1000u);
  EXPECT_EQ(
      enumerate(hard, [](const Assignment&) { return true; }, {.time = std::chrono::nanoseconds(0)}).outcome,
      Outcome::TimeLimit);
  EXPECT_FALSE(find_first(pigeons(6)).value().solution);
}

TEST(Solver, StopsWhenAsked) {
  System s;
  s.var("a", range(1, 100), "");
  int seen = 0;
  const SearchStats stats = enumerate(s, [&](const Assignment&) { return ++seen < 5; });
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(stats.outcome, Outcome::Stopped);
  EXPECT_EQ(stats.solutions, 5u);
}

TEST(Solver, SameOrderEveryTime) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const All one = find_all(test::random_system(seed).system);
    const All two = find_all(test::random_system(seed).system);
    ASSERT_EQ(one.solutions, two.solutions);
    ASSERT_EQ(one.stats.nodes, two.stats.nodes);
    ASSERT_EQ(one.stats.revisions, two.stats.revisions);
  }
}

// Nodes stand for time here: a node costs some microseconds (benchmarks/constraint_bench.cpp measures).
TEST(FusedLstm, FirstSolutionIsNear) {
  for (const Value head_dim : {64, 256, 512, 768, 1024, 2048}) {
    example::FusedShape shape;
    shape.head_dim = head_dim;
    const First both = find_first(example::fused_both(shape), {.nodes = 500}).value();
    ASSERT_TRUE(both.solution) << head_dim;
    EXPECT_TRUE(example::fused_both(shape).violated(*both.solution).empty());
  }
}

TEST(FusedLstm, AllSolutionsAreWithinReach) {
  const example::FusedShape shape;
  for (const System& system : {example::fused_forward(shape), example::fused_backward(shape)}) {
    const All all = find_all(system, {.nodes = 100'000});
    EXPECT_GT(all.solutions.size(), 10'000u);
    EXPECT_EQ(all.stats.solutions, all.solutions.size());
    for (const Assignment& solution : all.solutions) ASSERT_TRUE(system.violated(solution).empty());
    // Few nodes lead nowhere: propagation, not search, does the work.
    EXPECT_LT(all.stats.nodes, 2 * all.stats.solutions);
  }
}

// Nested loops over the same rules, written by hand for a shape small enough to walk.
std::uint64_t fused_by_loops(const example::FusedShape& shape, Value out, Value along) {
  std::uint64_t found = 0;
  const auto tiles = [&](Value tb, Value to, Value co, Value ca, Value cb, Value wa, Value wb, Value lb,
                         Value lo) {
    const Value lhs = wa * wb * out, per_warp = co * lo * to;
    if (lhs % per_warp != 0 || along % (ca * wa * 16) != 0 || out % per_warp != 0) return;
    if (shape.batch % (cb * wb * lb * tb) != 0) return;
    const Value warps = lhs / per_warp, blocks = co * ca * cb;
    if (warps < 1 || warps * 32 > shape.threads || blocks > shape.multiprocessors) return;
    for (Value cached = 1; cached * ca * wa * 16 <= along; ++cached) {
      const Value held = 16 * to * cached * warps;
      if (held % (256 * wb) != 0) continue;
      const Value halves = held / wb;
      if (halves < 256 || halves > shape.register_halves) continue;
      if (halves + warps * tb * to * lb * 2 + warps * tb * 16 > shape.register_halves) continue;
      const Value left = cb * (2 * out * along + 16 * out) + 64 - 2 * halves * blocks;
      const Value sums = 4 * wa * ca * cb * wb * lb * tb * (out + co * 8);
      if (left >= 1 && left + sums <= shape.shared_bytes * blocks) ++found;
    }
  };
  for (const Value tb : {8, 16, 32})
    for (Value co = 1; co <= std::min(out, shape.multiprocessors); ++co)
      for (Value ca = 1; ca <= std::min(along, shape.multiprocessors / co); ++ca)
        for (Value cb = 1; cb <= std::min(shape.batch, shape.multiprocessors / (co * ca)); ++cb)
          for (Value wa = 1; wa <= along / 16; ++wa)
            for (Value wb = 1; wb <= shape.batch / cb; ++wb)
              for (Value lb = 1; lb <= 4; ++lb)
                for (Value lo = 1; lo <= out / co; ++lo)
                  if (ca * wa * 16 <= along) tiles(tb, 256 / tb, co, ca, cb, wa, wb, lb, lo);
  return found;
}

TEST(FusedLstm, EqualsNestedLoops) {
  example::FusedShape shape;
  shape.head_dim = 64;
  EXPECT_EQ(count(example::fused_forward(shape)), fused_by_loops(shape, 256, 64));
  EXPECT_EQ(count(example::fused_backward(shape)), fused_by_loops(shape, 64, 256));
}

}  // namespace
}  // namespace rondo::constraint
