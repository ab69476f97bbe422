// Persistent kernels as the model chooses them compile without a register spilled: with fp32 storage in each
// form for every architecture, products in three terms and in tf32; in bf16 where the chip is full.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/schedule/strategies.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "tests/backend/compiled.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

using kernel::Math;

class PersistentCompile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Status available = backend::preferred_backend().available();
    if (!available) FAIL() << available.error().message << " (tools/setup installs it)";
    const std::vector<target::Profile>& boards = target::shipped_profiles();
    const auto board =
        std::find_if(boards.begin(), boards.end(), [](const auto& b) { return b.arch() == GetParam(); });
    ASSERT_NE(board, boards.end());
    profile_ = *board;
  }

  void expect_compiles(const char* name, Math math, Pass pass, std::int64_t dim, const Parameters& form,
                       kernel::Storage storage = kernel::Storage::F32) const {
    expect_compiles(cell_named(name), math, pass, {16, 512, 1, dim}, form, storage);
  }

  void expect_compiles(const step::Cell& cell, Math math, Pass pass, const step::Sizes& sizes,
                       const Parameters& form, kernel::Storage storage) const {
    Problem problem;
    problem.sizes = sizes;
    problem.storage = storage;
    problem.math = math;
    problem.pass = pass;
    SCOPED_TRACE(cell.name + " " + pass_name(pass) + " " + kernel::math_name(math) + " " + print(form));
    const auto choice = engine::choose_with({cell, problem, profile_}, {"persistent", form});
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    SCOPED_TRACE(print(choice->parameters));
    const KernelPlan plan =
        find_strategy("persistent")->build({cell, problem, profile_}, choice->parameters).value();
    const auto compiled = backend::compile_kernels(engine::kernels_of(plan), GetParam(), "persistent.cu");
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_EQ(compiled->image.resources.size(), plan.launches.size());
    for (const executable::KernelResources& used : compiled->image.resources) {
      EXPECT_FALSE(used.spills()) << used.name;
      EXPECT_EQ(used.stack_bytes, 0) << used.name;
    }
  }

  target::Profile profile_;
};

TEST_P(PersistentCompile, Fp32) {
  const bool clusters = profile_.limits.max_cluster >= 4;
  // Of each case every other GPU has its turn, of each GPU every other case.
  int number = profile_.target.major() + profile_.target.minor();
  const auto has_turn = [&] { return rondo::testing::has_turn(number++, 2); };
  // Without lent registers: with them ptxas 13.0 puts two into memory for sm_100a and sm_120a, in a kernel
  // that needs 149 and may have 224.
  const Parameters block = {{"exchange", 0}, {"blocks", 1}, {"setmaxnreg", 0}},
                   grid = {{"exchange", 1}, {"setmaxnreg", 0}};
  const Parameters cluster = clusters ? Parameters{{"exchange", 0}, {"blocks", 4}, {"setmaxnreg", 0}} : grid;
  Parameters sums = clusters ? cluster : grid;
  sums["reduce_scatter"] = 1;
  if (has_turn()) expect_compiles("elman", Math::Accurate, Pass::ForwardSave, 64, block);
  if (has_turn()) expect_compiles("lstm", Math::Accurate, Pass::ForwardSave, 256, grid);
  if (has_turn()) expect_compiles("gru", Math::Accurate, Pass::Backward, 128, grid);
  if (has_turn()) expect_compiles("mgu", Math::Tf32, Pass::ForwardSave, 128, cluster);
  if (has_turn()) expect_compiles("lstm", Math::Tf32, Pass::Backward, 64, sums);
}

// Before compute capability 8.0, where the tensor cores know fp16 alone.
class PersistentCompileHalf : public PersistentCompile {};
TEST_P(PersistentCompileHalf, Fp16) {
  const Parameters block = {{"exchange", 0}, {"blocks", 1}}, grid = {{"exchange", 1}};
  Parameters sums = grid;
  sums["reduce_scatter"] = 1;
  const kernel::Storage fp16 = kernel::Storage::F16;
  expect_compiles("elman", Math::Fast, Pass::ForwardSave, 64, block, fp16);
  expect_compiles("lstm", Math::Fast, Pass::ForwardSave, 512, grid, fp16);
  expect_compiles("gru", Math::Fast, Pass::Backward, 128, grid, fp16);
  expect_compiles("lstm", Math::Fast, Pass::Backward, 256, sums, fp16);
}

// A head that leaves hardly a register or a byte of shared memory.
class PersistentCompileFull : public PersistentCompile {};
TEST_P(PersistentCompileFull, Bf16) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward})
    expect_compiles("lstm", Math::Fast, pass, 2048, {{"exchange", 1}}, kernel::Storage::BF16);
}

// Reductions over the head hold their words beside the matrices.
TEST_P(PersistentCompileFull, Reductions) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    expect_compiles("lnlstm", Math::Fast, pass, 64, {{"exchange", 0}, {"blocks", 1}}, kernel::Storage::BF16);
    expect_compiles("lnlstm", Math::Fast, pass, 768, {{"exchange", 1}}, kernel::Storage::BF16);
  }
  expect_compiles("lngru", Math::Fast, Pass::ForwardSave, 768, {{"exchange", 0}, {"blocks", 16}},
                  kernel::Storage::BF16);
}

// A mask, and a running norm that the step divides by, beside an LSTM's gates.
TEST_P(PersistentCompileFull, NumbersOfAHead) {
  const std::vector<step::Cell> cells = cells_of_text(R"(
cell masked(D) {
  input x[4, D], m
  param R[4, D, D], b[4, D]
  state c[D], h[D]
  p = R @ (m * h) + b + x
  next c = sigmoid(p[1]) * (m * c) + sigmoid(p[0]) * tanh(p[2])
  next h = sigmoid(p[3]) * tanh(next c)
  output h
}
cell stabilised(D) {
  input x[4, D], m
  param R[4, D, D], b[4, D]
  state c[D], h[D], n
  p = R @ h + b + x
  next n = 0.9 * n + m * sqrt(mean(square(h)) + 0.1)
  next c = sigmoid(p[1]) * c + sigmoid(p[0]) * tanh(p[2])
  next h = sigmoid(p[3]) * tanh(next c) / (1 + next n)
  output h, y = next n
}
)");
  const kernel::Storage bf16 = kernel::Storage::BF16;
  int turn = 0;
  for (const step::Cell& cell : cells)
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      const int number = turn++;
      if (rondo::testing::has_turn(number, 4))
        expect_compiles(cell, Math::Fast, pass, {16, 512, 12, 64}, {{"exchange", 0}, {"blocks", 1}}, bf16);
      if (rondo::testing::has_turn(number + 2, 4))
        expect_compiles(cell, Math::Fast, pass, {16, 512, 1, 768}, {{"exchange", 1}}, bf16);
    }
  for (const step::Cell& cell : cells)
    expect_compiles(cell, Math::Fast, Pass::Backward, {16, 512, 1, 512}, {{"exchange", 0}, {"blocks", 16}},
                    bf16);
}

INSTANTIATE_TEST_SUITE_P(Cuda, PersistentCompileHalf, ::testing::Values("sm_75"),
                         [](const auto& test) { return std::string(test.param); });
INSTANTIATE_TEST_SUITE_P(Cuda, PersistentCompileFull, ::testing::Values("sm_90"),
                         [](const auto& test) { return std::string(test.param); });
INSTANTIATE_TEST_SUITE_P(
    Cuda, PersistentCompile,
    ::testing::ValuesIn(rondo::testing::with_turns<const char*>(
        {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"}, 2)),
    [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rondo::schedule
