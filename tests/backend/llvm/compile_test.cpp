// Kernels of all shipped cells by way of LLVM: each module verifies (Llvm::compile() runs LLVM's verifier
// before and after the passes), gives PTX, and ptxas takes it. A run takes each case for one architecture in
// turn. ComparedWithNvrtc is no test of every run: it takes all of them for all, compiles them with NVRTC
// too, and writes what both use (docs/llvm.md).
#ifdef RONDO_BUILT_LLVM
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "compiler/backend/llvm/llvm_backend.h"
#include "compiler/backend/ptxas/ptxas.h"
#include "compiler/schedule/strategies.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "engine/request/cell_library.h"
#include "tests/schedule/cell_files.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

using kernel::Storage;

struct Case {
  std::string cell, strategy, arch;
  Pass pass;
  Storage storage;
  std::string text() const {
    return cell + " " + strategy + " " + pass_name(pass) + " " + kernel::storage_name(storage) + " " + arch;
  }
};

constexpr const char* kArchs[] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120", "sm_121"};

target::Profile board(const std::string& arch) {
  for (const target::Profile& profile : target::shipped_profiles())
    if (profile.arch() == arch) return profile;
  throw std::logic_error("no board of " + arch);
}

// The kernels that the model chooses; none where the strategy is not legal.
std::optional<KernelPlan> plan_of(const Case& of) {
  const step::Cell cell = cell_named(of.cell.c_str());
  Problem problem;
  problem.sizes = {8, 512, 1, 256};
  problem.storage = of.storage;
  problem.math = of.storage == Storage::F32 ? kernel::Math::Accurate : kernel::Math::Fast;
  problem.pass = of.pass;
  const target::Profile profile = board(of.arch);
  const auto choice = engine::choose_with({cell, problem, profile}, {of.strategy, {}});
  if (!choice) return std::nullopt;
  return engine::build_choice({cell, problem, profile}, *choice).value();
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& cell : engine::embedded_cells())
    for (const Strategy* strategy : strategies())
      for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
        for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16})
          for (const char* arch : kArchs) all.push_back({cell.name, strategy->name(), arch, pass, storage});
  return all;
}

backend::Request request_of(const backend::Backend& backend, const KernelPlan& plan, const Case& of) {
  return backend::request_for(backend, engine::kernels_of(plan), *target::find_target(of.arch), of.text());
}

TEST(LlvmCompile, EveryCellPassAndType) {
  const backend::Backend& llvm = backend::llvm_backend();
  ASSERT_TRUE(llvm.available().ok()) << llvm.available().error().message;
  std::vector<Case> all = cases();
  std::size_t turn = 0, compiled = 0;
  for (std::size_t i = 0; i < all.size(); i += std::size(kArchs)) {
    if (!rondo::testing::has_turn(static_cast<int>(i / std::size(kArchs)), 7)) continue;
    const Case& of = all[i + turn % std::size(kArchs)];
    // Of the 16-bit types each in turn: their texts differ in conversions only.
    if (of.storage == (turn % 2 == 0 ? Storage::BF16 : Storage::F16)) continue;
    const std::optional<KernelPlan> plan = plan_of(of);
    if (!plan) continue;
    ++turn;
    SCOPED_TRACE(of.text());
    const backend::Request request = request_of(llvm, *plan, of);
    const auto ptx = llvm.assembly(request);
    ASSERT_TRUE(ptx.ok()) << ptx.error().message;
    for (const Launch& launch : plan->launches)
      EXPECT_NE(ptx->find(".visible .entry " + launch.kernel.name + "("), std::string::npos);
    ++compiled;
    // Assembling all of them would take minutes.
#ifdef RONDO_NVCC
    if (turn % 4 != 0) continue;
    ASSERT_TRUE(backend::Ptxas::get().ok()) << backend::Ptxas::get().error().message;
    const auto assembled = (*backend::Ptxas::get())->assemble(*ptx, request.target.name());
    ASSERT_TRUE(assembled.ok()) << assembled.error().message;
#endif
  }
  EXPECT_GT(compiled, rondo::testing::all_cases() ? 100U : 20U);
}

// A package had a cubin of sm_80 in the place of the PTX for all later GPUs.
TEST(LlvmCompile, PtxThatIsAskedForIsNotAssembled) {
  const Case of{"mingru", "stream", "sm_80", Pass::Forward, Storage::BF16};
  backend::Request request = request_of(backend::llvm_backend(), *plan_of(of), of);
  request.kind = executable::ImageKind::Ptx;
  const auto compiled = backend::compile(request);
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(compiled->image.kind, executable::ImageKind::Ptx);
  EXPECT_NE(compiled->image.bytes.find(".target sm_80"), std::string::npos);
}

#ifdef RONDO_NVCC
// Both compilers' kernels of a case side by side; returns how many. One line each into `out`: the case, the
// kernel's name, then registers, spilled bytes and milliseconds by LLVM and by NVRTC.
int compare(const Case& of, std::ostream& out) {
  const std::optional<KernelPlan> plan = plan_of(of);
  if (!plan) return 0;
  const auto llvm = backend::compile(request_of(backend::llvm_backend(), *plan, of));
  EXPECT_TRUE(llvm.ok()) << llvm.error().message;
  const auto nvrtc = backend::compile(request_of(*backend::find_backend("nvrtc"), *plan, of));
  EXPECT_TRUE(nvrtc.ok()) << nvrtc.error().message;
  if (!llvm || !nvrtc) return 0;
  int compared = 0;
  for (const executable::KernelResources& a : llvm->image.resources)
    for (const executable::KernelResources& b : nvrtc->image.resources)
      if (a.name == b.name) {
        ++compared;
        EXPECT_TRUE(!a.spills() || b.spills()) << a.name << " spills by LLVM alone";
        out << of.text() << " " << a.name << " " << a.registers << " " << a.spill_store_bytes + a.stack_bytes
            << " " << llvm->compile_ms << " " << b.registers << " " << b.spill_store_bytes + b.stack_bytes
            << " " << nvrtc->compile_ms << std::endl;
      }
  return compared;
}

// RONDO_LLVM_ONLY=TEXT takes the cases whose text holds it, "" all of them; RONDO_LLVM_COMPARE=FILE keeps the
// figures (docs/llvm.md).
TEST(LlvmCompile, SpillsNothingThatNvrtcDoesNot) {
  const char* given = std::getenv("RONDO_LLVM_ONLY");
  const std::string only = given != nullptr ? given : "affine stream";
  const char* file = std::getenv("RONDO_LLVM_COMPARE");
  std::ofstream out(file != nullptr ? file : "/dev/null");
  int compared = 0;
  for (const Case& of : cases())
    if (of.text().find(only) != std::string::npos && (given != nullptr || of.arch == "sm_90")) {
      SCOPED_TRACE(of.text());
      compared += compare(of, out);
    }
  EXPECT_GE(compared, 9) << "nothing was compared";
}
#endif

}  // namespace
}  // namespace rondo::schedule
#endif  // RONDO_BUILT_LLVM
