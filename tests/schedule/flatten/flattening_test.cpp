// States whose rows are walked as rows of the batch: which cells they are of, and what every strategy makes
// of them against the fp64 reference, whose states have all rows, in every form of the sequence.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "compiler/constraint/solver.h"
#include "compiler/executable/launcher.h"
#include "compiler/schedule/flatten/flattened_cell.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/step/clip.h"
#include "compiler/step/extents.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "compiler/step/verify.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/first_point.h"
#include "tests/schedule/persistent/dense_points.h"
#include "tests/schedule/persistent/fragment_points.h"
#include "tests/schedule/text_case.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// M2RNN's state as its paper has it (https://arxiv.org/abs/2603.14360).
constexpr const char* kRowMemory = R"(
cell memory(D) {
  input q[8], k[8], v[D], f
  param W[D, D]
  state S[8, D]
  next S = f * S + (1 - f) * tanh(W @ S + k * v)
  output y = sum(q * next S, rows)
})";
// Two states, one of them of one value a row, that do not begin with zero; inputs of rows of their own, with
// rows in them; vectors of parameters; a sum along the head; an output of all rows, and a sum that is scaled.
constexpr const char* kRowGated = R"(
cell gated(D) {
  input x[8, 2, D], g[2, D], q[8], m
  param R[2, D, D], b[D], p
  state S[8, D] = 0.25, n[8] = 1
  u = [x[0][0], x[1][0], x[2][0], x[3][0], x[4][0], x[5][0], x[6][0], x[7][0]]
  w = [x[0][1], x[1][1], x[2][1], x[3][1], x[4][1], x[5][1], x[6][1], x[7][1]]
  z = R @ S
  a = sigmoid(z[0] + g[0] + u + b)
  next n = 0.5 * n + p * m * sum(w * S) / D
  next S = a * S + (1 - a) * tanh(z[1] + g[1] + next n * w)
  output S
  output y = -0.5 * m * sum(q * S * next n, rows)
})";
// Products of a product, and one of what all rows have.
constexpr const char* kRowDeep = R"(
cell deep(D) {
  input x[D], k[9]
  param U[D, D], V[D, D], W[D, D]
  state S[9, D]
  w = W @ tanh(x)
  next S = tanh(0.5 * S + U @ tanh(V @ S + k * w) + w)
  output o = sum(next S, rows) / 3
})";
// An input product of its own, and a state of P channels.
constexpr const char* kRowExtents = R"(
cell extents(D, P = 12, E = 21) {
  input u[E], k[8]
  param W[D, E], R[D, P], V[P, D]
  state S[8, P], h[8, D]
  x = W @ u
  next h = tanh(R @ S + k * x)
  next S = 0.5 * S + V @ (h * x)
  output y = sum(k * h, rows)
})";
// States with rows in their rows; inputs that have as many rows by chance, and are all of them for each.
constexpr const char* kRowPairs = R"(
cell pairs(D) {
  input x[8, D], k[8]
  param R[D, D], V[D, D]
  state S[8, 2, D], n[8]
  s = [S[0][0], S[1][0], S[2][0], S[3][0], S[4][0], S[5][0], S[6][0], S[7][0]]
  c = [S[0][1], S[1][1], S[2][1], S[3][1], S[4][1], S[5][1], S[6][1], S[7][1]]
  i = sigmoid(x[0] + x[1] + x[2])
  a = tanh(R @ s + x[3] * x[4] + k * x[5])
  b = i * c + (1 - i) * a * tanh(x[6])
  next n = 0.5 * n + mean(b)
  next S = [[a[0], b[0]], [a[1], b[1]], [a[2], b[2]], [a[3], b[3]], [a[4], b[4]], [a[5], b[5]], [a[6], b[6]],
            [a[7], b[7]]]
  output y = x[7] - sum(next n * (V @ b), rows) * x[0] + sum(k * a, rows)
})";
constexpr const char* kRowChosen = R"(
cell chosen(D) {
  input x[D], k[8]
  param A[D, D]
  state S[8, D]
  next S = maxplus(A, S) + k * x
  output y = sum(next S, rows)
})";

