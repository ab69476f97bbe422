#include "compiler/step/derivative_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/step/cell_builder.h"
#include "tests/step/cell_runs.h"
#include "tests/step/central_difference.h"

namespace rondo::step::testing {
namespace {

using scalar::Op;

std::vector<Op> all_ops() {
  std::vector<Op> ops;
  for (int i = 0; i < scalar::kOpCount; ++i) ops.push_back(static_cast<Op>(i));
  return ops;
}

bool needs_positive(Op op) {
  return op == Op::Log || op == Op::Log1p || op == Op::Sqrt || op == Op::Rsqrt || op == Op::Pow;
}

// The derivative rules of one op, run by the reference executor: partials at the operands' values.
class Rules {
 public:
  explicit Rules(Op op) : builder_("rules"), arity_(scalar::info(op).arity) {
    const TensorId x = builder_.input("x", {3});
    const TensorId h = builder_.state("h");
    builder_.next(h, 0, builder_.read(h));
    std::vector<NodeId> operands;
    for (int i = 0; i < arity_; ++i) operands.push_back(builder_.read(x, i).id);
    const NodeId result = builder_.graph().scalar(op, operands);
    std::vector<NodeId> partials;
    for (int i = 0; i < arity_; ++i) partials.push_back(partial(builder_.graph(), result, i));
    cell_ = with_probes(builder_.cell(), builder_.graph(), partials);
  }

  std::vector<double> at(std::vector<double> operands) const {
    operands.resize(3, 0.0);
    ForwardArguments<double> arguments;
    arguments.inputs["x"] = operands;
    const auto result = run_forward(cell_, Sizes{}, arguments);
    EXPECT_TRUE(result.ok());
    return result->outputs.at("probe");
  }

 private:
  CellBuilder builder_;
  int arity_;
  Cell cell_;
};

TEST(DerivativeTable, EveryRuleAgreesWithCentralDifferences) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-3, 3);
  for (const Op op : all_ops()) {
    if (op == Op::WithGradient) continue;  // what it declares need not be a derivative
    const Rules rules(op);
    const auto arity = static_cast<std::size_t>(scalar::info(op).arity);
    int compared = 0;
    for (int k = 0; k < 200; ++k) {
      std::vector<double> operands(arity);
      for (double& x : operands)
        x = needs_positive(op) || op == Op::Recip ? std::fabs(uniform(random)) + 0.2 : uniform(random);
      if (op == Op::Div) operands[1] = std::copysign(std::fabs(operands[1]) + 0.2, operands[1]);
      const std::vector<double> derived = rules.at(operands);
      for (std::size_t i = 0; i < arity; ++i) {
        const auto shifted = [&](double dx) {
          std::vector<double> moved = operands;
          moved[i] += dx;
          return std::vector<double>{scalar::evaluate(op, std::span<const double>(moved))};
        };
        const Measured measured = central_differences(shifted, {std::fabs(shifted(0)[0]) + 1}).front();
        if (!measured.usable) continue;
        ++compared;
        EXPECT_NEAR(derived[i], measured.value, measured.error)
            << scalar::info(op).name << " operand " << i << " at " << operands[0];
      }
    }
    EXPECT_GT(compared, 190 * static_cast<int>(arity)) << scalar::info(op).name;
  }
}

TEST(DerivativeTable, ConventionsAtPointsWithoutADerivative) {
  EXPECT_EQ(Rules(Op::Abs).at({0})[0], 0);
  EXPECT_EQ(Rules(Op::Relu).at({0})[0], 0);
  for (const Op op : {Op::Min, Op::Max}) {
    EXPECT_EQ(Rules(op).at({2, 2})[0], 1);
    EXPECT_EQ(Rules(op).at({2, 2})[1], 0);
  }
}

TEST(DerivativeTable, ConventionsOfPowersAndAngles) {
  EXPECT_EQ(Rules(Op::Pow).at({0, 0})[0], 0);
  EXPECT_EQ(Rules(Op::Pow).at({0, 2})[0], 0);
  EXPECT_EQ(Rules(Op::Pow).at({-2, 3})[0], 12);
  EXPECT_EQ(Rules(Op::Pow).at({-2, 3})[1], 0);
  for (const double derivative : Rules(Op::Atan2).at({0, 0})) EXPECT_EQ(derivative, 0);
  EXPECT_EQ(Rules(Op::Atan2).at({0, -1})[0], -1);
}

TEST(DerivativeTable, TheDeclaredOneIsThatOfTheSecondOperand) {
  EXPECT_EQ(Rules(Op::WithGradient).at({3, 5}), (std::vector<double>{0, 1}));
}

TEST(DerivativeTable, JumpsHaveNoDerivative) {
  for (const Op op : all_ops()) {
    const bool logic = op >= Op::Less && op <= Op::Not;
    for (int i = 0; i < scalar::info(op).arity; ++i)
      EXPECT_EQ(differentiable(op, i), !logic && op != Op::Sign && op != Op::Round && op != Op::Floor &&
                                           !((op == Op::Select || op == Op::WithGradient) && i == 0))
          << scalar::info(op).name;
  }
}

TEST(DerivativeTable, StableFarOut) {
  for (const Op op : {Op::Sigmoid, Op::Tanh, Op::Silu, Op::Gelu, Op::Softplus, Op::Erf}) {
    for (const double x : {-1000.0, 1000.0})
      EXPECT_TRUE(std::isfinite(Rules(op).at({x})[0])) << scalar::info(op).name;
  }
  EXPECT_EQ(Rules(Op::Softplus).at({1000})[0], 1);
  EXPECT_EQ(Rules(Op::Gelu).at({1000})[0], 1);
}

}  // namespace
}  // namespace rondo::step::testing
