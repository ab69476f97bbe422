// Two spaces as one, against both of them.
#include "compiler/constraint/united.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/constraint/all_solutions.h"

namespace rondo::constraint {
namespace {

using Point = std::map<std::string, Value>;

System whole() {
  System s;
  const Var parts = s.var("parts", values({1}), "parts");
  const Var width = s.var("width", range(1, 6), "width");
  const Var heads = s.var("heads", range(1, 3), "heads");
  const Expr threads = s.define("threads", width * heads + parts - 1, "threads");
  s.require(threads <= 9, "threads a block");
  s.require(threads >= 4, "work");
  return s;
}

System cut() {
  System s;
  const Var width = s.var("width", values({2, 4, 8}), "width");
  const Var depth = s.var("depth", range(1, 2), "depth");
  const Var parts = s.var("parts", values({2, 4}), "parts");
  const Expr threads = s.define("threads", width * parts, "threads");
  s.require(threads <= 16, "threads a block");
  s.require(implies(depth == 2, parts == 2), "depth");
  return s;
}

// The points of a system; variables that it has not stand at `missing`.
std::set<Point> points(const System& system, const Point& missing) {
  std::set<Point> all;
  for (const Assignment& at : find_all(system).solutions) {
    Point point = missing;
    for (std::size_t i = 0; i < system.domains().size(); ++i)
      point[system.names().variables[i].name] = at.values()[i];
    all.insert(point);
  }
  return all;
}

TEST(United, HasThePointsOfBoth) {
  const System both = united(whole(), cut(), {"parts", "_cut"});
  std::set<Point> expected = points(whole(), {{"depth", 1}});
  EXPECT_FALSE(expected.empty());
  const std::set<Point> second = points(cut(), {{"heads", 1}});
  EXPECT_FALSE(second.empty());
  expected.insert(second.begin(), second.end());
  EXPECT_EQ(points(both, {}), expected);
}

TEST(United, QuantitiesKeepTheirNames) {
  const System both = united(whole(), cut(), {"parts", "_cut"});
  const auto at = both.check({{"parts", 4}, {"width", 4}, {"heads", 1}, {"depth", 1}});
  ASSERT_TRUE(at) << at.error().message;
  EXPECT_EQ((*at)["threads_cut"], 16);
  const auto wide = both.check({{"parts", 4}, {"width", 8}, {"heads", 1}, {"depth", 1}});
  ASSERT_FALSE(wide);
  EXPECT_NE(wide.error().message.find("threads_cut <= 16"), std::string::npos) << wide.error().message;
}

TEST(United, SelectorMustTellThemApart) {
  EXPECT_THROW(united(cut(), cut(), {"parts", "_cut"}), std::logic_error);
  EXPECT_THROW(united(cut(), whole(), {"parts", "_cut"}), std::logic_error);
  EXPECT_THROW(united(whole(), cut(), {"heads", "_cut"}), std::logic_error);
  EXPECT_THROW(united(whole(), cut(), {"nothing", "_cut"}), std::logic_error);
}

}  // namespace
}  // namespace rondo::constraint
