// States, parameters, inputs and outputs with extents of their own: every strategy walks the cell with D
// channels in their place, and agrees with the fp64 reference, whose tensors have these extents, in every
// form of the sequence.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/widen/widened_cell.h"
#include "compiler/step/extents.h"
#include "compiler/step/forms.h"
#include "compiler/step/tangent.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/text_case.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// Sak et al. 2014, https://arxiv.org/abs/1402.1128.
constexpr const char* kProjected = R"(
cell lstmp(D, P = 12) {
  input x[4, D]
  param R[4, D, P], W[P, D], b[4, D]
  state r[P], c[D]
  g = R @ r + x + b
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next r = W @ (sigmoid(g[3]) * tanh(next c))
  output r
})";
constexpr const char* kLowRank = R"(
cell lowrank(D, K = 5) {
  input x[D]
  param U[D, K], V[K, D]
  state h[D]
  next h = tanh(U @ (V @ h) + x)
  output h
})";
// What lies behind the extents would be infinite or no number, in values and in gradients: logarithms of
// zeros.
constexpr const char* kSingular = R"(
cell singular(D, P = 11) {
  input x[D], v[P]
  param R[D, P], W[P, D], b[P], a[P]
  state h[P], c[D], k[P]
  m = W @ c
  z = log(b * b) + sigmoid(m) * log(v * v)
  next c = tanh(0.2 * (R @ (z * h)) + x)
  next h = 0.5 * h + tanh(m) * log(v * v)
  next k = tanh(1 / b) + tanh(a) * k
  output h
  output y = next c
  output q = next k + next h
})";
// Two extents that the walk has, a matrix from one to the other, and a third that it has not.
constexpr const char* kThreeExtents = R"(
cell three(D, P = 9, K = 6, E = 21) {
  input u[2, E], x[D]
  param A[D, P], B[P, K], C[2, K, D], W[P, E], V[D, E]
  state p[2, P] = 0.25, h[D]
  w = W @ u
  k = tanh(C @ h)
  next p = [tanh(0.5 * p[0] + B @ k[0] + w[0]), 0.5 * p[1] + w[1] * tanh(B @ k[1])]
  next h = tanh(A @ (p[0] - p[1]) + x + V @ u[0])
  output h
  output p
})";
// A matrix and its transpose (Chang et al. 2019, https://arxiv.org/abs/1902.09689), a transpose alone, and
// one between two extents.
constexpr const char* kTransposed = R"(
cell antisymmetric(D, P = 10) {
  input x[D]
  param R[D, D], S[2, D, D], W[P, D], gain[D]
  state h[D], p[P]
  a = R @ h - transpose(R) @ h + (transpose(S) @ tanh(h))[1] + transpose(W) @ p
  next h = h + 0.1 * sigmoid(gain) * tanh(a + x + transpose(S[0]) @ h)
  next p = tanh(W @ h)
  output h
})";
// No matrix at all.
constexpr const char* kDiagonal = R"(
cell diagonal(D, P = 7) {
  input x[D], v[P]
  param a[D], b[2, P]
  state h[D], p[P]
  next h = tanh(a) * h + x
  next p = sigmoid(b[0]) * p + b[1] * v
  output h
  output p
})";

// Extents of one channel, of a tile, odd ones, and as large as D.
const TextCase kWideCases[] = {
    {"persistent", kProjected, {4, 19, 2, 32}, {{"P", 16}}},
    {"persistent", kLowRank, {4, 9, 2, 32}, {{"K", 1}}},
    {"persistent", kSingular, {4, 7, 2, 32}, {{"P", 13}}},
    {"persistent", kThreeExtents, {4, 6, 2, 32}, {{"P", 32}, {"K", 8}, {"E", 50}}},
    {"alternating", kProjected, {4, 7, 2, 24}, {{"P", 9}}},
    {"alternating", kThreeExtents, {4, 5, 2, 24}, {}},
    {"persistent", kTransposed, {4, 9, 2, 32}, {{"P", 16}}},
    {"alternating", kTransposed, {4, 5, 2, 24}, {{"P", 7}}},
    {"host", kTransposed, {4, 18, 2, 17}, {{"P", 3}}},
    {"stream", kDiagonal, {4, 37, 2, 40}, {{"P", 33}}},
    {"shoot", kDiagonal, {4, 70, 2, 33}, {{"P", 3}}},
    {"host", kProjected, {4, 35, 2, 33}, {{"P", 17}}},
    {"host", kLowRank, {4, 20, 2, 40}, {{"K", 7}}},
    {"host", kSingular, {4, 17, 2, 40}, {{"P", 24}}},
    {"host", kThreeExtents, {4, 18, 2, 17}, {{"E", 5}}},
    {"host", kDiagonal, {4, 33, 2, 17}, {{"P", 16}}},
};
const step::Forms kWideForms[] = {{},
                                  {true, true},
                                  {false, true, true},
                                  {true, true, false, true, true},
                                  {false, false, false, false, true}};

TEST(Widening, EveryStrategyInEveryForm) {
  int number = 0;
  for (const step::Forms& forms : kWideForms)
    for (const TextCase& of : kWideCases) {
      const Storage storage = number % 3 == 0 ? Storage::BF16 : Storage::F32;
      if (!rondo::testing::has_turn(number++, 8)) continue;
      Case c = case_of_text(of, forms, storage);
      SCOPED_TRACE(c.name());
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << of.cell;
    }
}

TEST(Widening, ProductsSaved) {
  for (const std::size_t number : {0, 4, 11}) {
    Comparison(case_of_text(kWideCases[number], {}, Storage::F32, true)).run();
    ASSERT_FALSE(HasFailure()) << kWideCases[number].strategy;
  }
}

