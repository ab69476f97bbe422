// Products saved by the forward pass in place of those that the backward pass multiplies again: which they
// are, and both ways in the simulator against the fp64 reference and against each other.
#include "compiler/schedule/analysis/saved_products.h"

#include <gtest/gtest.h>

#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/point_plan.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

const Strategy* const kPersistent = find_strategy("persistent");
const Strategy* const kAlternating = find_strategy("alternating");

step::Cell parsed(const std::string& text) {
  const frontend::Parsed file = frontend::parse(text, "test.cell");
  if (!file.ok()) throw std::runtime_error(frontend::render_all(file, text, "test.cell"));
  return file.cells.at(0);
}

// --- which ---

std::map<std::string, int> rows_of(const step::Cell& cell) {
  std::map<std::string, int> rows;
  for (const TensorId id : product_tensors(cell))
    rows[cell.tensors[static_cast<std::size_t>(id)].name] = product_rows(cell, id);
  return rows;
}

using Rows = std::map<std::string, int>;

TEST(SavedProducts, AreThoseOfEveryGate) {
  EXPECT_EQ(rows_of(cell_named("lstm")), (Rows{{"R", 4}}));
  EXPECT_EQ(rows_of(cell_named("gru")), (Rows{{"R", 3}}));
  EXPECT_EQ(rows_of(cell_named("mgu")), (Rows{{"R", 2}}));
  for (const step::Cell& cell : diagonal_cells()) EXPECT_EQ(rows_of(cell), Rows{}) << cell.name;
}

TEST(SavedProducts, AreNotThoseThatBackwardDoesNotRead) {
  EXPECT_EQ(rows_of(parsed(kLinear)), Rows{});
  const char* const half = R"(cell half(D) {
  input x[2, D]
  param Q[D, D], R[2, D, D]
  state h[D], k[D]
  next h = tanh(R[1] @ h + x[0]) + Q @ k
  next k = R[0] @ h + x[1]
  output h
})";
  EXPECT_EQ(rows_of(parsed(half)), (Rows{{"R", 1}}));
}

// Row i is that of the cell's text, whatever the order in which the step multiplies.
TEST(SavedProducts, LieInTheOrderOfTheirMatrix) {
  const step::Cell cell = step::simplify(parsed(R"(cell turned(D) {
  input x[D]
  param R[3, D, D]
  state h[D]
  u = tanh(R[2] @ h + x)
  next h = tanh(R[1] @ u) * sigmoid(R[0] @ h)
  output h
})"));
  const std::map<step::NodeId, RowRef> products = saved_products(cell);
  ASSERT_EQ(products.size(), 3u);
  for (const auto& [node, where] : products) EXPECT_EQ(where.row, cell.graph.at(node).row);
}

