// Steps of unusual shape for alternating: where products stand, what is kept between the launches of a step.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"

namespace rondo::schedule {
namespace {

void run(const std::string& text, Storage storage, step::Sizes sizes) {
  const frontend::Parsed parsed = frontend::parse(text, "test.cell");
  ASSERT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "test.cell");
  Case c{find_strategy("alternating"), parsed.cells.at(0), {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.parameters = {{"units", 16}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 2}, {"vector", 1}};
  Comparison(std::move(c)).run();
}

constexpr step::Sizes kSizes{3, 4, 2, 33};

// The vector is no state, so each launch makes the next step's, from the next step's input.
TEST(AlternatingCells, AVectorOfInputAndState) {
  const char* const text = R"(cell mixed(D) {
  input x[D]
  param R[D, D], a[D]
  state h[D]
  next h = tanh(R @ (a * h + x))
  output h
})";
  for (const Storage storage : {Storage::BF16, Storage::F32}) run(text, storage, kSizes);
}

// Three levels; values of each are needed at the end.
TEST(AlternatingCells, ThreeLevels) {
  const char* const text = R"(cell deep(D) {
  input x[D]
  param R[3, D, D], s[1]
  state h[D], c[D]
  u = tanh(R[0] @ h + x)
  v = sigmoid(R[1] @ (u * c))
  w = R[2] @ (v - u)
  next c = tanh(w) * s[0] + u * c
  next h = v * u + 0.5 * next c
  output h, c
})";
  for (const Storage storage : {Storage::F16, Storage::F32}) run(text, storage, kSizes);
}

// Nothing is multiplied on the way back: a step of the sweep has no product.
TEST(AlternatingCells, OnlyTheInputIsMultiplied) {
  const char* const text = R"(cell input_only(D) {
  input x[D]
  param W[D, D], a[D]
  state h[D]
  next h = a * h + W @ x
  output h
})";
  for (const Storage storage : {Storage::BF16, Storage::F32}) run(text, storage, kSizes);
}

// Two matrices, two vectors at one level, an output that is no state, a state that only keeps an input.
TEST(AlternatingCells, TwoVectorsAtOneLevel) {
  const char* const text = R"(cell pair(D) {
  input x[2, D]
  param R[2, D, D], Q[D, D], b[D]
  state h[D], k[D]
  next h = tanh(R[0] @ h + Q @ k + x[0])
  next k = x[1]
  y = sigmoid(R[1] @ k + b)
  output y, h
})";
  for (const Storage storage : {Storage::BF16, Storage::F32}) run(text, storage, kSizes);
}

// Steps, batch rows and heads of one each.
TEST(AlternatingCells, TheSmallest) {
  for (const Storage storage : {Storage::BF16, Storage::F32})
    for (const step::Cell& cell : dense_cells()) run(cell.source, storage, {1, 1, 1, 1});
}

// Launches of a step: a mean and a variance take one exchange, sums of a derivative that lie apart one more,
// and none where a block has the whole head.
TEST(AlternatingCells, LaunchesOfANormalisedStep) {
  const auto launches = [](std::int64_t dim, Pass pass) {
    Problem problem;
    problem.sizes = {8, 16, 1, dim};
    problem.pass = pass;
    const Parameters parameters{
        {"units", 16}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 2}, {"vector", 1}};
    const KernelPlan plan =
        point_plan(*find_strategy("alternating"), cell_named("lnlstm"), problem, parameters);
    return std::count_if(plan.launches.begin(), plan.launches.end(), [](const Launch& launch) {
      return launch.repetition.kind == executable::Repetition::Kind::EachStep;
    });
  };
  EXPECT_EQ(launches(256, Pass::Forward), 3);
  EXPECT_EQ(launches(256, Pass::Backward), 3);
  EXPECT_EQ(launches(16, Pass::Forward), 1);
  EXPECT_EQ(launches(16, Pass::Backward), 2);
}

}  // namespace
}  // namespace rondo::schedule