// Tiles of the batch that hold the rows of one batch row, of parts of one, and of several.
const TextCase kRowsCases[] = {
    {"persistent", kRowMemory, {3, 9, 2, 32}},   {"alternating", kRowMemory, {2, 5, 2, 24}},
    {"host", kRowMemory, {3, 18, 2, 17}},        {"persistent", kRowGated, {2, 7, 2, 40}},
    {"alternating", kRowGated, {3, 4, 2, 24}},   {"host", kRowGated, {2, 9, 2, 33}},
    {"persistent", kRowDeep, {2, 6, 2, 32}},     {"alternating", kRowDeep, {3, 4, 2, 24}},
    {"host", kRowDeep, {3, 9, 2, 17}},           {"persistent", kRowExtents, {2, 6, 2, 32}},
    {"alternating", kRowExtents, {2, 4, 2, 24}}, {"host", kRowExtents, {2, 9, 2, 33}},
    {"persistent", kRowChosen, {2, 6, 2, 24}},   {"alternating", kRowChosen, {2, 4, 2, 24}},
    {"host", kRowChosen, {2, 9, 2, 17}},         {"persistent", kRowPairs, {2, 6, 2, 32}},
    {"alternating", kRowPairs, {2, 4, 2, 24}},   {"host", kRowPairs, {3, 9, 2, 17}},
};
const step::Forms kRowsForms[] = {{},
                                  {true, true},
                                  {false, true, true},
                                  {true, true, false, true},
                                  {false, false, false, false, true},
                                  {true, true, false, false, true},
                                  {false, true, false, false, false, true}};

// In both passes.
void expect_rows_walked(Case c) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    c.problem.pass = pass;
    const Result<KernelPlan> plan =
        c.strategy->build_legal(c.task(), pass == Pass::Backward ? c.backward : c.parameters);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_GT(plan->batch_rows, 1) << pass_name(pass);
  }
}

TEST(Flattening, EveryStrategyInEveryForm) {
  int number = 0;
  for (const step::Forms& forms : kRowsForms)
    for (const TextCase& of : kRowsCases) {
      const Storage storage = number % 3 == 0 ? Storage::F32 : number % 3 == 1 ? Storage::BF16 : Storage::F16;
      if (!rondo::testing::has_turn(number++, 8)) continue;
      // Max-plus products have none, and pairs has more values with them than registers hold in every type.
      if (forms.tangents && (of.cell == kRowChosen || of.cell == kRowPairs)) continue;
      Case c = case_of_text(of, forms, storage);
      SCOPED_TRACE(c.name());
      expect_rows_walked(c);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << of.cell;
    }
}

// Teams of one block and of several, which exchange by clusters and by the grid, gather or scatter, in two
// tiles of the batch, in turn, and by fragments.
TEST(Flattening, TeamsOfBlocks) {
  struct Team {
    int blocks, grid, scatter, tiles_in_turn;
  };
  constexpr Team kTeams[] = {{1, 0, 0, 1}, {2, 0, 0, 1}, {4, 0, 1, 1},
                             {2, 1, 0, 1}, {4, 1, 1, 1}, {4, 1, 0, 2}};
  int turn = 0;
  for (const Team& team : kTeams)
    for (const char* text : {kRowMemory, kRowGated, kRowDeep}) {
      if (!rondo::testing::has_turn(++turn, 6)) continue;
      Case c = case_of_text({"persistent", text, {turn % 2 + 2, 5, 2, 64}}, {}, Storage::BF16);
      c.parameters = persistent_point(c.problem, team.blocks, team.grid, turn, false);
      c.backward = persistent_point(c.problem, team.blocks, team.grid, turn, team.scatter == 1);
      c.parameters["tiles_in_turn"] = text == kRowMemory ? team.tiles_in_turn : 1;  // of one product a step
      SCOPED_TRACE(c.name());
      expect_rows_walked(c);
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << turn;
    }
}

