// Each operator at points, its printed text, and the builder's own errors.
#include "compiler/constraint/expression.h"

#include <gtest/gtest.h>

#include <array>

#include "compiler/constraint/system.h"

namespace rondo::constraint {
namespace {

std::optional<Value> at(const Expr& e, std::vector<Value> point = {}) { return evaluate(*e.node(), point); }
std::optional<Value> at(const Condition& c, std::vector<Value> point = {}) {
  return evaluate(*c.node(), point);
}

const Expr kNone = floor_div(1, 0);

TEST(Expression, Arithmetic) {
  EXPECT_EQ(at(Expr(7) + -9), -2);
  EXPECT_EQ(at(Expr(7) - -9), 16);
  EXPECT_EQ(at(Expr(7) * -9), -63);
  EXPECT_EQ(at(-Expr(7)), -7);
  EXPECT_EQ(at(min(3, -4)), -4);
  EXPECT_EQ(at(max(3, -4)), 3);
}

TEST(Expression, DivisionsRoundByName) {
  EXPECT_EQ(at(floor_div(7, 2)), 3);
  EXPECT_EQ(at(floor_div(-7, 2)), -4);
  EXPECT_EQ(at(floor_div(7, -2)), -4);
  EXPECT_EQ(at(floor_div(-7, -2)), 3);
  EXPECT_EQ(at(ceil_div(7, 2)), 4);
  EXPECT_EQ(at(ceil_div(-7, 2)), -3);
  EXPECT_EQ(at(ceil_div(7, -2)), -3);
  EXPECT_EQ(at(ceil_div(-7, -2)), 4);
  EXPECT_EQ(at(mod(7, 3)), 1);
  EXPECT_EQ(at(mod(-7, 3)), 2);
  EXPECT_EQ(at(mod(7, -3)), -2);
  EXPECT_EQ(at(mod(-7, -3)), -1);
}

TEST(Expression, ComparisonsAndConnectives) {
  EXPECT_EQ(at(Expr(2) == 2), 1);
  EXPECT_EQ(at(Expr(2) != 2), 0);
  EXPECT_EQ(at(Expr(2) < 2), 0);
  EXPECT_EQ(at(Expr(2) <= 2), 1);
  EXPECT_EQ(at(Expr(2) > 1), 1);
  EXPECT_EQ(at(Expr(2) >= 3), 0);
  EXPECT_EQ(at(5 == Expr(5)), 1);
  EXPECT_EQ(at(divides(4, 12)), 1);
  EXPECT_EQ(at(divides(-5, 12)), 0);
  EXPECT_EQ(at(divides(5, 0)), 1);
  const Condition yes = Expr(1) == 1, no = Expr(1) == 2;
  EXPECT_EQ(at(yes && no), 0);
  EXPECT_EQ(at(yes || no), 1);
  EXPECT_EQ(at(!no), 1);
  EXPECT_EQ(at(implies(no, no)), 1);
  EXPECT_EQ(at(implies(yes, no)), 0);
  EXPECT_EQ(at(when(yes, 3, 4)), 3);
  EXPECT_EQ(at(when(no, 3, 4)), 4);
  const std::array<Value, 2> list{3, 5};
  EXPECT_EQ(at(one_of(5, list)), 1);
  EXPECT_EQ(at(one_of(4, list)), 0);
}

TEST(Expression, WhatHasNoValueIsNeitherTrueNorFalse) {
  EXPECT_EQ(at(kNone), std::nullopt);
  EXPECT_EQ(at(kNone == 1), std::nullopt);
  EXPECT_EQ(at(!(kNone == 1)), std::nullopt);
  EXPECT_EQ(at(divides(0, 4)), std::nullopt);
  EXPECT_EQ(at(mod(4, 0)), std::nullopt);
  const Condition yes = Expr(1) == 1, no = Expr(1) == 2, unknown = kNone == 1;
  EXPECT_EQ(at(no && unknown), 0);
  EXPECT_EQ(at(yes && unknown), std::nullopt);
  EXPECT_EQ(at(unknown || yes), 1);
  EXPECT_EQ(at(unknown || no), std::nullopt);
  EXPECT_EQ(at(implies(no, unknown)), 1);
  EXPECT_EQ(at(when(yes, 3, kNone)), 3);
  EXPECT_EQ(at(when(unknown, 3, 3)), std::nullopt);
}

TEST(Expression, OverflowHasNoValue) {
  EXPECT_EQ(at(Expr(kMost) + 1), std::nullopt);
  EXPECT_EQ(at(Expr(kLeast) - 1), std::nullopt);
  EXPECT_EQ(at(Expr(kMost) * 2), std::nullopt);
  EXPECT_EQ(at(-Expr(kLeast)), std::nullopt);
  EXPECT_EQ(at(floor_div(kLeast, -1)), std::nullopt);
  EXPECT_EQ(at(ceil_div(kLeast, -1)), std::nullopt);
  EXPECT_EQ(at(mod(kLeast, -1)), 0);
  EXPECT_EQ(at(Expr(kMost) * 1), kMost);
}

TEST(Expression, PrintsWithTheFewestBrackets) {
  System s;
  const Var a = s.var("a", range(1, 3), ""), b = s.var("b", range(1, 3), ""), c = s.var("c", range(1, 3), "");
  EXPECT_EQ(to_string(a * (b + c) - 2), "a * (b + c) - 2");
  EXPECT_EQ(to_string(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(to_string(a + (b + c)), "a + b + c");
  EXPECT_EQ(to_string(ceil_div(a, b * 2) <= min(c, 4)), "ceil_div(a, b * 2) <= min(c, 4)");
  EXPECT_EQ(to_string((a == 1 || b == 2) && !(c > 1)), "(a == 1 or b == 2) and not (c > 1)");
  EXPECT_EQ(to_string(implies(a == 1, divides(b, c))), "a == 1 implies b divides c");
  EXPECT_EQ(to_string(s.define("area", a * b, "") * a), "area * a");
}

TEST(Expression, ConstantsMustFit) {
  EXPECT_THROW(Expr(std::uint64_t{1} << 63), std::logic_error);
  EXPECT_EQ(at(Expr(std::uint64_t{1} << 62)), Value{1} << 62);
}

}  // namespace
}  // namespace rondo::constraint
