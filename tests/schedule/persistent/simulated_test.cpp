// persistent, forward and backward, in the simulator against the fp64 reference.
#include <gtest/gtest.h>

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy* const kPersistent = find_strategy("persistent");

void run_all_sizes(Storage storage, int blocks, int grid = 0, bool reduce_scatter = false, int share = 1) {
  int turn = 0, number = blocks + grid + share + (reduce_scatter ? 1 : 0);
  for (const step::Cell& cell : dense_cells()) {
    const bool has_turn = rondo::testing::has_turn(++number);
    for (const std::int64_t dim : {1, 40, 72}) {
      const std::int64_t batches[] = {1, 5, 17}, times[] = {1, 2, 9};
      ++turn;
      if (!has_turn) continue;
      Case c{kPersistent, cell, {}, {}, {}, false};
      c.problem.sizes = {batches[turn % 3], times[(turn / 3 + turn) % 3], turn % 2 + 1, dim};
      c.problem.storage = storage;
      c.parameters = persistent_point(c.problem, blocks, grid, turn, reduce_scatter, share);
      c.reached_states = true;
      Comparison(std::move(c)).run();
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// One case a cell: products in three terms, and in tf32, whose loop needs more than one channel not to be
// right by luck. `turn` makes another choice of kinds and sizes for each form.
void run_fp32(int turn, int blocks, int grid = 0, bool reduce_scatter = false, int share = 1) {
  for (const step::Cell& cell : dense_cells()) {
    if (!rondo::testing::has_turn(++turn, 5)) continue;  // 5: all kinds and sizes have their turn
    const std::int64_t dims[] = {40, 1, 72}, batches[] = {1, 5, 12}, times[] = {1, 2, 7};
    const bool tf32 = turn % 2 == 0;
    Case c{kPersistent, cell, {}, {}, {}, true};
    c.problem.sizes = {batches[turn % 3], times[(turn / 3 + turn) % 3], turn % 2 + 1,
                       dims[tf32 ? turn / 2 % 2 * 2 : turn / 2 % 3]};
    c.problem.storage = Storage::F32;
    c.problem.math = tf32 ? kernel::Math::Tf32 : kernel::Math::Accurate;
    c.parameters = persistent_point(c.problem, blocks, grid, turn, reduce_scatter, share);
    Comparison(std::move(c)).run();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(PersistentSimulated, OneBlockBf16) { run_all_sizes(Storage::BF16, 1); }
TEST(PersistentSimulated, OneBlockFp16) { run_all_sizes(Storage::F16, 1); }
TEST(PersistentSimulated, ClusterOf2) { run_all_sizes(Storage::BF16, 2); }
TEST(PersistentSimulated, ClusterOf4) { run_all_sizes(Storage::F16, 4); }
TEST(PersistentSimulated, GridOf3) { run_all_sizes(Storage::BF16, 3, 1); }

TEST(PersistentSimulated, ReduceScatterInClusterOf2) { run_all_sizes(Storage::F16, 2, 0, true); }
TEST(PersistentSimulated, ReduceScatterInClusterOf4) { run_all_sizes(Storage::BF16, 4, 0, true); }
TEST(PersistentSimulated, ReduceScatterInGridOf3) { run_all_sizes(Storage::BF16, 3, 1, true); }

TEST(PersistentSimulated, ReduceScatterInGridOfTwoClusters) { run_all_sizes(Storage::F16, 4, 1, true, 2); }
TEST(PersistentSimulated, ReduceScatterInGridOfClustersOf4) { run_all_sizes(Storage::BF16, 8, 1, true, 4); }

TEST(PersistentSimulated, Fp32OneBlock) { run_fp32(0, 1); }
TEST(PersistentSimulated, Fp32ClusterOf2) { run_fp32(1, 2); }
TEST(PersistentSimulated, Fp32ClusterOf4) { run_fp32(2, 4); }
TEST(PersistentSimulated, Fp32GridOf3) { run_fp32(3, 3, 1); }
TEST(PersistentSimulated, Fp32ReduceScatterInClusterOf2) { run_fp32(4, 2, 0, true); }
TEST(PersistentSimulated, Fp32ReduceScatterInClusterOf4) { run_fp32(5, 4, 0, true); }
TEST(PersistentSimulated, Fp32ReduceScatterInGridOf3) { run_fp32(6, 3, 1, true); }
TEST(PersistentSimulated, Fp32ReduceScatterInGridOfTwoClusters) { run_fp32(7, 4, 1, true, 2); }
TEST(PersistentSimulated, Fp32ReduceScatterInGridOfClustersOf4) { run_fp32(8, 8, 1, true, 4); }

TEST(PersistentSimulated, ReduceScatterInGridOfTwoClustersManySteps) {
  Case c{kPersistent, cell_named("gru"), {}, {}, {}, true};
  c.problem.sizes = {3, 150, 1, 40};
  c.parameters = persistent_point(c.problem, 4, 1, 1, true, 2);
  Comparison(std::move(c)).run();
}

TEST(PersistentSimulated, Fp32GridOf3ManySteps) {
  for (const bool reduce_scatter : {false, true}) {
    Case c{kPersistent, cell_named("mgu"), {}, {}, {}, true};
    c.problem.sizes = {3, 150, 1, 40};
    c.problem.storage = Storage::F32;
    c.problem.math = kernel::Math::Accurate;
    c.parameters = persistent_point(c.problem, 3, 1, 2, reduce_scatter);
    Comparison(std::move(c)).run();
  }
}

// Gates saturate, and gradients grow from step to step.
TEST(PersistentSimulated, Fp32LargeMatrices) {
  for (const kernel::Math math : {kernel::Math::Accurate, kernel::Math::Tf32}) {
    Case c{kPersistent, cell_named("lstm"), {}, {}, {}, true, 5};
    c.problem.sizes = {5, 6, 1, 72};
    c.problem.storage = Storage::F32;
    c.problem.math = math;
    c.parameters = persistent_point(c.problem, 2, 0, 1, false);
    Comparison(std::move(c)).run();
  }
}

// What a step reads after its products is of the step, although the next one has been looked at by then. With
// fast math that is also the y of x (1 - y), which becomes a multiply-add: an input, a function of one, and,
// in a cell that reduces, a square that is left out of what the next step is handed.
constexpr const char* kReadLate[] = {
    R"(cell gated_vector(D) {
  input x[D], m[D]
  param R[D, D]
  state h[D]
  next h = tanh(R @ ((1 - m) * h) + m * x)
  output h
})",
    R"(cell function_of_input(D) {
  input x[2, D]
  param R[D, D]
  state h[D]
  c = cos(x[1])
  next h = tanh(R @ ((1 - c) * h) + c * x[0])
  output h
})",
    R"(cell left_out(D) {
  input x[D]
  param R[D, D]
  state h[D]
  t = tanh(h)
  next h = cos(R @ t) + t * x + 0.1 * mean(h)
  output h
})"};

