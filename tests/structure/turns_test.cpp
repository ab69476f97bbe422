// The rule finds a test that waits for its turn and whose cases take turns, wherever either is said.
#include "tests/structure/turns.h"

#include <gtest/gtest.h>

namespace rondo::structure {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kSkip = "  if (testing::waits_for_its_turn()) GTEST_SKIP() << testing::kAnotherTurn;\n";
constexpr const char* kTakes = "  for (int i = 0; i < 9; ++i)\n    if (testing::has_turn(i)) check(i);\n";

Texts found(const std::string& text) {
  Texts texts;
  for (const Finding& finding : check_turns({{"tests/low/a_test.cpp", text}}))
    texts.push_back(finding.text());
  return texts;
}

Texts of(const std::string& test) {
  return {"tests/low/a_test.cpp:" + test +
          " waits for its turn, and its cases take turns: most would never run"};
}

std::string test_of(const std::string& name, const std::string& body) {
  return "TEST" + name + " {\n" + body + "}\n";
}

TEST(TurnsOfSlowTests, OneKindOfTurnIsEnough) {
  EXPECT_EQ(found(test_of("(A, Waits)", kSkip) + test_of("(A, Takes)", kTakes)), Texts{});
  EXPECT_EQ(found(std::string("// has_turn(\n") + test_of("(A, Waits)", kSkip)), Texts{}) << "a comment";
  EXPECT_EQ(found("INSTANTIATE_TEST_SUITE_P(All, B, ValuesIn(with_turns(kAll)));\n" +
                  test_of("_P(A, Waits)", kSkip) + test_of("_P(B, Takes)", "")),
            Texts{});
}

TEST(TurnsOfSlowTests, PlantedInTheTest) {
  EXPECT_EQ(found("\n" + test_of("(A, B)", std::string(kSkip) + kTakes)), of("2: turns: TEST(A, B)"));
  EXPECT_EQ(found(test_of("(A, B)", std::string(kSkip) + "  for (int i : with_turns<int>({1})) check(i);\n")),
            of("1: turns: TEST(A, B)"));
}

TEST(TurnsOfSlowTests, PlantedInWhatItCalls) {
  const std::string takes = std::string("void all() {\n") + kTakes + "}\nvoid both() { all(); }\n";
  EXPECT_EQ(found(takes + test_of("(A, B)", std::string(kSkip) + "  both();\n")), of("6: turns: TEST(A, B)"));
  EXPECT_EQ(found(takes + test_of("(A, B)", kSkip)), Texts{}) << "it does not call it";
}

TEST(TurnsOfSlowTests, PlantedInTheFixture) {
  EXPECT_EQ(found(std::string("class A : public Test {\n  void SetUp() override {\n") + kSkip + "  }\n};\n" +
                  test_of("_F(A, B)", kTakes)),
            of("6: turns: TEST_F(A, B)"));
  EXPECT_EQ(found(std::string("class A : public Test {\n  A() {\n") + kTakes + "  }\n};\n" +
                  test_of("_F(A, B)", kSkip)),
            of("7: turns: TEST_F(A, B)"));
}

TEST(TurnsOfSlowTests, PlantedInTheCases) {
  EXPECT_EQ(found(test_of("_P(A, B)", kSkip) +
                  "INSTANTIATE_TEST_SUITE_P(All, A, ValuesIn(testing::with_turns(kAll)));\n"),
            of("1: turns: TEST_P(A, B)"));
}

}  // namespace
}  // namespace rondo::structure
