// Shifts, rotations and running sums along the channels of a head, in the simulator against the fp64
// reference: in a block and in a cluster (stream), launch by launch (alternating), and on CPUs (host).
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "compiler/schedule/strategies_for.h"
#include "compiler/step/forms.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Parameters kHostPoint = {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}};

Case case_of(const char* strategy, const step::Cell& cell, Storage storage, const step::Sizes& sizes) {
  Case c{find_strategy(strategy), cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  return c;
}

std::vector<step::Cell> all_with_matrices() {
  std::vector<step::Cell> cells = along_cells_with_matrices();
  cells.push_back(cell_named("onlstm"));
  return cells;
}

// Parts of a warp, a warp, warps whose words all threads read, and more of them.
void run_blocks(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : along_cells())
    for (const std::int64_t dim : {1, 5, 32, 33, 130, 1000})
      for (const std::int64_t time : {1, 7}) {
        Case c = case_of_head(cell, storage, {turn % 3 + 1, dim == 1000 ? 2 : time, ++turn % 2 + 1, dim});
        c.parameters = head_point(c.problem, 1 << turn % 4, 1 << turn % 3, 2 + turn % 3, 1);
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " D=" << dim << " T=" << time;
      }
}

TEST(AlongHead, InABlockBf16) { run_blocks(Storage::BF16); }
TEST(AlongHead, InABlockFp16) { run_blocks(Storage::F16); }
TEST(AlongHead, InABlockFp32) { run_blocks(Storage::F32); }