TEST(PersistentSimulated, WhatIsReadAfterTheProductsIsOfTheStep) {
  struct Form {
    int blocks, grid;
  };
  int turn = 0;
  for (const char* text : kReadLate)
    for (const Form& form : {Form{1, 0}, Form{2, 0}, Form{3, 1}}) {
      const frontend::Parsed parsed = frontend::parse(text, "late.cell");
      ASSERT_TRUE(parsed.ok()) << frontend::render_all(parsed, text, "late.cell");
      Case c{kPersistent, parsed.cells.at(0), {}, {}, {}, true};
      c.problem.sizes = {5, 9, 1, 40};
      c.problem.storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F16;
      c.parameters = persistent_point(c.problem, form.blocks, form.grid, turn, false);
      Comparison(std::move(c)).run();
    }
}

// A group of four warps of which some neither stage nor store.
TEST(PersistentSimulated, HelpersLendRegisters) {
  for (const int blocks : {1, 2}) {
    Case c{kPersistent, cell_named("lstm"), {}, {}, {}, true};
    c.problem.sizes = {9, 7, 1, blocks == 1 ? 64 : 128};
    c.parameters = persistent_point(c.problem, blocks, 0, 0, false);
    c.parameters["setmaxnreg"] = 1;
    c.parameters["unit_blocks"] = 1;
    Comparison(std::move(c)).run();
  }
}