// A row that is multiplied twice, after all rows of the matrix: the rows of the tensor are in the order of
// the nodes' places, not of the nodes.
TEST(SavedProducts, OutputsLieInTheOrderOfTheirRows) {
  const step::Cell cell = with_product_outputs(step::simplify(parsed(R"(cell again(D) {
  input x[D]
  param R[2, D, D]
  state h[D], c[D]
  u = R @ tanh(c)
  next c = sigmoid(u[0]) * c + u[1] * x
  next h = tanh(u[1] * (R[0] @ h)) + next c
  output h
})")));
  EXPECT_EQ(step::verify(cell), std::vector<std::string>{});
  ASSERT_EQ(cell.outputs.size(), 4u);
  for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(cell.outputs[row + 1].row, static_cast<int>(row));
}

// --- the plans ---

int written_or_read(const KernelPlan& plan, Role role, bool written) {
  int found = 0;
  for (const Launch& launch : plan.launches)
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (const auto* pointer = std::get_if<Pointer>(&launch.arguments[i]))
        found += pointer->tensor.role == role && launch.kernel.params[i].written == written;
  return found;
}

TEST(SavedProducts, TakeThePlaceOfTheProductsOfAllSteps) {
  Problem problem;
  problem.sizes = {5, 9, 1, 40};
  for (const Strategy* strategy : {kPersistent, kAlternating})
    for (const step::Cell& cell : dense_cells()) {
      const Parameters point =
          strategy == kPersistent ? persistent_point(problem, 2, 0, 1, false) : alternating_point(problem, 1);
      const auto plan = [&](Pass pass, bool save) {
        problem.pass = pass;
        problem.save_products = save;
        return schedule::point_plan(*strategy, cell, problem, point);
      };
      EXPECT_EQ(written_or_read(plan(Pass::ForwardSave, false), Role::Products, true), 0);
      EXPECT_GT(written_or_read(plan(Pass::ForwardSave, true), Role::Products, true), 0);
      EXPECT_EQ(written_or_read(plan(Pass::Forward, true), Role::Products, true), 0) << "saves nothing";
      const KernelPlan again = plan(Pass::Backward, false), saved = plan(Pass::Backward, true);
      const auto all = static_cast<int>(saved_products(cell).size());
      EXPECT_EQ(again.scratch_rows.at(0), all) << cell.name;
      EXPECT_EQ(saved.scratch_rows.at(0), 0) << cell.name;
      EXPECT_LT(saved.launches.size(), again.launches.size()) << cell.name;
      EXPECT_GT(written_or_read(saved, Role::Products, false), 0) << cell.name;
    }
}

TEST(SavedProducts, StreamHasNone) {
  Problem problem;
  problem.save_products = true;
  problem.pass = Pass::Backward;
  const Legality legality = find_strategy("stream")->legal({cell_named("mingru"), problem, {}});
  EXPECT_FALSE(legality.legal);
  EXPECT_NE(legality.reason.find("no products to save"), std::string::npos) << legality.reason;
  problem.pass = Pass::Forward;
  EXPECT_TRUE(find_strategy("stream")->legal({cell_named("mingru"), problem, {}}).legal);
}

// --- the model ---

TEST(SavedProducts, AreWrittenAndReadInTheModelButNotMultiplied) {
  const target::Profile profile = target::find_profile("h200").value();
  const step::Cell cell = cell_named("lstm");
  Problem problem;
  problem.sizes = {16, 1024, 12, 64};
  for (const Strategy* strategy : {kPersistent, kAlternating}) {
    const Parameters point =
        strategy == kPersistent ? persistent_point(problem, 1, 0, 0, false) : alternating_point(problem, 1);
    const auto cost = [&](Pass pass, bool save) {
      problem.pass = pass;
      problem.save_products = save;
      return strategy->cost({cell, problem, profile}, point);
    };
    EXPECT_GT(cost(Pass::ForwardSave, true).memory, cost(Pass::ForwardSave, false).memory);
    EXPECT_EQ(cost(Pass::Backward, true).memory, cost(Pass::Backward, false).memory) << "read either way";
    problem.save_products = false;
    const double before = before_sweep({cell, problem, profile}).seconds;
    EXPECT_GT(before, 20e-6) << "100 MB written, 25 read";
    EXPECT_NEAR(cost(Pass::Backward, false).seconds - cost(Pass::Backward, true).seconds, before, 1e-9);
  }
}

// --- in the simulator ---

void run(const Strategy* strategy, const step::Cell& cell, Storage storage, const step::Sizes& sizes,
         const std::function<Parameters(const Problem&)>& point) {
  Case c{strategy, cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.save_products = true;
  c.parameters = point(c.problem);
  Comparison(std::move(c)).run();
}

void run_all_cells(Storage storage, int blocks, int grid = 0, bool reduce_scatter = false, int share = 1) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells()) {
    // Each form has its turn with every third cell, another third than the form before it.
    if (++turn; !rondo::testing::has_turn(turn + blocks + (storage == Storage::F16) + reduce_scatter))
      continue;
    run(kPersistent, cell, storage, {turn % 2 == 0 ? 5 : 9, 6, turn % 2 + 1, turn % 3 == 0 ? 40 : 72},
        [&](const Problem& p) { return persistent_point(p, blocks, grid, turn, reduce_scatter, share); });
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(SavedProductsSimulated, OneBlockBf16) { run_all_cells(Storage::BF16, 1); }
TEST(SavedProductsSimulated, OneBlockFp16) { run_all_cells(Storage::F16, 1); }
TEST(SavedProductsSimulated, ClusterOf2) { run_all_cells(Storage::BF16, 2); }
TEST(SavedProductsSimulated, GridOf3) { run_all_cells(Storage::F16, 3, 1); }
TEST(SavedProductsSimulated, ReduceScatterInClusterOf2) { run_all_cells(Storage::BF16, 2, 0, true); }
TEST(SavedProductsSimulated, ReduceScatterInGridOf3) { run_all_cells(Storage::BF16, 3, 1, true); }
TEST(SavedProductsSimulated, ReduceScatterInGridOfTwoClusters) { run_all_cells(Storage::F16, 4, 1, true, 2); }

TEST(SavedProductsSimulated, Fp32) {
  for (const char* cell : {"gru", "mgu"})
    for (const bool reduce_scatter : {false, true})
      run(kPersistent, cell_named(cell), Storage::F32, {5, 4, 1, 40},
          [&](const Problem& p) { return persistent_point(p, 3, 1, 1, reduce_scatter); });
}

TEST(SavedProductsSimulated, AlternatingOfEveryType) {
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
    for (const step::Cell& cell : dense_cells()) {
      if (!rondo::testing::has_turn(++turn, 8)) continue;
      run(kAlternating, cell, storage, {turn % 2 == 0 ? 5 : 17, 4, turn % 2 + 1, turn % 3 == 0 ? 40 : 72},
          [&](const Problem& p) { return alternating_point(p, turn); });
      ASSERT_FALSE(HasFailure());
    }
}

// Products of products, of sums with an input, of two vectors in one sum; rows that are not saved between
// rows that are.
TEST(SavedProductsSimulated, StepsOfUnusualShape) {
  const char* const texts[] = {R"(cell deep(D) {
  input x[D]
  param R[3, D, D], s[1]
  state h[D], c[D]
  u = tanh(R[0] @ h + x)
  v = sigmoid(R[1] @ (u * c))
  w = R[2] @ (v - u)
  next c = tanh(w) * s[0] + u * c
  next h = v * u + 0.5 * next c
  output h, c
})",
                               R"(cell twice(D) {
  input x[D]
  param R[2, D, D]
  state h[D]
  next h = tanh(R[1] @ (R[0] @ h) + x)
  output h
})",
                               R"(cell pair(D) {
  input x[2, D]
  param R[3, D, D], Q[D, D], b[D]
  state h[D], k[D]
  next h = tanh(R[0] @ h + Q @ k + x[0])
  next k = x[1] + 0.25 * (R[1] @ h)
  y = sigmoid(R[2] @ (k + x[1]) + b)
  output y, h
})"};
  for (const char* text : texts) {
    const step::Cell cell = parsed(text);
    for (const int blocks : {1, 2})
      run(kPersistent, cell, Storage::BF16, {3, 4, 2, 40},
          [&](const Problem& p) { return persistent_point(p, blocks, 0, blocks, false); });
    run(kPersistent, cell, Storage::F16, {3, 4, 2, 40},
        [&](const Problem& p) { return persistent_point(p, 2, 0, 1, true); });
    for (const Storage storage : {Storage::BF16, Storage::F32})
      run(kAlternating, cell, storage, {3, 4, 2, 33},
          [&](const Problem& p) { return alternating_point(p, 1); });
    ASSERT_FALSE(HasFailure()) << text;
  }
}

// --- on integers ---

constexpr const char* kBilinear = R"(
cell bilinear(D) {
  input x[2, D]
  param R[2, D, D]
  state h[D], k[D]

  g = R @ h
  next h = g[0] * x[0] + x[1]
  next k = g[1] * x[1] - k
  output h, k
}
)";

// The gradient of x is made of the products, so none can lie in the wrong place; and saved or multiplied
// again, the gradients are those of the reference, bit for bit.
TEST(SavedProductsExact, EveryForm) {
  struct Form {
    int blocks, grid, reduce_scatter, share;
  };
  Problem problem;
  problem.sizes.dim = 40;
  for (const bool save : {false, true}) {
    for (const Form& f :
         {Form{1, 0, 0, 1}, {2, 0, 0, 1}, {3, 1, 0, 1}, {2, 0, 1, 1}, {3, 1, 1, 1}, {4, 1, 1, 2}})
      ExactCase("persistent", persistent_point(problem, f.blocks, f.grid, 0, f.reduce_scatter == 1, f.share),
                Storage::BF16, {}, {kBilinear, save})
          .run();
    for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
      ExactCase("alternating", alternating_point(problem, 3), storage, {}, {kBilinear, save}).run();
  }
}

}  // namespace
}  // namespace rondo::schedule
