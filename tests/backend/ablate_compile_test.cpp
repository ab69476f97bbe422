// Kernels without one of their parts compile, for timing beside the whole ones.
#include <gtest/gtest.h>

#include "engine/plan/compile.h"
#include "tests/backend/compiled.h"
#include "tests/schedule/part_plans.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

TEST(AblateCompile, EachPartOfEachPlan) {
  const backend::Backend& backend = backend::preferred_backend();
  const Status available = backend.available();
  if (!available) FAIL() << available.error().message << " (tools/setup installs it)";
  int turn = 0;
  for (const PartPlan& of : part_plans()) {
    const std::string whole = backend.lower(engine::kernels_of(of.plan), target::Target::gpu(90)).text;
    for (const kernel::Part part : of.parts) {
      SCOPED_TRACE(of.name + " without " + kernel::part_name(part));
      const KernelPlan rest = plan_without(of.plan, part);
      const std::string source = backend.lower(engine::kernels_of(rest), target::Target::gpu(90)).text;
      EXPECT_NE(source, whole) << "a cubin of it would be found under the whole plan's key";
      if (!rondo::testing::has_turn(turn++, 4)) continue;
      EXPECT_NE(source.find("// without " + std::string(kernel::part_name(part)) + ": the results are wrong"),
                std::string::npos);
      const auto compiled = backend::compile_kernels(engine::kernels_of(rest), "sm_90", "parts.cu");
      ASSERT_TRUE(compiled.ok()) << compiled.error().message;
      for (const executable::KernelResources& used : compiled->image.resources)
        EXPECT_EQ(used.stack_bytes, 0) << used.name;
    }
  }
}

}  // namespace
}  // namespace rondo::schedule
