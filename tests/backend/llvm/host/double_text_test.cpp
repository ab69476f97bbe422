// Kernels of shipped cells in fp64: nothing of them is in fp32, in KernelIR or in the text that LLVM is
// given.
#include <gtest/gtest.h>

#include <sstream>

#include "compiler/backend/llvm/host/emit.h"
#include "compiler/kernel/ir/print.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/support/turns.h"

namespace rondo::backend {
namespace {

// The lines that name a type of fp32. A draw is one of fp32, for which its seed is rounded.
std::string lines_of_fp32(const std::string& text) {
  std::istringstream lines(text);
  std::string found;
  bool of_draws = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("define")) of_draws = line.find("@philox") != std::string::npos;
    const bool narrow = line.find("float") != std::string::npos || line.find("f32") != std::string::npos;
    if (narrow && !of_draws && !line.starts_with(";")) found += line + "\n";
  }
  return found;
}

TEST(DoubleText, NothingOfAKernelIsInFp32) {
  const schedule::Strategy& host = *schedule::find_strategy("host");
  int turn = 0, kernels = 0;
  for (const step::Cell& cell : schedule::shipped_cells())
    for (const schedule::Pass pass :
         {schedule::Pass::Forward, schedule::Pass::ForwardSave, schedule::Pass::Backward}) {
      if (!rondo::testing::has_turn(++turn, 3)) continue;
      schedule::Problem problem;
      problem.sizes = {4, 64, 1, 48};
      problem.storage = kernel::Storage::F64;
      problem.math = schedule::default_math(problem.storage);
      problem.pass = pass;
      const target::Target target{target::Target::Kind::X86_64, 3};
      const schedule::Task task{cell, problem, target::host_profile(target)};
      const auto plan =
          host.build_legal(task, {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}});
      ASSERT_TRUE(plan.ok()) << cell.name << ": " << plan.error().message;
      for (const schedule::Launch& launch : plan->launches) {
        EXPECT_EQ(lines_of_fp32(kernel::print(launch.kernel)), "") << cell.name;
        EXPECT_EQ(lines_of_fp32(host::emit({&launch.kernel}, target)), "") << cell.name;
        ++kernels;
      }
    }
  EXPECT_GT(kernels, 10);
}

// For CPUs alone: who asks for a GPU is told what to do.
TEST(DoubleText, GpusAreRefused) {
  schedule::Problem problem;
  problem.sizes = {4, 64, 1, 64};
  problem.storage = kernel::Storage::F64;
  const step::Cell cell = schedule::cell_named("mingru");
  const auto h200 = target::find_profile("h200").value();
  const auto refused = schedule::find_strategy("stream")->build({cell, problem, h200}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(refused.error().message.find("no kernel computes in fp64"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("--arch cpu"), std::string::npos);
}

}  // namespace
}  // namespace rondo::backend
