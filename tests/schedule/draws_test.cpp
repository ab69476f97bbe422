// Draws in the simulator: every strategy, forward and backward, gives the bits of the reference at tens of
// thousands of places, whatever the tiling.
#include <gtest/gtest.h>

#include "tests/schedule/cell_files.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/shoot/points.h"

namespace rondo::schedule {
namespace {

// One draw goes out as it is, one comes back as the gradient of w, and one decides what is carried.
constexpr const char* kAlone = R"(
cell drawn(D) {
  input x[D], w[D]
  state h[D]

  next h = select(uniform(drop) < 0.5, h, x)
  output h, u = uniform(drop), y = w * uniform(keep)
}
)";
constexpr const char* kDense = R"(
cell drawn(D) {
  input x[D], w[D]
  param R[D, D]
  state h[D]

  next h = select(uniform(drop) < 0.5, h, R @ h + x)
  output h, u = uniform(drop), y = w * uniform(keep)
}
)";
// The vector that the matrix multiplies is drawn again for the matrix's gradient.
constexpr const char* kMasked = R"(
cell masked(D) {
  input x[D]
  param R[D, D]
  state h[D]

  next h = R @ select(uniform(mask) < 0.5, h, 0) + x
  output h
}
)";
// A step of two stages, both of which need the same draw.
constexpr const char* kTwoStages = R"(
cell two_stages(D) {
  input x[2, D]
  param R[2, D, D]
  state h[D]

  q = R[0] @ select(uniform(mask) < 0.5, h, x[0])
  next h = R[1] @ select(uniform(mask) < 0.25, q, x[1]) + select(uniform(mask) < 0.5, h, 0)
  output h
}
)";

void run(const char* strategy, Parameters parameters, const char* text, step::Sizes sizes) {
  ExactCase(strategy, std::move(parameters), kernel::Storage::F32, {}, {text, false, sizes},
            kernel::Math::Accurate)
      .run();
}

Parameters stream_point(int segments, int time_split, int per_thread) {
  Parameters point = stream_in_cluster_of_two(16 * per_thread, false);
  point["per_thread"] = per_thread;
  point["segments"] = segments;
  point["time_split"] = time_split;
  point["pipeline_depth"] = time_split > 1 ? 2 : 1;
  return point;
}

TEST(Draws, StreamAsOneThreadWalks) {
  run("stream", stream_point(1, 1, 1), kAlone, {5, 70, 2, 40});
  run("stream", stream_point(1, 1, 2), kAlone, {2, 33, 1, 132});
}
TEST(Draws, StreamInSegments) {
  run("stream", stream_point(4, 1, 1), kAlone, {5, 70, 2, 40});
  run("stream", stream_point(4, 2, 2), kAlone, {3, 70, 2, 40});
}

// Each sweep of a segment, and each of its lead-ins, draws the same.
TEST(Draws, Shoot) {
  Problem problem;
  problem.storage = kernel::Storage::F32;
  problem.sizes = {3, 97, 2, 40};
  for (const ShootTeam& team :
       {ShootTeam{1, 1, 0}, ShootTeam{7, 1, 0}, ShootTeam{4, 2, 0}, ShootTeam{3, 2, 1}})
    for (const int warmup : {0, 16})
      run("shoot", shoot_point(problem, team, 1, warmup), kAlone, problem.sizes);
}

Problem dense_problem(Pass pass) {
  Problem problem;
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  problem.sizes = {9, 5, 2, 40};
  problem.pass = pass;
  return problem;
}

TEST(Draws, Alternating) {
  const Problem problem = dense_problem(Pass::Backward);
  for (int turn = 0; turn < 4; ++turn)
    for (const char* text : {kDense, kMasked, kTwoStages})
      run("alternating", alternating_point(problem, turn), text, problem.sizes);
}

TEST(Draws, Persistent) {
  const Problem problem = dense_problem(Pass::Backward);
  int turn = 0;
  for (const bool reduce_scatter : {false, true})
    for (const auto& [blocks, grid] : {std::pair{1, 0}, std::pair{2, 0}, std::pair{2, 1}})
      for (const char* text : {kDense, kMasked})
        run("persistent", persistent_point(problem, blocks, grid, turn++, reduce_scatter && blocks > 1), text,
            problem.sizes);
  run("persistent", persistent_point(problem, 1, 0, 0, false), kTwoStages, problem.sizes);
}

}  // namespace
}  // namespace rondo::schedule
