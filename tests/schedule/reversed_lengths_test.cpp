// Rows of different lengths in reversed time, and where heads walk in two directions: a walk leaves out the
// steps past the end of its row, which come first in reversed time, and what they have is written all the
// same.
#include <gtest/gtest.h>

#include <tuple>

#include "compiler/kernel/ir/print.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/shoot/points.h"
#include "tests/schedule/stream/head_cases.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

using step::Direction;

constexpr Direction kBackAndBoth[] = {Direction::Reversed, Direction::Halves};
constexpr Direction kAll[] = {Direction::Forward, Direction::Reversed, Direction::Halves};

step::Forms forms_with_lengths(bool resets, Direction direction) {
  return {resets, true, direction == Direction::Reversed, resets, direction == Direction::Halves};
}

step::Cell reversed_cell(const std::string& text, bool resets, Direction direction) {
  const frontend::Parsed parsed = frontend::parse(text, "reversed.cell");
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "reversed.cell");
  return step::with_forms(parsed.cells.front(), forms_with_lengths(resets, direction)).value();
}

// Affine and not; both store a history, as no output is the state. One draws.
step::Cell affine_cell(bool resets, Direction direction) {
  return reversed_cell(
      "cell affine(D) {\n input x[2, D]\n param b[D]\n state h[D]\n a = sigmoid(x[0] + b)\n"
      " next h = a * h + select(uniform(keep) < 0.25, 0, x[1])\n output y = 2 * next h + x[0]\n}\n",
      resets, direction);
}
step::Cell gated_cell(bool resets, Direction direction) {
  return reversed_cell(
      "cell gated(D) {\n input x[D]\n param w[D]\n state h[D]\n next h = tanh(0.5 * w * h + x)\n"
      " output y = 2 * next h\n}\n",
      resets, direction);
}

const std::vector<std::vector<double>> kLengths = {{2, 5, 0, 3, 37}, {1, 36, 20, 19, 4}};

Case reversed_case(const char* strategy, const step::Cell& cell, Storage storage, std::int64_t dim,
                   int turn) {
  Case c{find_strategy(strategy), cell, {}, {}, {}, false};
  const std::int64_t ways = cell.direction == Direction::Halves ? 2 : 1;
  c.problem.sizes = {5, 37, ways * (turn % 2 + 1), dim};
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.flags["lengths"] = kLengths[static_cast<std::size_t>(turn) % kLengths.size()];
  return c;
}

TEST(ReversedLengths, StreamLeavesOutWhatIsPastTheEnd) {
  int turn = 0;
  for (const bool resets : {false, true})
    for (const auto& [segments, split, exchange, depth] :
         {std::tuple{1, 1, 0, 1}, {4, 1, 0, 1}, {4, 2, 0, 1}, {4, 4, 0, 2}, {4, 2, 1, 1}, {4, 2, 1, 2}})
      for (const Storage storage : {Storage::BF16, Storage::F32}) {
        const Direction direction = kBackAndBoth[(turn / 2 + turn / 12) % 2];
        if (!rondo::testing::has_turn(++turn)) continue;
        Case c = reversed_case("stream", affine_cell(resets, direction), storage, 72, turn);
        c.parameters = stream_in_cluster_of_two(64, depth == 2);
        c.parameters["vector"] = 4;
        c.parameters["rewrite"] = 0;
        c.parameters["segments"] = segments;
        c.parameters["unroll"] = 4;
        c.parameters["steps"] = 16;
        c.parameters["time_split"] = split;
        c.parameters["exchange"] = exchange;
        c.parameters["pipeline_depth"] = depth;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << segments << " segments, " << split << " blocks, exchange " << exchange;
      }
}

TEST(ReversedLengths, ShootLeavesOutWhatIsPastTheEnd) {
  int turn = 0;
  for (const Direction direction : kAll)
    for (const bool resets : {false, true})
      for (const ShootTeam team : {ShootTeam{1, 1, 0}, {4, 1, 0}, {3, 2, 0}, {3, 2, 1}})
        for (const Storage storage : {Storage::F16, Storage::F32}) {
          if (!rondo::testing::has_turn(++turn)) continue;
          Case c = reversed_case("shoot", gated_cell(resets, direction), storage, 33, turn);
          c.parameters = shoot_point(c.problem, team, 1, turn % 3 == 0 ? 8 : 0);
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure()) << team.segments << " segments, " << team.time_split << " blocks";
        }
}

