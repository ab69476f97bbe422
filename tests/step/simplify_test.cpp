#include "compiler/step/simplify.h"

#include <gtest/gtest.h>

#include "tests/step/cell_builder.h"

namespace rondo::step::testing {
namespace {

using scalar::Op;

// A graph with leaves x, y (vectors) and s (a scalar) whose one root is simplified.
class Simplifier : public ::testing::Test {
 protected:
  Value x() { return {&graph_, graph_.leaf(0, 0, Extent::Vector)}; }
  Value y() { return {&graph_, graph_.leaf(0, 1, Extent::Vector)}; }
  Value s() { return {&graph_, graph_.leaf(1, 0, Extent::Scalar)}; }
  Value number(double value) { return {&graph_, graph_.constant(value)}; }

  // The simplified root as a formula, e.g. "sub(x, y)".
  std::string simplified(Value root, bool derivative = false) {
    NodeId prefix = 0;
    NodeId id = root.id;
    if (derivative) {
      // Everything but one leaf is new: the mode for what derivation appended.
      Graph shifted;
      prefix = shifted.leaf(0, 0, Extent::Vector) + 1;
      for (Node node : graph_.nodes) {
        for (NodeId& operand : node.operands) operand += prefix;
        shifted.add(node);
      }
      graph_ = shifted;
      id += prefix;
    }
    NodeId out = id;
    const Graph result = simplify(graph_, {&out}, prefix);
    return formula(result, out);
  }

  static std::string formula(const Graph& graph, NodeId id) {
    const Node& node = graph.at(id);
    const std::string argument = node.operands.empty() ? "" : formula(graph, node.operands[0]);
    switch (node.kind) {
      case NodeKind::Constant: {
        std::string text = std::to_string(node.value);
        text.erase(text.find_last_not_of('0') + 1);
        return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
      }
      case NodeKind::Leaf: return node.tensor == 1 ? "s" : node.row == 0 ? "x" : "y";
      case NodeKind::ReduceSum: return "sum(" + argument + ")";
      case NodeKind::ReduceMax: return "maximum(" + argument + ")";
      case NodeKind::MatVec: return "R@" + argument;
      case NodeKind::HeadSize: return "D";
      case NodeKind::Scalar: {
        std::string text = std::string(scalar::info(node.op).name) + "(" + argument;
        for (std::size_t i = 1; i < node.operands.size(); ++i)
          text += ", " + formula(graph, node.operands[i]);
        return text + ")";
      }
      default: return "?";
    }
  }

