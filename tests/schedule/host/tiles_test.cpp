// host by the matrix tiles of CPUs, in the simulator against the fp64 reference: of the step, of all steps
// and of the matrices' gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/constraint/solver.h"
#include "compiler/kernel/passes/features.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/text_case.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const target::Target kWithTiles = {target::Target::Kind::X86_64, 5};

int kernels_with_tiles(const KernelPlan& plan) {
  return static_cast<int>(std::ranges::count_if(plan.launches, [](const Launch& launch) {
    return kernel::features_of(launch.kernel).contains(kernel::Feature::MatrixTiles);
  }));
}

// Runs both passes with tiles; says how many of their kernels have some.
int compare_by_tiles(Case c, int turn, std::int64_t rows = 2) {
  c.cpus = kWithTiles;
  c.parameters = {{"lanes", 16}, {"vectors", 1 + turn % 4}, {"rows", rows}, {"together", 1 << turn % 3},
                  {"tile", 1},   {"matrix_tiles", 1}};
  c.backward = c.parameters;
  SCOPED_TRACE(c.name());
  int kernels = 0;
  c.runner = [&kernels](const Task& task, const KernelPlan& plan, const TensorValues& values, int pad) {
    kernels += kernels_with_tiles(plan);
    return simulate_plan(task, plan, values, pad);
  };
  Comparison(std::move(c)).run();
  return kernels;
}

Case case_of(const step::Cell& cell, const step::Sizes& sizes) {
  Case c{find_strategy("host"), cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = Storage::BF16;
  c.problem.math = default_math(Storage::BF16);
  c.reached_states = true;
  return c;
}

// Heads of 32 and 96 channels, whose last block has none behind the head or some; blocks of one to 32 rows,
// of which the batch fills the last one hardly.
TEST(HostTiles, EveryCellWithMatrices) {
  int turn = 0, blocks = 0;
  for (const step::Cell& cell : dense_cells()) {
    if (cell.name == "viterbi") continue;  // a product of other terms
    const std::int64_t rows = std::int64_t{1} << blocks++ % 6;
    for (const std::int64_t dim : {32, 96}) {
      if (!rondo::testing::has_turn(++turn, 4)) continue;
      const step::Sizes sizes{rows + 1, 3, dim == 32 ? 2 : 1, dim};
      EXPECT_GT(compare_by_tiles(case_of(cell, sizes), turn, rows), 0) << cell.name;
      ASSERT_FALSE(HasFailure()) << cell.name << " " << dim;
    }
  }
}

// More steps than a gradient brings at once, and a number that no tile divides.
TEST(HostTiles, ManySteps) {
  for (const std::int64_t time : {33, 97}) {
    EXPECT_GE(compare_by_tiles(case_of(cell_named("gru"), {2, time, 1, 32}), 4), 6)
        << "steps, products, gradients";
    ASSERT_FALSE(HasFailure()) << time;
  }
}

TEST(HostTiles, FormsOfTheSequence) {
  int turn = 0;
  for (const char* name : {"lstm", "gru", "m2rnn"})
    for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}}) {
      if (!rondo::testing::has_turn(++turn, 3)) continue;
      Case c = case_of(step::with_forms(cell_named(name), forms).value(), {5, 7, 2, 32});
      EXPECT_GT(compare_by_tiles(std::move(c), turn), 0);
      ASSERT_FALSE(HasFailure()) << name;
    }
}

constexpr const char* kTransposes = R"(
cell turned(D) {
  input x[D]
  param R[D, D]
  state h[D]
  next h = tanh(R @ h - transpose(R) @ h + x)
  output h
})";
constexpr const char* kLayer = R"(
cell layer(D, E = 64) {
  input u[2, E]
  param W[3, D, E], R[D, D]
  state h[D]
  a = W @ u
  next h = tanh(R @ h + a[0, 0] * a[2, 1] + a[1, 0])
  output h
})";
constexpr const char* kProjected = R"(
cell projected(D, P = 32) {
  input x[D]
  param R[D, P], W[P, D]
  state r[P]
  next r = W @ tanh(R @ r + x)
  output r
})";

// Matrices that are read the other way round, and those of other extents than the head's; one that whole
// tiles do not divide goes the other way.
TEST(HostTiles, MatricesOfOtherExtents) {
  struct Of {
    const char* cell;
    std::int64_t dim;
    std::map<std::string, double> extents;
    bool tiles;
  };
  int turn = 0;
  for (const Of& of : {Of{kTransposes, 64, {}, true},
                       {kLayer, 32, {{"E", 64}}, true},
                       {kLayer, 64, {{"E", 40}}, true},
                       {kLayer, 32, {{"E", 41}}, true},
                       {kProjected, 64, {{"P", 32}}, true},
                       {kProjected, 96, {{"P", 20}}, true},
                       {kTransposes, 48, {}, false}}) {
    Case c = case_of(step::with_extents(cell_of_text(of.cell), of.extents), {3, 5, 2, of.dim});
    ++turn;
    if (of.tiles) {
      EXPECT_GT(compare_by_tiles(std::move(c), turn), 0);
    } else {
      c.cpus = kWithTiles;
      const constraint::System space = c.strategy->space(c.task());
      (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
        EXPECT_EQ(point["matrix_tiles"], 0);
        return !HasFailure();
      });
    }
    ASSERT_FALSE(HasFailure()) << of.cell << of.dim;
  }
}

// Where the CPUs, the type, the extents and the products have them.
TEST(HostTiles, AreOfferedWhereTheyAre) {
  const auto offered = [](int level, Storage storage, std::int64_t dim, const char* cell = "lstm") {
    Case c = case_of(cell_named(cell), {16, 8, 1, dim});
    c.cpus.level = level, c.problem.storage = storage;
    std::set<std::int64_t> values;
    (void)constraint::enumerate(c.strategy->space(c.task()), [&](const constraint::Assignment& point) {
      values.insert(point["matrix_tiles"]);
      EXPECT_TRUE(point["matrix_tiles"] == 0 || point["tile"] == 1);
      return true;
    });
    return values.contains(1);
  };
  EXPECT_TRUE(offered(5, Storage::BF16, 64));
  EXPECT_FALSE(offered(4, Storage::BF16, 64));
  EXPECT_FALSE(offered(5, Storage::F16, 64));
  EXPECT_FALSE(offered(5, Storage::F32, 64));
  EXPECT_FALSE(offered(5, Storage::BF16, 48));
  EXPECT_FALSE(offered(5, Storage::BF16, 64, "mingru"));
  EXPECT_FALSE(offered(5, Storage::BF16, 64, "viterbi"));
}

}  // namespace
}  // namespace rondo::schedule