// Persistent's store warps add up neighbouring rows: 2 of 10, 4 of 12, 8 of 16 and 24, of which 2 and 3 sums
// are left. With lengths, behind which sums are 0, and heads of fewer channels than a warp stores.
TEST(Flattening, RowsThatStoreWarpsAddUp) {
  int turn = 0;
  for (const int rows : {10, 12, 16, 24})
    for (const std::int64_t dim : {33, 72}) {
      if (!rondo::testing::has_turn(++turn, 4)) continue;
      std::string text = kRowMemory;
      for (std::size_t at = 0; (at = text.find("[8", at)) != std::string::npos;)
        text.replace(at, 2, "[" + std::to_string(rows));
      const step::Forms forms{false, turn % 2 == 0, turn % 3 == 0};
      Case c = case_of_text({"persistent", text.c_str(), {3, 6, 2, dim}}, forms,
                            turn % 3 == 1 ? Storage::F32 : Storage::BF16);
      SCOPED_TRACE(c.name());
      const Result<KernelPlan> plan = c.strategy->build_legal(c.task(), c.backward);
      ASSERT_TRUE(plan.ok()) << plan.error().message;
      for (const WideTensor& tensor : plan->wide) {
        const bool of_v = tensor.ref.role == Role::Scratch && tensor.size.each == 2 * dim;
        EXPECT_TRUE(!of_v || tensor.size.batch_rows == rows / std::gcd(rows, 8)) << tensor.size.batch_rows;
      }
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << rows;
    }
}

// A vector that all rows of the batch share, and a matrix multiplies.
constexpr const char* kRowShared = R"(
cell shared(D) {
  input u[D], k[8]
  param R[D, D], W[D, D]
  state S[8, D]
  next S = tanh(R @ S + W @ u + 0.1 * k)
  output y = sum(k * next S, rows)
})";

TEST(Flattening, FragmentsOfASharedInput) {
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    if (!rondo::testing::has_turn(++turn, 2)) continue;
    Case c = case_of_fragments(cell_of_text(kRowShared), {2, 4, 1, 64}, {4, 1, 1}, storage);
    expect_rows_walked(c);
    compare(std::move(c));
  }
}

// Behind its length an input may be anything, and the gradient of its matrix has none of it.
TEST(Flattening, LengthsOfASharedInput) {
  for (const char* strategy : {"persistent", "alternating", "host"}) {
    Case c = case_of_text({strategy, kRowShared, {3, 6, 2, 24}}, {false, true}, Storage::F32);
    expect_rows_walked(c);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << strategy;
  }
}

// Where the gradient of a shared input is a factor of a matrix's, that one has it of each row.
TEST(Flattening, GradientsThatAreAddedUpAreNoFactors) {
  for (const char* strategy : {"persistent", "alternating", "host"}) {
    Case c = case_of_text({strategy, kRowGated, {3, 4, 2, 24}}, {}, Storage::BF16);
    expect_rows_walked(c);
    const std::optional<FlattenedCell> flat = flattened(c.task().cell);
    const step::Cell& cell = flat->cell;
    Task walked = c.task().of(cell);
    const BackwardSplit split = backward_split(walked);
    for (const step::MatrixGradient& matrix : split.needs.step.matrices) {
      const TensorRef left = left_row(cell, split, matrix.left).tensor;
      EXPECT_TRUE(left.role == Role::Scratch || !cell.tensor(left.tensor).summed) << strategy;
    }
  }
}

TEST(Flattening, Clipped) {
  for (const char* strategy : {"persistent", "alternating"}) {
    Case c = case_of_text({strategy, kRowMemory, {2, 5, 2, 32}}, {}, Storage::BF16);
    c.cell = step::clipped(c.cell, {0.5, 0.25}).value();
    expect_rows_walked(c);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << strategy;
  }
}

// Points from all over the space need no more shared memory than it says: what is added up is fp32.
TEST(Flattening, SharedMemoryOfTheSpace) {
  const Strategy& persistent = *find_strategy("persistent");
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    Problem problem;
    problem.sizes = {8, 64, 1, 72};
    problem.pass = pass;
    const Task task{cell_of_text(kRowGated), problem, target::board()};
    const constraint::System space = persistent.space(task);
    int seen = 0, built = 0;
    (void)constraint::enumerate(space, [&](const constraint::Assignment& point) {
      if (++seen % 89 != 1) return true;
      Parameters parameters;
      for (std::size_t i = 0; i < space.names().variables.size(); ++i)
        parameters[space.names().variables[i].name] = point.values()[i];
      const auto plan = persistent.build(task, parameters);
      EXPECT_TRUE(plan.ok()) << plan.error().message;
      for (const Launch& launch : plan.value().launches)
        if (launch.kernel.name.find("_persistent_") != std::string::npos) {
          EXPECT_LE(kernel::shared_bytes(launch.kernel), point["shared_bytes"]) << print(parameters);
        }
      return ++built < 25 && !HasFailure();
    });
    EXPECT_GE(built, 5) << pass_name(pass);
  }
}

