// Matrices made ready to be multiplied: what is kept of them, and that it changes no bit of a run.
#include "compiler/step/reference/matrices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/step/reference/executor.h"
#include "compiler/support/index.h"
#include "tests/step/cell_builder.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

const Sizes kSeveral{2, 5, 3, 9};  // several heads; D is no multiple of a vector
const Sizes kAStep{1, 1, 3, 9};

ForwardArguments<double> arguments_in_fp32() {
  Random random(11);
  ForwardArguments<double> arguments = random_arguments(lstm(), kSeveral, random);
  for (double& number : arguments.params.at("R")) number = static_cast<float>(number);
  return arguments;
}

TEST(Matrices, AreKeptInFp32WhereThatIsExact) {
  TensorMap<double> params = arguments_in_fp32().params;
  const Matrices<double> matrices(lstm(), kSeveral, params, false);
  ASSERT_NE(matrices.find("R"), nullptr);
  EXPECT_EQ(matrices.find("b"), nullptr);
  const std::size_t size = at(kSeveral.dim * kSeveral.dim);
  for (std::int64_t head = 0; head < kSeveral.heads; ++head)
    for (int row = 0; row < 4; ++row) {
      const float* const kept = matrices.find("R")->in_fp32(head, row);
      ASSERT_NE(kept, nullptr);
      for (std::size_t i = 0; i < size; ++i)
        EXPECT_EQ(kept[i], params.at("R")[at(head * 4 + row) * size + i]) << head << ' ' << row << ' ' << i;
    }
  // A single step reads them once, which a copy does too.
  EXPECT_EQ(Matrices<double>(lstm(), kAStep, params, false).find("R")->in_fp32(0, 0), nullptr);
  params.at("R").back() = 0.1;
  EXPECT_EQ(Matrices<double>(lstm(), kSeveral, params, false).find("R")->in_fp32(0, 0), nullptr);
}

TEST(Matrices, NormsAreThoseOfRowsAndColumns) {
  const TensorMap<double> params = arguments_in_fp32().params;
  const Matrices<double> matrices(lstm(), kSeveral, params, true);
  const std::size_t dim = at(kSeveral.dim);
  const double* const matrix = params.at("R").data() + (2 * 4 + 3) * dim * dim;
  const auto& norms = matrices.find("R")->norms(2, 3);
  for (std::size_t i = 0; i < dim; ++i) {
    double row = 0, column = 0;
    for (std::size_t j = 0; j < dim; ++j) {
      row += matrix[i * dim + j] * matrix[i * dim + j];
      column += matrix[j * dim + i] * matrix[j * dim + i];
    }
    EXPECT_EQ(norms.rows[i], std::sqrt(row)) << i;
    EXPECT_EQ(norms.columns[i], std::sqrt(column)) << i;
  }
}

// Shared ones, those that a run makes by itself, and such without a copy in fp32.
TEST(Matrices, ChangeNoBitOfARun) {
  const Cell cell = lstm();
  const ForwardArguments<double> arguments = arguments_in_fp32();
  Random random(12);
  const LossGradients<double> loss = random_loss(cell, kSeveral, random);
  const Matrices<double> shared(cell, kSeveral, arguments.params, true),
      plain(cell, kAStep, arguments.params, true);
  ASSERT_NE(shared.find("R")->in_fp32(0, 0), nullptr);
  ASSERT_EQ(plain.find("R")->in_fp32(0, 0), nullptr);
  Perturbation perturbation;
  perturbation.seed = 3;
  perturbation.stored = scalar::Storage::BF16;
  for (const Perturbation* errors : std::initializer_list<const Perturbation*>{nullptr, &perturbation}) {
    RunOptions<double> options;
    options.perturbation = errors;
    const auto forward = run_forward(cell, kSeveral, arguments, options);
    const auto backward = run_backward(cell, kSeveral, arguments, loss, options);
    ASSERT_TRUE(forward && backward);
    for (const Matrices<double>* matrices : {&shared, &plain}) {
      options.matrices = matrices;
      const auto again = run_forward(cell, kSeveral, arguments, options);
      const auto back = run_backward(cell, kSeveral, arguments, loss, options);
      ASSERT_TRUE(again && back);
      EXPECT_EQ(again->outputs, forward->outputs);
      EXPECT_EQ(again->last_states, forward->last_states);
      EXPECT_EQ(back->inputs, backward->inputs);
      EXPECT_EQ(back->params, backward->params);
      EXPECT_EQ(back->initial_states, backward->initial_states);
    }
  }
}

}  // namespace
}  // namespace rondo::step::testing