  Graph graph_;
};

TEST_F(Simplifier, FoldsConstants) {
  EXPECT_EQ(simplified(number(2) * number(3) + x()), "add(6, x)");
  EXPECT_EQ(simplified(x() * number(0).of(Op::Exp)), "x");
  EXPECT_EQ(simplified(select(number(1), x(), y())), "x");
  EXPECT_EQ(simplified(select(number(0), x(), y())), "y");
}

TEST_F(Simplifier, LeavesInfinitiesToRunTime) {
  EXPECT_EQ(simplified(number(0).of(Op::Log)), "log(0)");
  EXPECT_EQ(simplified(number(1) / number(0)), "div(1, 0)");
}

TEST_F(Simplifier, Identities) {
  EXPECT_EQ(simplified(x() + number(0)), "x");
  EXPECT_EQ(simplified(number(0) + x()), "x");
  EXPECT_EQ(simplified(x() - number(0)), "x");
  EXPECT_EQ(simplified(number(0) - x()), "neg(x)");
  EXPECT_EQ(simplified(x() * number(1)), "x");
  EXPECT_EQ(simplified(number(-1) * x()), "neg(x)");
  EXPECT_EQ(simplified(x() / number(1)), "x");
  EXPECT_EQ(simplified(x() / number(4)), "mul(x, 0.25)");
  EXPECT_EQ(simplified(x() / number(3)), "div(x, 3)");
  EXPECT_EQ(simplified(1.0 - x()), "sub(1, x)");
  EXPECT_EQ(simplified(max(x(), x())), "x");
  EXPECT_EQ(simplified(select(x(), y(), y())), "y");
  EXPECT_EQ(simplified(select(x().of(Op::Not), x(), y())), "select(x, y, x)");
  EXPECT_EQ(simplified(x().make(Op::Fma, {x().id, number(1).id, y().id})), "add(x, y)");
  EXPECT_EQ(simplified(x().make(Op::Fma, {x().id, y().id, number(0).id})), "mul(x, y)");
}

TEST_F(Simplifier, Signs) {
  EXPECT_EQ(simplified(-(-x())), "x");
  EXPECT_EQ(simplified(x() - (-y())), "add(x, y)");
  EXPECT_EQ(simplified(x() + (-y())), "sub(x, y)");
  EXPECT_EQ(simplified((-x()) + y()), "sub(y, x)");
  EXPECT_EQ(simplified((-x()) + (-y())), "neg(add(x, y))");
  EXPECT_EQ(simplified(-(x() - y())), "sub(y, x)");
  EXPECT_EQ(simplified((-x()) * (-y())), "mul(x, y)");
  EXPECT_EQ(simplified(x() + (-y()) * s()), "sub(x, mul(y, s))");
  EXPECT_EQ(simplified((-x()) * number(2)), "mul(-2, x)");
  EXPECT_EQ(simplified((-x()).of(Op::Square)), "square(x)");
  EXPECT_EQ(simplified((-x()).of(Op::Abs)), "abs(x)");
}

TEST_F(Simplifier, KeepsNanAndInfinityOfWhatWasWritten) {
  EXPECT_EQ(simplified(x() * number(0)), "mul(x, 0)");
  EXPECT_EQ(simplified(x() - x()), "sub(x, x)");
  EXPECT_EQ(simplified(x() / x()), "div(x, x)");
}

// `not` of a comparison is not the opposite comparison: of NaN neither a >= b nor a < b holds. Which side of
// a select is taken may change places.
TEST_F(Simplifier, NegatedComparisonsStay) {
  constexpr Op kComparisons[] = {Op::Less,         Op::LessEqual, Op::Greater,
                                 Op::GreaterEqual, Op::Equal,     Op::NotEqual};
  for (const Op op : kComparisons) {
    const std::string name(scalar::info(op).name);
    const Value compared = x().make(op, {x().id, y().id});
    EXPECT_EQ(simplified(compared.of(Op::Not)), "not(" + name + "(x, y))");
    EXPECT_EQ(simplified(compared.of(Op::Not).of(Op::Not)), name + "(x, y)");
    EXPECT_EQ(simplified(select(compared.of(Op::Not), x(), y())), "select(" + name + "(x, y), y, x)");
  }
}

TEST_F(Simplifier, ZeroTermsOfDerivativesVanish) {
  EXPECT_EQ(simplified(x() * number(0), true), "0");
  EXPECT_EQ(simplified(x() * select(y(), number(1), number(0)), true), "select(y, x, 0)");
  EXPECT_EQ(
      simplified(x() * select(y(), number(1), number(0)) + x() * select(y(), number(0), number(1)), true),
      "x");
  EXPECT_EQ(simplified(number(0) / x(), true), "0");
}

TEST_F(Simplifier, DoesNotReassociate) {
  EXPECT_EQ(simplified((x() + number(1)) + number(2)), "add(add(x, 1), 2)");
  EXPECT_EQ(simplified((x() * number(3)) * number(5)), "mul(mul(x, 3), 5)");
}

TEST_F(Simplifier, HeadWideNodes) {
  Value sum{&graph_, graph_.reduce_sum(s().id)};
  EXPECT_EQ(simplified(sum), "mul(s, D)");
  Value maximum{&graph_, graph_.reduce_max(s().id)};
  EXPECT_EQ(simplified(maximum), "s");
  Value negated{&graph_, graph_.reduce_sum((-x()).id)};
  EXPECT_EQ(simplified(negated), "neg(sum(x))");
  Value product{&graph_, graph_.matvec(2, 0, (-x()).id)};
  EXPECT_EQ(simplified(product), "neg(R@x)");
}

TEST_F(Simplifier, SharesEqualNodes) {
  const Value a = x() * y(), b = y() * x();
  NodeId first = a.id, second = b.id, third = (x() - y()).id, fourth = (y() - x()).id;
  const Graph result = simplify(graph_, {&first, &second, &third, &fourth});
  EXPECT_EQ(first, second);
  EXPECT_NE(third, fourth);
  EXPECT_EQ(result.nodes.size(), 5U);  // x, y, their product and two differences
}

TEST_F(Simplifier, KeepsLabelsSpansAndThePrefix) {
  Value z = sigmoid(x() * number(1));
  graph_.nodes.back().label = "z";
  graph_.nodes.back().span = {3, 7, 4};
  NodeId root = z.id, absent = kNoNode;
  const Graph result = simplify(graph_, {&root, &absent});
  EXPECT_EQ(result.at(root).label, "z");
  EXPECT_EQ(result.at(root).span.line, 3);
  EXPECT_EQ(absent, kNoNode);
  EXPECT_EQ(result.nodes.size(), 2U);

  const auto prefix = static_cast<NodeId>(graph_.nodes.size());
  NodeId appended = (x() * y()).id;
  const Graph kept = simplify(graph_, {&appended}, prefix);
  ASSERT_GE(kept.nodes.size(), graph_.nodes.size() - 2);
  for (NodeId id = 0; id < prefix; ++id) {
    EXPECT_EQ(kept.at(id).kind, graph_.at(id).kind);
    EXPECT_EQ(kept.at(id).operands, graph_.at(id).operands);
  }
}

}  // namespace
}  // namespace rondo::step::testing