// Two states that differ, and draws: histories past a row's end are each of its own state, and a draw is that
// of its step of the sequence, wherever the walk begins.
TEST(ReversedLengths, ShootKeepsStatesAndDrawsApart) {
  int turn = 0;
  for (const Direction direction : kAll)
    for (const ShootTeam team : {ShootTeam{1, 1, 0}, {4, 1, 0}, {3, 2, 0}, {3, 2, 1}, {3, 2, 2}}) {
      const step::Cell cell = reversed_cell(
          "cell two(D) {\n input x[D]\n param w[2, D]\n state h[D], g[D]\n"
          " next h = select(uniform(keep) < 0.25, h, tanh(0.5 * w[0] * h + 0.25 * g + x))\n"
          " next g = tanh(0.5 * w[1] * g + 0.25 * x) + 1\n output y = 2 * next h + next g\n}\n",
          ++turn % 2 == 0, direction);
      Case c = reversed_case("shoot", cell, turn % 2 == 0 ? Storage::F16 : Storage::F32, 33, turn);
      c.parameters = shoot_point(c.problem, team, 1, turn % 3 == 0 ? 8 : 0);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << team.segments << " segments, " << team.time_split << " blocks";
    }
}

TEST(ReversedLengths, WholeHeadsLeaveOutWhatIsPastTheEnd) {
  int turn = 0;
  for (const step::Cell& plain : head_cells())
    for (const int blocks : {1, 2}) {
      const Direction direction = kBackAndBoth[turn / 4 % 2];
      const bool resets = ++turn % 2 == 0;
      Case c = reversed_case("stream", step::with_forms(plain, forms_with_lengths(resets, direction)).value(),
                             Storage::F32, 70, turn);
      c.reached_states = true;
      c.parameters = cluster_point(c.problem, 1, blocks, 4, 2);
      Comparison(c).run();
      if (turn % 2 == 1 && blocks == 1) {  // several heads of a block, which walk the same way
        c.problem.sizes.dim = 8;
        c.problem.sizes.heads = direction == Direction::Halves ? 8 : 2;
        c.parameters = head_point(c.problem, 1, 4, 2, 1, 4);
        c.parameters["channels"] = 8;
        Comparison(std::move(c)).run();
      }
      ASSERT_FALSE(HasFailure()) << plain.name << " in " << blocks << " blocks";
    }
}

// Tiles of eight rows, of which none has the whole time; draws, one value a head, resets.
TEST(ReversedLengths, PersistentLeavesOutWhatIsPastTheEnd) {
  const std::vector<double> lengths = {2, 5, 0, 3, 17, 1, 1, 9, 4, 0, 11};
  const auto kept = [](bool resets, Direction direction) {
    return reversed_cell(
        "cell kept(D) {\n input x[D], m\n param R[D, D]\n state h[D], n\n next n = m * n + mean(square(h))\n"
        " next h = select(uniform(keep) < 0.25, h, tanh(R @ h + m * x / (1 + n)))\n output y = 2 * next "
        "h\n}\n",
        resets, direction);
  };
  int turn = 0;
  for (const bool resets : {false, true})
    for (const auto& [blocks, exchange] : {std::pair{1, 0}, {2, 0}, {2, 1}})
      for (const Storage storage : {Storage::BF16, Storage::F32})
        for (const bool plain : {false, true}) {
          if (!rondo::testing::has_turn(turn + 1)) {
            ++turn;
            continue;
          }
          const Direction direction = kBackAndBoth[(turn / 2 + turn / 4) % 2];
          const step::Cell cell =
              plain ? step::with_forms(cell_named("gru"), forms_with_lengths(resets, direction)).value()
                    : kept(resets, direction);
          Case c = reversed_case("persistent", cell, storage, 40, ++turn);
          c.problem.sizes.batch = 11;
          c.flags["lengths"] = lengths;
          c.reached_states = true;
          c.parameters = persistent_point(c.problem, blocks, exchange, turn, false);
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure()) << cell.name << ", " << blocks << " blocks, exchange " << exchange;
        }
}

// The walk has as many steps as the longest of the block's rows, in all passes and forms.
TEST(ReversedLengths, KernelsCountTheStepsOfTheirRows) {
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
    for (const int split : {1, 2}) {
      Problem problem;
      problem.pass = pass;
      problem.sizes = {5, 37, 2, 64};
      const Direction direction = kBackAndBoth[split % 2];
      Parameters parameters = stream_in_cluster_of_two(64, false);
      parameters["time_split"] = split;
      const auto text = [&](const char* strategy, const step::Cell& cell, const Parameters& point) {
        std::string kernels;
        for (const Launch& launch : point_plan(*find_strategy(strategy), cell, problem, point).launches)
          kernels += kernel::print(launch.kernel);
        return kernels;
      };
      EXPECT_NE(text("stream", affine_cell(false, direction), parameters).find("left_out"),
                std::string::npos);
      const step::Cell dense =
          step::with_forms(cell_named("elman"), forms_with_lengths(false, direction)).value();
      EXPECT_NE(text("persistent", dense, persistent_point(problem, split, 0, 0, false)).find("left_out"),
                std::string::npos);
      if (pass != Pass::Backward) {
        const ShootTeam team{4, split, 0};
        // With two directions no thread that stores histories knows the last states of the first half.
        const Direction leaves_out = pass == Pass::ForwardSave ? Direction::Reversed : direction;
        EXPECT_NE(text("shoot", gated_cell(false, leaves_out), shoot_point(problem, team)).find("left_out"),
                  std::string::npos);
      }
    }
}

}  // namespace
}  // namespace rondo::schedule