// Heads of a part of a warp beside each other, and heads of two warps; some of them do not exist.
TEST(AlongHead, SeveralHeadsOfABlock) {
  int turn = 0;
  for (const step::Cell& cell : along_cells())
    for (const auto& [dim, lanes, each] : {std::tuple{1, 1, 1}, {6, 4, 2}, {24, 8, 4}, {33, 64, 1}}) {
      Case c = case_of_head(cell, ++turn % 3 == 0 ? Storage::F32 : Storage::BF16, {2, 5, 9, dim});
      c.parameters = head_point(c.problem, each, 4, 2, 1, std::max(2, 32 / lanes));
      c.parameters["channels"] = lanes * c.parameters["per_thread"];
      if (c.parameters["per_thread"] != each) continue;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

// Blocks of different size, warps without channels, words of more warps than a warp has lanes.
void run_clusters(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : along_cells())
    for (const auto& [dim, each, blocks] : {std::tuple{33, 1, 2},
                                            {128, 1, 4},
                                            {130, 1, 2},
                                            {250, 2, 4},
                                            {800, 4, 4},
                                            {1000, 2, 16},
                                            {4097, 1, 8}}) {
      if (dim > 1000 && turn % 4 != 0) continue;
      Case c = case_of_head(cell, storage, {turn % 2 + 1, dim > 1000 ? 2 : 5, ++turn % 2 + 1, dim});
      c.parameters = cluster_point(c.problem, each, blocks, 1 << turn % 3, 1);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " D=" << dim;
    }
}

TEST(AlongHead, InAClusterBf16) { run_clusters(Storage::BF16); }
TEST(AlongHead, InAClusterFp32) { run_clusters(Storage::F32); }

TEST(AlongHead, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Cell& plain : along_cells())
    for (const step::Forms& forms : {step::Forms{true, false, false},
                                     {false, true, false},
                                     {false, true, true},
                                     {true, true, true, true}}) {
      const step::Cell cell = step::with_forms(plain, forms).value();
      const Storage storage = ++turn % 2 == 0 ? Storage::F16 : Storage::F32;
      Case c = case_of_head(cell, storage, {5, 9, turn % 2 + 1, 130});
      c.parameters = head_point(c.problem, 2, 4, 2, 2);
      Comparison(c).run();
      c.parameters = cluster_point(c.problem, 1, 2, 4, 2);
      Comparison(std::move(c)).run();
      Case on_host = case_of("host", cell, storage, {5, 9, 2, 33});
      on_host.parameters = kHostPoint;
      Comparison(std::move(on_host)).run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

TEST(AlongHead, OnCpus) {
  int turn = 0;
  for (const step::Cell& cell : along_cells())
    for (const std::int64_t dim : {1, 16, 33, 130}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
      Case c = case_of("host", cell, storage, {3, turn % 3 == 0 ? 1 : 5, 2, dim});
      c.parameters = kHostPoint;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

TEST(AlongHead, OnCpusWithMatrices) {
  int turn = 0;
  for (const step::Cell& cell : all_with_matrices())
    for (const std::int64_t dim : {1, 15, 32, 70}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::F16 : Storage::F32;
      Case c = case_of("host", cell, storage, {3, turn % 4 == 0 ? 1 : 4, 2, dim});
      c.parameters = {
          {"lanes", 16}, {"vectors", 1 + turn % 2}, {"rows", 2}, {"together", 2}, {"tile", 1 + turn % 2}};
      c.problem.save_products = turn % 3 == 0;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

// One tile of a head, several, parts of 8, 16 and 32 channels, and a last part without channels.
TEST(AlongHead, LaunchByLaunch) {
  int turn = 0;
  for (const step::Cell& cell : all_with_matrices())
    for (const std::int64_t dim : {1, 33, 72, 130}) {
      const Storage storage = ++turn % 3 == 0 ? Storage::F32 : turn % 3 == 1 ? Storage::BF16 : Storage::F16;
      Case c =
          case_of("alternating", cell, storage, {dim == 1 ? 17 : turn % 2 * 4 + 1, 1 + turn % 4, 2, dim});
      c.problem.save_products = turn % 4 == 0;
      c.parameters = alternating_point(c.problem, turn);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

// Blocks of 64 channels have two parts each, of which the last has no channel.
TEST(AlongHead, LaunchByLaunchInBlocksOfTwoParts) {
  for (const step::Cell& cell : all_with_matrices())
    for (const std::int64_t dim : {33, 90}) {
      Case c = case_of("alternating", cell, Storage::F32, {3, 3, 1, dim});
      c.parameters = {{"units", 64}, {"batch_tiles", 1}, {"warps", 4}, {"stages", 2}, {"vector", 1}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
    }
}

// A maximum over running sums is attained by a channel of the head, whatever lanes without channels have.
TEST(AlongHead, MaximaOfRunningSums) {
  const step::Cell cell =
      cells_of_text(
          "cell highest(D) {\n input x[D]\n state h[D]\n s = cumsum(h - 1) / D\n t = cumsum(x * x) / D\n"
          " next h = 0.5 * h + x + max(s) - max(t) + max(shift(s, -1) - 2)\n output h\n}\n")
          .front();
  for (const std::int64_t dim : {5, 33, 300}) {
    Case c = case_of_head(cell, Storage::F32, {2, 5, 1, dim});
    c.parameters = head_point(c.problem, 4, 4, 2, 1);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << dim;
  }
}

// A cell without any matrix whose heads are cut in time, or one that keeps its matrices on the chip, says why
// not.
TEST(AlongHead, OtherStrategiesSayWhyNot) {
  const Task coupled{along_cells().front(), {}, target::board()};
  EXPECT_EQ(find_strategy("shoot")->legal(coupled).reason,
            "the step shifts or sums up along the channels: channels see each other");
  const Task dense{cell_named("onlstm"), {}, target::board()};
  EXPECT_EQ(find_strategy("persistent")->legal(dense).reason,
            "the step shifts or sums up along the channels, which lie spread over the warps of a team: "
            "alternating computes such cells");
  const step::Cell multiplied = cells_of_text(
                                    "cell late(D) {\n input x[D]\n param R[D, D]\n state h[D]\n"
                                    " next h = tanh(R @ shift(h, 1) + x)\n output h\n}\n")
                                    .front();
  const Legality no = find_strategy("alternating")->legal({multiplied, {}, target::board()});
  EXPECT_EQ(
      no.reason,
      "the step multiplies what a shift or a running sum along the channels has made: make that the next "
      "value of a state, and multiply the state");
}

}  // namespace
}  // namespace rondo::schedule
