// Values that attain the maximum of a head are the same numbers in every kernel of a plan: no compiler makes
// a multiply-add in one of them and a product and a sum in another.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/backend/backends.h"
#include "compiler/frontend/frontend.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "engine/choice/candidates.h"
#include "engine/plan/compile.h"
#include "tests/engine/plan/cells.h"

namespace rondo::backend {
namespace {

using schedule::Pass;

constexpr const char* kCell = R"(
cell top(D) {
  input x[D]
  param R[D, D], a[D]
  state h[D], m

  v = a * x + R @ h
  next m = 0.5 * m + max(v * v + a * m)
  next h = tanh(v + m)
  output h
}
)";

step::Cell with_maximum(bool tangents) {
  step::Forms forms;
  forms.tangents = tangents;
  return step::with_forms(frontend::parse(kCell, "top.cell").cells.at(0), forms).value();
}

struct Made {
  bool contracts, nvrtc_flag, llvm_flag;
};

Made made(const step::Cell& cell, Pass pass, const target::Profile& profile) {
  const schedule::Task task(cell, rondo::testing::problem_of(pass, 64, kernel::Storage::BF16), profile);
  const auto chosen = engine::best_candidate(task);
  EXPECT_TRUE(chosen.ok()) << chosen.error().message;
  const auto plan = schedule::find_strategy(chosen->strategy)->build(task, chosen->parameters);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  const std::vector<const kernel::Kernel*> kernels = engine::kernels_of(*plan);
  const bool contracts = kernel::may_contract(kernels);
  EXPECT_TRUE(std::ranges::all_of(kernels, [&](const auto* one) { return one->may_contract == contracts; }));
  const Request llvm = request_for(backend_for(Language::LlvmIr), kernels, profile.target, "top");
  Made result{contracts, false, llvm.text.find(" contract ") != std::string::npos};
  if (!profile.is_cpu()) {
    const Request nvrtc = request_for(backend_for(Language::CudaCxx), kernels, profile.target, "top");
    result.nvrtc_flag = std::ranges::find(nvrtc.flags, "--fmad=false") == nvrtc.flags.end();
  }
  return result;
}

TEST(Contraction, IsLeftWhereValuesMeetTheirMaximum) {
  const target::Profile& board = target::board();
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
    for (const bool tangents : {false, true}) {
      const Made found = made(with_maximum(tangents), pass, board);
      const bool wanted = pass != Pass::Backward && !tangents;
      EXPECT_EQ(found.contracts, wanted) << schedule::pass_name(pass) << tangents;
      EXPECT_EQ(found.nvrtc_flag, wanted) << schedule::pass_name(pass) << tangents;
      EXPECT_EQ(found.llvm_flag, wanted) << schedule::pass_name(pass) << tangents;
    }
}

TEST(Contraction, IsLeftOnCpusToo) {
  const target::Profile cpu = target::host_profile();
  EXPECT_TRUE(made(with_maximum(false), Pass::Forward, cpu).contracts);
  const Made backward = made(with_maximum(false), Pass::Backward, cpu);
  EXPECT_FALSE(backward.contracts);
  EXPECT_FALSE(backward.llvm_flag);
}

TEST(Contraction, StaysWithOtherCells) {
  const Made found = made(rondo::testing::library_cell("lstm"), Pass::Backward, target::board());
  EXPECT_TRUE(found.contracts && found.nvrtc_flag && found.llvm_flag);
}

}  // namespace
}  // namespace rondo::backend
