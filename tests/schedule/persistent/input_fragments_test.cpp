// Products of inputs that warps read as fragments: against the fp64 reference, in sums with products of
// states and on their own, and what a kernel has of them.
#include <gtest/gtest.h>

#include "compiler/step/forms.h"
#include "tests/schedule/damage.h"
#include "tests/schedule/drawn_for.h"
#include "tests/schedule/persistent/fragment_points.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// All four products of the input are summands of the gates.
constexpr const char* kWholeLstm = R"(
cell whole_lstm(D) {
  input u[D]
  param R[4, D, D], W[4, D, D], b[4, D]
  state h[D], c[D]
  g = R @ h + W @ u + b
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output h
})";

// Two are, and the third is one beside a product of the state.
constexpr const char* kWholeGru = R"(
cell whole_gru(D) {
  input u[D]
  param R[3, D, D], W[3, D, D], b[3, D]
  state h[D]
  g = R @ h + b
  i = W @ u
  r = sigmoid(i[0] + g[0])
  z = sigmoid(i[1] + g[1])
  n = tanh(i[2] + r * g[2])
  next h = (1 - z) * n + z * h
  output h
})";

// Two inputs, of one of which the step reads a row itself, and the other row is multiplied.
constexpr const char* kTwoInputs = R"(
cell two_inputs(D) {
  input u[2, D], v[D]
  param R[D, D], W[D, D], V[2, D, D]
  state h[D]
  next h = tanh(R @ h + W @ u[1] + V[0] @ v + u[0] * (V[1] @ v))
  output h
})";

// The second level's vector is none of an input.
constexpr const char* kTwoLevels = R"(
cell two_levels(D) {
  input u[D]
  param R[D, D], S[D, D], W[D, D]
  state h[D]
  next h = tanh(S @ tanh(R @ h + W @ u) + u)
  output h
})";

constexpr const char* kInputCells[] = {kWholeLstm, kWholeGru, kTwoInputs, kTwoLevels};

constexpr FragmentForm kInputForms[] = {{8, 1, 2}, {4, 1, 1, 1, 1}, {8, 2, 4, 1, 2}, {4, 1, 1, 2, 2, 0}};
constexpr step::Sizes kInputSizes[] = {{11, 5, 1, 128}, {9, 5, 2, 128}, {3, 4, 1, 128}, {17, 5, 1, 64}};

TEST(InputFragments, EveryCellInEveryForm) {
  for (std::size_t cell = 0; cell < std::size(kInputCells); ++cell)
    for (std::size_t form = 0; form < std::size(kInputForms); ++form) {
      if (!rondo::testing::has_turn(static_cast<int>(cell + form), 4)) continue;
      for (const Storage storage : {Storage::BF16, Storage::F32})
        compare(case_of_fragments(cell_of_text(kInputCells[cell]), kInputSizes[form], kInputForms[form],
                                  storage));
      ASSERT_FALSE(HasFailure()) << kInputCells[cell] << " in form " << form;
    }
}

// Channels past the head's end, or rows whose places 16 bytes do not divide: the blocks send such vectors.
TEST(InputFragments, OtherSizesAreSent) {
  compare(case_of_fragments(cell_of_text(kWholeLstm), {11, 5, 1, 124}, {8, 1, 2}));
}

TEST(InputFragments, FormsOfTheSequence) {
  int number = 0;
  for (const step::Forms& forms :
       {step::Forms{true, true}, {true, true, true}, {true, true, false, false, true}}) {
    if (!rondo::testing::has_turn(++number)) continue;
    compare(case_of_fragments(step::with_forms(cell_of_text(kWholeLstm), forms).value(), {13, 9, 2, 64}, {}));
    ASSERT_FALSE(HasFailure()) << number;
  }
}

KernelPlan input_plan(const char* text, std::int64_t dim, const FragmentForm& form) {
  const Case c = case_of_fragments(cell_of_text(text), {11, 5, 1, dim}, form);
  return point_plan(*kStrategyOfFragments, c.cell, c.problem, c.parameters);
}

// What comes through global memory is the state alone, and the input takes no place in shared memory.
TEST(InputFragments, NobodySendsAnInput) {
  const KernelPlan whole = input_plan(kWholeLstm, 128, {8, 1, 2}),
                   odd = input_plan(kWholeLstm, 124, {8, 1, 2});
  EXPECT_EQ(2 * whole.exchange.each, odd.exchange.each);
  const auto stages = [](const KernelPlan& plan) {
    return std::ranges::any_of(plan.launches.back().kernel.shared,
                               [](const auto& array) { return array.name == "u_staged"; });
  };
  EXPECT_FALSE(stages(whole));
  EXPECT_TRUE(stages(odd));
  EXPECT_TRUE(stages(input_plan(kTwoInputs, 128, {8, 1, 2})));
}

}  // namespace
}  // namespace rondo::schedule