TEST(Flattening, InFp64AllIsFp64) {
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  problem.storage = Storage::F64;
  problem.math = default_math(Storage::F64);
  const target::Profile cpu = target::host_profile({target::Target::Kind::X86_64, 3});
  const Strategy& host = *find_strategy("host");
  const Task task{cell_of_text(kRowGated), problem, cpu};
  const Result<KernelPlan> plan = host.build(task, first_point(host, task));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->wide.size(), 5u);  // two states at both ends, and a sum
  for (const WideTensor& tensor : plan->wide) EXPECT_EQ(tensor.storage, Storage::F64);
}

// What rows add to a sum is not rounded before it is made.
TEST(Flattening, SummandsAreFp32) {
  const Case c = case_of_text({"alternating", kRowMemory, {2, 4, 2, 32}}, {}, Storage::BF16);
  const Result<KernelPlan> plan = c.strategy->build_legal(c.task(), c.backward);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::size_t summed = 0;
  for (const WideTensor& tensor : plan->wide)
    if (tensor.ref.role == Role::Scratch) {
      EXPECT_EQ(tensor.storage, Storage::F32);
      ++summed;
    }
  EXPECT_EQ(summed, 2u) << "of v and of f";
}

// Here the summand is the next state itself, which the backward pass reads in the history that was saved.
TEST(Flattening, AnOutputThatIsASumHoldsNoState) {
  constexpr const char* kText = R"(
cell sums(D) {
  input x[D], k[8]
  param R[D, D]
  state S[8, D]
  next S = tanh(R @ S + k * x)
  output y = sum(next S, rows)
})";
  Comparison(case_of_text({"persistent", kText, {2, 5, 2, 32}}, {}, Storage::F32)).run();
}

// A scratch tensor of the walk has more rows than a result of the caller's.
TEST(Flattening, NothingLiesInAResult) {
  for (const char* text : {kRowMemory, kRowGated, kRowDeep}) {
    const Case c = case_of_text({"persistent", text, {2, 4, 2, 32}}, {}, Storage::BF16);
    const Result<KernelPlan> plan = c.strategy->build_legal(c.task(), c.backward);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_FALSE(plan->in_result.has_value()) << text;
  }
}

TEST(Flattening, SavedProductsStayInOneStep) {
  Case c = case_of_text({"host", kRowMemory, {2, 4, 2, 32}}, {}, Storage::F32);
  c.problem.save_products = true;
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    c.problem.pass = pass;
    const Result<KernelPlan> plan = c.strategy->build_legal(c.task(), first_point(*c.strategy, c.task()));
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_EQ(plan->batch_rows, 1);
  }
}

// Launches of the walk number more rows than the call has; 32 bits hold them all.
TEST(Flattening, RowsPast32BitsAreRefused) {
  const Case c = case_of_text({"persistent", kRowMemory, {2, 4, 2, 32}}, {}, Storage::BF16);
  const Result<KernelPlan> plan = c.strategy->build_legal(c.task(), c.backward);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const Result<executable::Executable> lowered = lower_plan(c.task(), *plan);
  ASSERT_TRUE(lowered.ok()) << lowered.error().message;
  const Result<executable::Launcher> launcher = executable::Launcher::make(*lowered);
  ASSERT_TRUE(launcher.ok());
  EXPECT_TRUE(launcher->check_sizes(1 << 20, 1).ok());
  const Status refused = launcher->check_sizes(1 << 28, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "B = 268435456 comes to 2147483648 rows; a launch has at most 2147483647");
  EXPECT_EQ(refused.error().hint, "split the batch into calls of at most B = 268435455");
}

