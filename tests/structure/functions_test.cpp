// The search for functions, on sources that are easy to misread.
#include "tests/structure/functions.h"

#include <gtest/gtest.h>

namespace rondo::structure {
namespace {

// "name first-last" of each function.
std::vector<std::string> found(std::string_view source) {
  const FunctionsOfFile read = functions_of(source);
  EXPECT_FALSE(read.unclosed.has_value()) << *read.unclosed;
  std::vector<std::string> result;
  for (const Function& function : read.functions)
    result.push_back(function.name + " " + std::to_string(function.first_line) + "-" +
                     std::to_string(function.last_line));
  return result;
}
using Names = std::vector<std::string>;

TEST(Functions, OfNamespacesAndClasses) {
  EXPECT_EQ(found("namespace a::b {\nint f(int x) {\n  return x;\n}\nnamespace {\nvoid g() {}\n}\n}\n"),
            (Names{"f 2-4", "g 6-6"}));
  EXPECT_EQ(found("class C final : public B {\n public:\n  C() = default;\n  int f() const { return 1; }\n"
                  "  struct D { void g() noexcept(true) {} };\n private:\n  int x_{3}, y_ = 4;\n};\n"),
            (Names{"f 4-4", "g 5-5"}));
  EXPECT_EQ(found("std::vector<int>\nC::D::f(std::array<int, 3> a) const& {\n}\nC::~C() {\n}\n"),
            (Names{"C::D::f 1-3", "C::~C 4-5"}));
  EXPECT_EQ(found("extern \"C\" {\nvoid f() {}\n}\nextern \"C\" void g() {}\n"), (Names{"f 2-2", "g 4-4"}));
}

TEST(Functions, TrailingParts) {
  EXPECT_EQ(found("auto f(int a = g({1, 2})) -> std::vector<decltype(a)> {\n}\n"), (Names{"f 1-2"}));
  EXPECT_EQ(found("C::C(int a)\n    : a_(a), b_{a, {1}}, D<int>{a}, c_([] { return 1; }) {\n}\nint g() {}\n"),
            (Names{"C::C 1-3", "g 4-4"}));
  EXPECT_EQ(
      found("template <class T = std::vector<int>, int n = (3 > 2)>\n  requires(n > 0)\nint f(T t) {\n}\n"),
      (Names{"f 1-4"}));
  EXPECT_EQ(found("template <class T>\n  requires requires(T t) { t.x(); }\nint f(T t) {\n}\n"),
            (Names{"f 1-4"}));
}

TEST(Functions, Operators) {
  EXPECT_EQ(found("using B::operator=;\nbool operator==(A a, A b) { return true; }\nA& A::operator=(const A& "
                  "a) {\n}\n"
                  "int C::operator()(int x) const {\n}\nC::operator bool() const {\n}\n"),
            (Names{"operator== 2-2", "A::operator= 3-4", "C::operator() 5-6", "C::operator bool 7-8"}));
}

TEST(Functions, WhatIsNone) {
  EXPECT_EQ(found("constexpr int kTable[] = {\n1, f(2),\n};\nstruct alignas(16) S {\n int x;\n};\n"
                  "enum class E : int { A, B };\nstd::map<int, int(int)> m{{1, f}};\nint f(int);\n"
                  "template <class T>\nconcept C = requires(T t) { t.x(); };\n"),
            Names{});
}

TEST(Functions, LambdasArePartsButOfVariables) {
  EXPECT_EQ(
      found(
          "void f() {\n  const auto g = [](int x) {\n    return x;\n  };\n  struct L { void h() {} };\n}\n"),
      (Names{"f 1-6"}));
  EXPECT_EQ(found("const auto g = [](int x) -> int {\n  return x;\n};\n"
                  "std::function<int(int)> h = [](int x) { return x; };\n"),
            (Names{"g 1-3", "h 4-4"}));
}

TEST(Functions, TextIsNoCode) {
  EXPECT_EQ(found("// void a() {\n/* { \" */ #define X {\nvoid f() {\n  g(\"}\\\"}\", '}', '\\'', 1'000'000, "
                  "R\"x(})\"} )x\");\n}\n"
                  "#define OPEN { \\\n  {\nvoid h() {}\n"),
            (Names{"f 3-5", "h 8-8"}));
}

TEST(Functions, TestsHaveTheNamesOfTheirMacro) {
  EXPECT_EQ(found("TEST(Suite, Name) {\n}\n"), (Names{"TEST(Suite, Name) 1-2"}));
}

TEST(Functions, UnclosedBrackets) {
  EXPECT_EQ(functions_of("void f() {\n  if (x) {\n}\n").unclosed, 1);
  EXPECT_EQ(functions_of("namespace a {\nvoid f() {}\n").unclosed, 1);
  EXPECT_EQ(functions_of("int x;\nvoid f(int a;\n").unclosed, 2);
}

}  // namespace
}  // namespace rondo::structure
