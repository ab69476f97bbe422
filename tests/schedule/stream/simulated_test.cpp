// stream, forward and backward, in the simulator against the fp64 reference.
#include <gtest/gtest.h>

#include <functional>

#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kStream = find_strategy("stream");

constexpr Storage kStorages[] = {Storage::BF16, Storage::F16, Storage::F32};

// Parameters that fit the sizes: the widest copies the row length allows.
Parameters parameters_for(const Problem& problem, int channels, int per_thread, int steps, int stages,
                          int producers) {
  int vector = static_cast<int>(16 / kernel::storage_bytes(problem.storage));
  while (problem.sizes.dim % vector != 0) vector /= 2;
  per_thread = std::min(per_thread, vector);
  return {{"channels", channels},
          {"per_thread", per_thread},
          {"steps", steps},
          {"stages", stages},
          {"unroll", 4},
          {"vector", vector},
          {"producer_warps", producers},
          {"rewrite", problem.math == kernel::Math::Fast ? (channels / 8 + stages) % 3 : 0},
          {"segments", 1},
          {"time_split", 1},
          {"stream_stores", 0},
          {"interleaved_copies", 0},
          {"pipeline_depth", 1},
          {"exchange", 0}};
}

// Four parts of a stage, the step as written or, with approximate functions, in few instructions.
void in_segments(Parameters& parameters, const Problem& problem) {
  parameters["segments"] = 4;
  parameters["rewrite"] = problem.math == kernel::Math::Fast && parameters.at("stages") % 2 == 0 ? 2 : 0;
}

void run_all_sizes(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const std::int64_t time : {1, 7, 65})
      for (const std::int64_t dim : {1, 33, 130}) {
        Case c{kStream, cell, {}, {}, {}, false};
        c.problem.sizes = {3, time, ++turn % 2 + 1, dim};
        c.problem.storage = storage;
        c.problem.math = default_math(storage);
        const int channels = dim == 1 ? 8 : turn % 3 == 0 ? 64 : 40;
        c.parameters = parameters_for(c.problem, channels, 1 << turn % 3, turn % 4 < 2 ? 4 : 16, 2 + turn % 3,
                                      turn % 5 < 2 ? 0 : turn % 2 + 1);
        c.parameters["stream_stores"] = turn / 3 % 2;
        c.parameters["interleaved_copies"] = turn / 2 % 2;
        Comparison(std::move(c)).run();
        if (::testing::Test::HasFailure()) return;
      }
}

TEST(StreamSimulated, EveryDiagonalCellBf16) { run_all_sizes(Storage::BF16); }
TEST(StreamSimulated, EveryDiagonalCellFp16) { run_all_sizes(Storage::F16); }
TEST(StreamSimulated, EveryDiagonalCellFp32) { run_all_sizes(Storage::F32); }

TEST(StreamSimulated, SegmentsOfTime) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const Storage storage : {Storage::BF16, Storage::F32})
      for (const std::int64_t time : {1, 16, 17, 65}) {
        Case c{kStream, cell, {}, {}, {}, false};
        c.problem.sizes = {2, time, 1, ++turn % 2 == 0 ? 40 : 33};
        c.problem.storage = storage;
        c.problem.math = default_math(storage);
        c.parameters = parameters_for(c.problem, 40, 1 << turn % 2, 16, 3, turn % 3);
        c.parameters["interleaved_copies"] = turn / 2 % 2;
        c.backward = c.parameters;
        for (Parameters* p : {&c.parameters, &c.backward}) {
          c.problem.pass = p == &c.backward ? Pass::Backward : Pass::ForwardSave;
          if (segment_parts({cell, c.problem, {}}) > 0) in_segments(*p, c.problem);
        }
        EXPECT_EQ(c.backward.at("segments"), 4)
            << cell.name << ": every backward sweep is linear in its carries";
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure());
      }
}

// Blocks split time: all cells that can, in every storage type, with tails of T and D. `base` gives the tile,
// `team` how many blocks there are and how they meet.
using Base = std::function<Parameters(const Problem&, std::int64_t dim, int turn)>;
using TeamOf = std::function<void(Parameters&, int turn)>;
void split_time(const Base& base, const TeamOf& team) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const std::int64_t time : {1, 7, 65})
      for (const std::int64_t dim : {1, 33, 130}) {
        Case c{kStream, cell, {}, {}, {}, false};
        c.problem.sizes = {3, time, 1, dim};
        if (!rondo::testing::has_turn(++turn, 2)) continue;
        c.problem.storage = kStorages[(turn + turn / 3) % 3];
        c.problem.math = default_math(c.problem.storage);
        c.parameters = base(c.problem, dim, turn);
        c.backward = c.parameters;
        for (Parameters* p : {&c.parameters, &c.backward}) {
          c.problem.pass = p == &c.backward ? Pass::Backward : Pass::ForwardSave;
          if (segment_parts({cell, c.problem, {}}) == 0) continue;
          in_segments(*p, c.problem);
          team(*p, turn);
        }
        EXPECT_GT(c.backward.at("time_split"), 1) << cell.name;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
}

TEST(StreamSimulated, ClustersSplitTime) {
  split_time(
      [](const Problem& problem, std::int64_t dim, int turn) {
        return parameters_for(problem, dim == 1 ? 8 : 40, 1, 16, 2 + turn % 2, turn % 2);
      },
      [](Parameters& p, int turn) {
        p["time_split"] = turn % 9 == 0 ? 8 : 2 << turn / 2 % 2;
        p["pipeline_depth"] = 1 + turn / 3 % 2;
        p["interleaved_copies"] = p["producer_warps"] == 0 ? 1 : 0;
      });
}

// The same without a cluster, through global memory.
TEST(StreamSimulated, GridsSplitTime) {
  split_time(
      [](const Problem& problem, std::int64_t dim, int turn) {
        const int per_thread = dim == 130 ? 2 : 1;
        return parameters_for(problem, dim == 1 ? 8 : 40 * per_thread, per_thread, 16, 2 + turn % 2, 0);
      },
      [](Parameters& p, int turn) {
        p["time_split"] = turn % 9 == 0 ? 8 : 2 + turn / 2 % 2;
        p["exchange"] = 1;
        p["pipeline_depth"] = 1 + turn % 2;
        p["interleaved_copies"] = turn / 3 % 2;
      });
}

TEST(StreamSimulated, ManyShapesOfTile) {
  for (const int channels : {8, 24, 128})
    for (const int steps : {4, 32})
      for (const int stages : {2, 6})
        for (const int per_thread : {1, 2, 4}) {
          Case c{kStream, cell_named("paralstm"), {}, {}, {}, false};
          c.problem.sizes = {2, 37, 1, 136};
          c.parameters = parameters_for(c.problem, channels, per_thread, steps, stages, stages / 3);
          Comparison(std::move(c)).run();
          ASSERT_FALSE(HasFailure());
        }
}

}  // namespace
}  // namespace rondo::schedule
