// Which states stay within bounds: what gates mix does, what adds up does not.
#include "compiler/step/bounds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/scalar/table.h"
#include "compiler/step/simplify.h"
#include "tests/step/cell_builder.h"

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

// A state of a step of any operations on it, an input and a parameter between -2 and 2.
class AnyStep {
 public:
  explicit AnyStep(std::uint32_t seed) : random_(seed), b_("any") {
    const TensorId x = b_.input("x"), w = b_.param("w"), h = b_.state("h");
    leaves_ = {b_.read(h), b_.read(x), b_.read(w), b_.number(1), b_.number(0.5)};
    testing::Value value = leaf();
    for (unsigned length = 1 + random_() % 4; length > 0; --length) {
      const auto op = static_cast<scalar::Op>(random_() % scalar::kOpCount);
      std::vector<NodeId> operands;
      for (int place = 0; place < scalar::info(op).arity; ++place) operands.push_back(leaf().id);
      operands[random_() % operands.size()] = value.id;
      value = value.make(op, operands);
    }
    b_.next(h, 0, value);
    b_.publish("y", value);
    b_.cell().tensors[static_cast<std::size_t>(w)].range = DeclaredRange{{.value = -2}, {.value = 2}};
  }

  const Cell& cell() { return b_.cell(); }
  // The next state after one that is within, of any numbers of the others; no number where a function has
  // none.
  double next() {
    std::vector<double> values;
    for (const Node& node : b_.graph().nodes) {
      std::array<double, 3> operands{};
      for (std::size_t i = 0; i < node.operands.size(); ++i)
        operands[i] = values[static_cast<std::size_t>(node.operands[i])];
      values.push_back(
          node.kind == NodeKind::Constant ? node.value
          : node.kind == NodeKind::Leaf
              ? number(b_.cell().tensors[static_cast<std::size_t>(node.tensor)].name == "w" ? 2 : kBound)
              : scalar::evaluate(node.op, std::span(operands).first(node.operands.size())));
    }
    return values[static_cast<std::size_t>(b_.cell().next[0].value)];
  }

 private:
  testing::Value leaf() { return leaves_[random_() % leaves_.size()]; }
  // Its ends, zero, and numbers of any size between.
  double number(double most) {
    const double sign = random_() % 2 == 0 ? 1 : -1;
    if (random_() % 3 == 0) return sign * most;
    if (random_() % 4 == 0) return 0;
    return sign * most * std::pow(10.0, -std::uniform_real_distribution<double>(0, 8)(random_));
  }

  std::mt19937 random_;
  testing::CellBuilder b_;
  std::vector<testing::Value> leaves_;
};

// Whatever is said to stay does so in one step from anywhere within, and so in all.
TEST(StatesWithin, NoStepOfAnyOperationsLeadsOut) {
  int within = 0, seeds = 0;
  for (std::uint32_t seed = 1; seed <= 20000; ++seed) {
    AnyStep step(seed);
    ++seeds;
    if (!stays(step.cell(), "h")) continue;
    ++within;
    for (int point = 0; point < 40; ++point) {
      const double next = step.next();
      if (std::isnan(next)) continue;
      ASSERT_LE(std::abs(next), kBound * (1 + 1e-12))
          << "seed " << seed << ": " << canonical_text(step.cell());
    }
  }
  EXPECT_GT(within, seeds / 4);
  EXPECT_LT(within, seeds * 3 / 4);
}

}  // namespace
}  // namespace rondo::step