// The history of a state that fp16 may not hold is fp32, in the workspace too.
TEST(Widening, HistoriesThatHalfCannotHold) {
  const char* const text = R"(
cell grows(D, P = 9) {
  input x[D], v[P]
  param a[D], b[P]
  state h[D], p[P]
  next h = tanh(a) * h + x
  next p = p + exp(b) * v
  output y = tanh(next h)
  output q = tanh(next p)
})";
  const TextCase of{"stream", text, {4, 20, 2, 40}, {}};
  Case c = case_of_text(of, {}, Storage::F16);
  EXPECT_EQ(c.task().history_storage(*c.cell.find("p")), Storage::F32);
  Comparison(std::move(c)).run();
}

// What no kernel names is no tensor of the plan, and who compares a plan's tensors would not miss it.
TEST(Widening, APlanThatWritesNoOutputIsNone) {
  Case c = case_of_text(kWideCases[0], {}, Storage::F32);
  c.problem.pass = Pass::ForwardSave;
  KernelPlan plan = point_plan(*c.strategy, c.cell, c.problem, c.parameters);
  EXPECT_TRUE(writes_outputs(c.task(), plan).ok());
  std::erase_if(plan.launches, [](const Launch& launch) {
    return launch.kernel.name.find("narrow_r_out") != std::string::npos;
  });
  const Status refused = writes_outputs(c.task(), plan);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "no kernel writes the output r");
}

TEST(Widening, InFp64AllIsFp64) {
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  problem.storage = Storage::F64;
  problem.math = default_math(Storage::F64);
  const target::Profile cpu = target::host_profile({target::Target::Kind::X86_64, 3});
  const Strategy& host = *find_strategy("host");
  const Task task{cell_of_text(kProjected), problem, cpu};
  const Result<KernelPlan> plan = host.build(task, first_point(host, task));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_GE(plan->wide.size(), 5u);
  for (const WideTensor& tensor : plan->wide) EXPECT_EQ(tensor.storage, Storage::F64);
}

// What the walk has: tensors of D channels alone, and masks where something behind an extent may matter.
TEST(Widening, MasksStandWhereTheyAreNeeded) {
  const auto masks_of = [](const char* text) {
    const step::Cell cell = step::simplify(cell_of_text(text));
    const std::optional<WidenedCell> wide = widened(cell);
    EXPECT_TRUE(wide.has_value());
    EXPECT_TRUE(step::verify(wide->cell).empty()) << step::verify(wide->cell).front();
    std::size_t selects = 0;
    for (const step::Node& node : wide->cell.graph.nodes)
      if (node.kind == step::NodeKind::Leaf && at(node.tensor) >= wide->narrow.size()) ++selects;
    return std::pair(wide->masks.size(), selects);
  };
  EXPECT_EQ(masks_of(kProjected), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(masks_of(kLowRank), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(masks_of(kDiagonal), std::pair(std::size_t{0}, std::size_t{0}));
  // Of z h, which R multiplies, and of W c, whose gradient goes through a logarithm of zero.
  EXPECT_EQ(masks_of(kSingular), std::pair(std::size_t{1}, std::size_t{2}));
  // A sigmoid of zero is none.
  EXPECT_EQ(masks_of("cell c(D, P = 3) {\n param R[D, P]\n state p[P], h[D]\n next p = p\n"
                     " next h = tanh(R @ sigmoid(p))\n output h\n}"),
            std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_FALSE(
      widened(cell_of_text("cell c(D, E = 3) {\n input u[E]\n param W[D, E]\n state h[D]\n"
                           " next h = 0.5 * h + W @ u\n output h\n}")));
}

// A caller's tensors have the extents of the cell, whose hash follows them.
TEST(Widening, CallersSeeTheExtents) {
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  problem.pass = Pass::ForwardSave;
  problem.constants["P"] = 20;
  const Task task{cell_of_text(kProjected), problem, target::board()};
  const auto shape = [&](Role role, const char* name) {
    return bound_tensor({role, *task.cell.find(name)}, task, 16)->shape;
  };
  EXPECT_EQ(shape(Role::Param, "R"), "[H, 4, D, 20]");
  EXPECT_EQ(shape(Role::Param, "W"), "[H, 1, 20, D]");
  EXPECT_EQ(shape(Role::InitialState, "r"), "[B, H, 1, 20]");
  EXPECT_EQ(shape(Role::History, "r"), "[B, T, H, 1, 20]");
  EXPECT_EQ(bound_tensor({Role::History, *task.cell.find("r")}, task, 16)->unit, 2 * 20);
  EXPECT_EQ(bound_tensor({Role::Param, *task.cell.find("W")}, task, 16)->unit, 2 * 20 * 32);
}

TEST(Widening, ProductsOfATransposeAreNotSaved) {
  Problem problem;
  problem.sizes = {2, 16, 2, 32};
  problem.pass = Pass::ForwardSave;
  problem.save_products = true;
  const Task task{cell_of_text(kTransposed), problem, target::board()};
  EXPECT_NE(find_strategy("persistent")->legal(task).reason.find("save states"), std::string::npos);
}

TEST(Widening, AnExtentLargerThanTheHeadIsRefused) {
  Problem problem;
  problem.sizes = {2, 16, 2, 8};
  for (const char* strategy : {"persistent", "host"}) {
    const Legality legality =
        find_strategy(strategy)->legal({cell_of_text(kProjected), problem, target::board()});
    EXPECT_FALSE(legality.legal);
    EXPECT_NE(legality.reason.find("an extent of 12, more than the 8 channels"), std::string::npos)
        << legality.reason;
  }
}

}  // namespace
}  // namespace rondo::schedule
