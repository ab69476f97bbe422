// Declared derivatives, functions of whole numbers and the index of the step in the simulator: every
// strategy, forward and backward, over small integers.
#include <gtest/gtest.h>

#include "tests/schedule/cell_files.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/shoot/points.h"

namespace rondo::schedule {
namespace {

// The value jumps with the state; the derivative by it is 1.
constexpr const char* kJumps = R"(
cell jumps(D) {
  input x[D], w[D]
  state h[D]

  next h = with_gradient(select(h > 0, x, w), h + stop_gradient(w) * x)
  output h, y = with_gradient(h * x, w)
}
)";
// Affine in the state, and so is the backward pass, by another factor.
constexpr const char* kAffineInBoth = R"(
cell affine_in_both(D) {
  input x[D], w[D]
  state h[D]

  next h = with_gradient(select(w > 0, h, x), select(w > 0, x, h))
  output h
}
)";
constexpr const char* kWholeNumbers = R"(
cell whole(D) {
  input x[D], w[D]
  state h[D]

  t = mod(step(), 5)
  next h = mod(h + x + t, 3)
  output h, y = round(0.5 * x + t) + floor(0.5 * w) + ceil(0.5 * h), z = max(x, w, h - t) + min(x, w, h, t)
}
)";
constexpr const char* kFires = R"(
cell fires(D) {
  input x[D], w[D]
  param R[D, D]
  state h[D]

  q = R @ h + x
  next h = with_gradient(select(q > 0, x, w), q - stop_gradient(h) * x)
  output h, y = step() * w
}
)";
// Forward there is no product: only the backward pass multiplies.
constexpr const char* kDeclaredProduct = R"(
cell declared_product(D) {
  input x[D]
  param R[D, D]
  state h[D]

  next h = with_gradient(select(h > 0, x, -x), R @ h + x)
  output h
}
)";

void expect_exact(const char* strategy, Parameters parameters, const char* text, step::Sizes sizes,
                  bool save_products = false) {
  SCOPED_TRACE(std::string(strategy) + text);
  ExactCase(strategy, std::move(parameters), kernel::Storage::F32, {}, {text, save_products, sizes},
            kernel::Math::Accurate)
      .run();
}

Parameters stream_at(int segments, int time_split) {
  Parameters point = stream_in_cluster_of_two(32, false);
  point["per_thread"] = 2;
  point["segments"] = segments;
  point["time_split"] = time_split;
  point["pipeline_depth"] = time_split > 1 ? 2 : 1;
  return point;
}

TEST(DeclaredSimulated, Stream) {
  for (const char* text : {kJumps, kAffineInBoth, kWholeNumbers})
    expect_exact("stream", stream_at(1, 1), text, {2, 33, 2, 40});
}
TEST(DeclaredSimulated, StreamInSegments) {
  expect_exact("stream", stream_at(4, 2), kAffineInBoth, {3, 70, 2, 40});
}

TEST(DeclaredSimulated, Shoot) {
  Problem problem;
  problem.storage = kernel::Storage::F32;
  problem.sizes = {3, 97, 2, 40};
  for (const char* text : {kJumps, kAffineInBoth, kWholeNumbers})
    expect_exact("shoot", shoot_point(problem, {4, 2, 0}, 1, 16), text, problem.sizes);
}

TEST(DeclaredSimulated, Host) {
  const Parameters point = {{"lanes", 16}, {"vectors", 2}, {"rows", 1}, {"together", 1}, {"tile", 1}};
  for (const char* text : {kJumps, kAffineInBoth, kWholeNumbers, kFires, kDeclaredProduct})
    expect_exact("host", point, text, {2, 9, 2, 33});
}

Problem problem_with_matrix() {
  Problem problem;
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  problem.sizes = {9, 5, 2, 40};
  problem.pass = Pass::Backward;
  return problem;
}

TEST(DeclaredSimulated, Alternating) {
  const Problem problem = problem_with_matrix();
  for (const char* text : {kFires, kDeclaredProduct})
    expect_exact("alternating", alternating_point(problem, 1), text, problem.sizes);
  expect_exact("alternating", alternating_point(problem, 1), kFires, problem.sizes, true);
}

TEST(DeclaredSimulated, Persistent) {
  const Problem problem = problem_with_matrix();
  for (const bool reduce_scatter : {false, true})
    for (const char* text : {kFires, kDeclaredProduct})
      expect_exact("persistent", persistent_point(problem, 2, 0, 1, reduce_scatter), text, problem.sizes);
}

}  // namespace
}  // namespace rondo::schedule
