// Which states stay within bounds: what gates mix does, what adds up does not.
#include "compiler/step/bounds.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>

#include "compiler/frontend/frontend.h"
#include "compiler/step/simplify.h"

namespace rondo::step {
namespace {

constexpr double kBound = 65504;

Cell parsed(const std::string& text) {
  const frontend::Parsed parsed = frontend::parse(text, "bounds.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "bounds.cell");
  return simplify(parsed.cells.at(0));
}

// A cell of states c and h, of inputs p, q and r, a vector w and a matrix R: those that the body names.
Cell cell_of(const std::string& body) {
  std::string text = "cell bounds(D) {\n state c[D], h[D]\n";
  for (const auto& [name, declared] :
       {std::pair{"p", " input p[D]\n"}, std::pair{"q", " input q[D]\n"}, std::pair{"r", " input r[D]\n"},
        std::pair{"w", " param w[D]\n"}, std::pair{"R", " param R[D, D]\n"}})
    if (std::regex_search(body, std::regex("\\b" + std::string(name) + "\\b"))) text += declared;
  return parsed(text + body + "}\n");
}

bool stays(const Cell& cell, const std::string& state) {
  return states_within(cell, kBound)[static_cast<std::size_t>(*cell.find(state))];
}

TEST(StatesWithin, WhatAddsUpDoesNotStay) {
  const Cell lstm = cell_of(
      " next c = sigmoid(p) * c + sigmoid(q) * tanh(r)\n next h = sigmoid(w * c) * tanh(next c)\n "
      "output h\n");
  EXPECT_FALSE(stays(lstm, "c"));
  EXPECT_TRUE(stays(lstm, "h"));
  EXPECT_FALSE(stays(cell_of(" next c = max(c - p, q)\n next h = tanh(c)\n output h\n"), "c"));
  EXPECT_FALSE(stays(cell_of(" next c = exp(h) * c\n next h = R @ h\n output h\n"), "h"));
}

TEST(StatesWithin, WhatGatesMixStays) {
  const char* const mixtures[] = {"sigmoid(p) * c + (1 - sigmoid(p)) * tanh(q)",
                                  "(1 - sigmoid(p)) * c + sigmoid(p) * tanh(q)",
                                  "c + sigmoid(p) * (tanh(q) - c)",
                                  "c - sigmoid(p) * (c - tanh(q))",
                                  "select(p > 0, c, 0.5 * q)",
                                  "0.5 * c + 0.5 * tanh(w * c)",
                                  "min(max(c + p, -100), 100)",
                                  "sigmoid(p) * h"};
  for (const char* const mixture : mixtures)
    EXPECT_TRUE(stays(cell_of(std::string(" next c = ") + mixture + "\n next h = cos(c)\n output h\n"), "c"))
        << mixture;
  const char* const others[] = {"sigmoid(p) * c + (1 - sigmoid(q)) * tanh(q)",
                                "c + 2 * sigmoid(p) * (tanh(q) - c)",
                                "c - sigmoid(p) * (tanh(q) - c)",
                                "w * c",
                                "p * q",
                                "c / (p + 1)"};
  for (const char* const other : others)
    EXPECT_FALSE(stays(cell_of(std::string(" next c = ") + other + "\n next h = cos(c)\n output h\n"), "c"))
        << other;
}

TEST(StatesWithin, WhatTheTextBeginsOutsideDoesNotStay) {
  const auto begins_at = [](const std::string& first) {
    return stays(parsed("cell c(D) {\n const far = 10\n input x[D]\n state c[D] = " + first +
                        "\n next c = max(0.5 * c, x)\n output y = c * far\n}\n"),
                 "c");
  };
  EXPECT_TRUE(begins_at("-60000"));
  EXPECT_FALSE(begins_at("-1e30"));
  EXPECT_FALSE(begins_at("far")) << "callers set named constants";
}

// A range of an input or a parameter is a promise, one of a state is not.
TEST(StatesWithin, RangesOfInputsAndParametersCount) {
  const auto with = [](const std::string& x, const std::string& w, const std::string& c) {
    return stays(parsed("cell c(D) {\n const most = 1\n input x[D]" + x + "\n param w[D]" + w +
                        "\n state c[D]" + c + "\n next c = x * c + (1 - x) * w\n output y = c * most\n}\n"),
                 "c");
  };
  EXPECT_TRUE(with(" in (0, 1)", " in [-2, 2]", ""));
  EXPECT_FALSE(with(" in (0, 1)", "", ""));
  EXPECT_FALSE(with("", " in [-2, 2]", ""));
  EXPECT_FALSE(with("", "", " in [-1, 1]"));
  EXPECT_FALSE(with(" in (0, most)", " in [-2, 2]", "")) << "callers set named constants";
}

// A state that another carries away does not stay either.
TEST(StatesWithin, OfStatesThatHoldEachOther) {
  const Cell cell = cell_of(" next c = h\n next h = c + 0.5 * p\n output y = tanh(h)\n");
  EXPECT_FALSE(stays(cell, "c"));
  EXPECT_FALSE(stays(cell, "h"));
}

}  // namespace
}  // namespace rondo::step