// Large heads, few threads: a thread collects its words in several turns, the last one not full.
TEST(PersistentSimulated, GridCollectsInTurns) {
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    Case c{kPersistent, cell_named("elman"), {}, {}, {}, true};
    c.problem.sizes = {9, 3, 1, 192};
    c.problem.storage = storage;
    if (storage == Storage::F32) c.problem.math = kernel::Math::Accurate;
    c.parameters = persistent_point(c.problem, 24, 1, 2, false);
    c.parameters["unit_blocks"] = c.parameters["split_k"] = 1;
    const PersistentGeometry g(192, storage, read_parameters<PersistentParameters>(c.parameters));
    const int vectors = g.p.batch_tiles * g.padded * g.row_vectors() / g.multiplying();
    ASSERT_GT(vectors, AllGatherProducts::kMostCollected);
    if (storage == Storage::BF16) {
      ASSERT_NE(vectors % AllGatherProducts::kMostCollected, 0);
    }
    Comparison(std::move(c)).run();
  }
}

TEST(PersistentSimulated, GridOf2WithSplitsManySteps) {
  Case c{kPersistent, cell_named("lstm"), {}, {}, {}, true};
  c.problem.sizes = {3, 150, 1, 40};
  c.parameters = persistent_point(c.problem, 2, 1, 1, false);
  ASSERT_EQ(c.parameters.at("split_k"), 2);
  Comparison(std::move(c)).run();
}

TEST(PersistentSimulated, ReduceScatterInGridOf3ManySteps) {
  Case c{kPersistent, cell_named("mgu"), {}, {}, {}, true};
  c.problem.sizes = {3, 150, 1, 40};
  c.parameters = persistent_point(c.problem, 3, 1, 2, true);
  Comparison(std::move(c)).run();
}

// By power iteration on the transpose times the matrix, D x D.
double spectral_norm(const std::vector<double>& matrix, std::size_t dim) {
  std::vector<double> v(dim, 1);
  double norm = 0;
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<double> forth(dim, 0), back(dim, 0);
    for (std::size_t i = 0; i < dim; ++i)
      for (std::size_t j = 0; j < dim; ++j) forth[i] += matrix[i * dim + j] * v[j];
    for (std::size_t i = 0; i < dim; ++i)
      for (std::size_t j = 0; j < dim; ++j) back[j] += matrix[i * dim + j] * forth[i];
    double length = 0;
    for (const double x : back) length += x * x;
    norm = std::sqrt(std::sqrt(length));
    for (std::size_t j = 0; j < dim; ++j) v[j] = back[j] / std::sqrt(length);
  }
  return norm;
}

constexpr double kLargeMatrices = 5;  // matrices uniform in +-5 / sqrt(D)

TEST(PersistentSimulated, LargeMatricesAreLarge) {
  std::mt19937 rng(3);
  const double norm = spectral_norm(draw(rng, 72 * 72, kLargeMatrices / std::sqrt(72), Storage::BF16), 72);
  EXPECT_GT(norm, 4);
  EXPECT_LT(norm, 8);
}

// Gates saturate, and gradients grow from step to step.
TEST(PersistentSimulated, LargeMatrices) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells())
    for (const Storage storage : {Storage::BF16, Storage::F16}) {
      Case c{kPersistent, cell, {}, {}, {}, true, kLargeMatrices};
      c.problem.sizes = {5, 6, 2, 72};
      c.problem.storage = storage;
      if (!rondo::testing::has_turn(++turn)) continue;
      c.parameters = persistent_point(c.problem, turn % 2 + 1, 0, turn, false);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure());
    }
}

// Longer than the ring of words that the blocks of a grid exchange, so that its places are used again.
TEST(PersistentSimulated, GridOf3ManySteps) {
  Case c{kPersistent, cell_named("mgu"), {}, {}, {}, true};
  c.problem.sizes = {3, 150, 1, 40};
  c.parameters = persistent_point(c.problem, 3, 1, 2, false);
  Comparison(std::move(c)).run();
}

}  // namespace
}  // namespace rondo::schedule
