// What a plan of CPU kernels refuses to load: each of its kernels is looked at.
#ifdef RONDO_BUILT_LLVM
#include <functional>

#include "compiler/constraint/solver.h"
#include "compiler/schedule/strategies.h"
#include "tests/runtime/host/native_run.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/point_plan.h"

namespace rondo::runtime {
namespace {

executable::Executable executable_of(const std::string& cell) {
  schedule::Problem problem;
  problem.sizes = {2, 3, 1, 16};
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  problem.pass = schedule::Pass::Backward;
  const schedule::Strategy& host = *schedule::find_strategy("host");
  const schedule::Task task{schedule::cell_named(cell), problem, target::host_profile()};
  const constraint::System space = host.space(task);
  const auto first = constraint::find_first(space);
  schedule::Parameters point;
  for (std::size_t i = 0; i < space.domains().size(); ++i)
    point[space.names().variables[i].name] = first->solution->values()[i];
  return native_executable(task, host.build_legal(task, point).value());
}

TEST(HostPlan, NoneOfItsKernelsMayWaitForBlocks) {
  const executable::Executable plain = executable_of("lstm");
  ASSERT_TRUE(HostPlan::load(plain).ok());
  ASSERT_GT(plain.kernels.size(), 2u);
  const std::function<void(executable::Kernel&)> flags[] = {
      [](executable::Kernel& kernel) { kernel.cooperative = true; },
      [](executable::Kernel& kernel) { kernel.waits = true; },
      [](executable::Kernel& kernel) { kernel.cluster = 2; }};
  for (std::size_t i = 0; i < plain.kernels.size(); ++i)
    for (const auto& flag : flags) {
      executable::Executable changed = plain;
      flag(changed.kernels[i]);
      const Result<HostPlan> loaded = HostPlan::load(changed);
      ASSERT_FALSE(loaded.ok()) << i;
      EXPECT_EQ(loaded.error().kind, ErrorKind::Unsupported) << loaded.error().message;
      EXPECT_NE(loaded.error().message.find(plain.kernels[i].name), std::string::npos)
          << loaded.error().message;
    }
}

}  // namespace
}  // namespace rondo::runtime
#endif
