// Products over all steps and gradients of matrices compile for every architecture, at the sizes they are
// made for, without spills and without local memory: register arrays stay in registers.
#include <gtest/gtest.h>

#include "compiler/schedule/plan/strategy.h"
#include "tests/backend/compiled.h"
#include "tests/schedule/gemm/time_gemm_cell.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

using namespace testing;

class TimeGemmCompile : public ::testing::TestWithParam<const char*> {};

TEST_P(TimeGemmCompile, StaysInRegisters) {
  const Status available = backend::preferred_backend().available();
  if (!available) FAIL() << available.error().message << " (tools/setup installs it)";
  for (const int dim : {64, 72, 768, 2048}) {
    Problem problem;
    problem.sizes = {.batch = 16, .time = 1024, .heads = dim == 64 ? 12 : 1, .dim = dim};
    problem.storage = dim == 72     ? kernel::Storage::F16
                      : dim == 2048 ? kernel::Storage::F32
                                    : kernel::Storage::BF16;
    const step::Cell cell = matrices_and_vectors();
    const target::Profile& board = target::board(GetParam());
    const Task task(cell, problem, board);
    KernelPlan plan;
    std::vector<Launch>& launches = plan.launches;
    std::vector<int> rows(kChosen + 1, 0);
    rows[0] = kScratchRows, rows[kChosen] = 5;
    std::vector<MatrixTerm> all = terms();
    all.push_back(all.front());
    all.back().right.row.tensor = {Role::Scratch, kChosen};
    all.back().chosen = true;
    launches = matrix_gradients(task, all, rows, gemm_parameters(problem, board, GemmUse::MatrixGradient, 2));
    launches.push_back(time_product(task, products(previous_state(0)), rows,
                                    gemm_parameters(problem, board, GemmUse::TimeProduct, 4)));
    for (const ProductKind kind : {ProductKind::Max, ProductKind::Channel}) {
      if (dim != (kind == ProductKind::Max ? 72 : 2048) && dim != 768) continue;
      std::vector<TimeProduct> max_plus = products(previous_state(0));
      for (TimeProduct& product : max_plus) {
        product.kind = kind;
        if (kind == ProductKind::Channel) product.out.tensor = {Role::Scratch, kChosen};
      }
      GemmParameters parameters = gemm_parameters(problem, board, GemmUse::MaxPlus, 4);
      parameters.kind = kind;
      launches.push_back(time_product(task, max_plus, rows, parameters));
    }
    simplify_kernels(task, plan);
    std::vector<const kernel::Kernel*> kernels;
    for (const Launch& launch : launches) kernels.push_back(&launch.kernel);
    const auto compiled = backend::compile_kernels(kernels, GetParam(), "time_gemm.cu");
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    EXPECT_EQ(compiled->image.resources.size(), kernels.size());
    for (const executable::KernelResources& used : compiled->image.resources) {
      EXPECT_FALSE(used.spills()) << used.name << " D=" << dim;
      EXPECT_EQ(used.stack_bytes, 0) << used.name << " D=" << dim;
      EXPECT_LE(used.registers, 255) << used.name << " D=" << dim;
    }
    for (const kernel::Kernel* kernel : kernels)
      EXPECT_LE(kernel::shared_bytes(*kernel), board.limits.shared_per_block) << kernel->name << " D=" << dim;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, TimeGemmCompile,
    ::testing::ValuesIn(rondo::testing::with_turns<const char*>(
        {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"}, 2)),
    [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rondo::schedule