// The cell of a row is a cell as any other.
TEST(Flattening, ACellOfOneRow) {
  for (const char* text : {kRowMemory, kRowGated, kRowDeep, kRowChosen}) {
    const step::Cell cell = step::simplify(cell_of_text(text));
    const std::optional<FlattenedCell> flat = flattened(cell);
    ASSERT_TRUE(flat.has_value()) << text;
    EXPECT_TRUE(step::verify(flat->cell).empty()) << step::verify(flat->cell).front();
    for (const step::TensorId state : flat->cell.of_kind(step::TensorKind::State)) {
      EXPECT_EQ(flat->cell.tensor(state).rows, 1);
      EXPECT_TRUE(flat->rows.has_own(state));
    }
  }
  const FlattenedCell gated = *flattened(step::simplify(cell_of_text(kRowGated)));
  EXPECT_EQ(gated.rows.count, 8);
  EXPECT_EQ(gated.cell.tensor(*gated.cell.find("x")).rows, 2);
  EXPECT_FALSE(gated.rows.has_own(*gated.cell.find("g")));
  EXPECT_FALSE(gated.rows.has_own(*gated.cell.find("y")));
}

TEST(Flattening, InputsOfAsManyRowsByChance) {
  const std::optional<FlattenedCell> flat = flattened(step::simplify(cell_of_text(kRowPairs)));
  ASSERT_TRUE(flat.has_value());
  EXPECT_FALSE(flat->rows.has_own(*flat->cell.find("x")));
  EXPECT_TRUE(flat->rows.has_own(*flat->cell.find("k")));
  EXPECT_EQ(flat->cell.tensor(*flat->cell.find("S")).lead, std::vector<int>{2});
}

TEST(Flattening, WhatStaysInOneStep) {
  const auto flat = [](const std::string& body) {
    return flattened(step::simplify(cell_of_text(("cell stays(D) {\n" + body + "}\n").c_str()))).has_value();
  };
  const std::string plain =
      " input x[D], k[8]\n param R[D, D]\n state S[8, D]\n next S = tanh(R @ S + k * x)\n output y = ";
  EXPECT_TRUE(flat(plain + "sum(next S, rows)\n"));
  EXPECT_TRUE(flat(plain + "next S\n"));
  // A parameter for each row, of vectors and of matrices.
  EXPECT_FALSE(flat(" param R[D, D], b[8, D]\n state S[8, D]\n next S = tanh(R @ S + b)\n output S\n"));
  std::string rows;
  for (int row = 0; row < 8; ++row)
    rows += (row == 0 ? "" : ", ") + ("V[" + std::to_string(row) + "] @ S[" + std::to_string(row) + "]");
  EXPECT_FALSE(flat(" param V[8, D, D]\n state S[8, D]\n next S = [" + rows + "]\n output S\n"));
  // Fewer rows, and a state that has none.
  EXPECT_FALSE(flat(" input x[D]\n param R[D, D]\n state S[4, D]\n next S = tanh(R @ S + x)\n output S\n"));
  EXPECT_FALSE(
      flat(" input x[D]\n param R[D, D]\n state S[8, D], h[D]\n next S = tanh(R @ S + h)\n next h = x\n"
           " output S\n"));
  EXPECT_FALSE(
      flat(" param R[D, D]\n state S[8, D], h[D]\n next S = tanh(R @ S + h)\n"
           " next h = sum(S, rows)\n output S\n"));
  // Rows that meet in a state, in what is no sum, and one alone.
  EXPECT_FALSE(
      flat(" input x[D]\n param R[D, D]\n state S[8, D]\n next S = tanh(R @ S + x - sum(S, rows))\n"
           " output S\n"));
  for (const char* output : {"tanh(sum(next S, rows))", "next S[3]", "sum(next S, rows) * sum(S, rows)", "x",
                             "x / sum(next S, rows)", "max(x, sum(next S, rows))"})
    EXPECT_FALSE(flat(plain + output + "\n")) << output;
  // Sums of sums, and of what all rows share.
  for (const char* output : {"x + sum(next S, rows)", "2 * sum(next S, rows) - x * sum(k * S, rows) + 1",
                             "(x - sum(S, rows)) / 3"})
    EXPECT_TRUE(flat(plain + output + "\n")) << output;
  // No product of a row, and draws, which are of a place in the batch.
  EXPECT_FALSE(
      flat(" input x[D], k[8]\n param R[D, D]\n state S[8, D]\n next S = tanh(S + k * (R @ x))\n"
           " output S\n"));
  EXPECT_FALSE(
      flat(" input x[D]\n param R[D, D]\n state S[8, D]\n"
           " next S = R @ S + x * uniform(noise)\n output S\n"));
}

}  // namespace
}  // namespace rondo::schedule
