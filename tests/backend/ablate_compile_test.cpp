// Kernels without one of their parts compile, for timing beside the whole ones.
#include <gtest/gtest.h>

#include "runtime/plan/plan.h"
#include "tests/schedule/part_plans.h"

namespace rondo::schedule {
namespace {

TEST(AblateCompile, EachPartOfEachPlan) {
  const auto nvrtc = runtime::Nvrtc::get();
  if (!nvrtc) FAIL() << nvrtc.error().message << " (tools/setup installs it)";
  for (const PartPlan& of : part_plans()) {
    const std::string whole = runtime::emit_source(of.plan);
    for (const kernel::Part part : of.parts) {
      SCOPED_TRACE(of.name + " without " + kernel::part_name(part));
      const std::string source = runtime::emit_source(plan_without(of.plan, part));
      EXPECT_NE(source, whole) << "a cubin of it would be found under the whole plan's key";
      EXPECT_NE(source.find("// without " + std::string(kernel::part_name(part)) + ": the results are wrong"),
                std::string::npos);
      const auto compiled =
          nvrtc.value()->compile(source, "parts.cu", "sm_90", runtime::plan_compile_flags());
      ASSERT_TRUE(compiled.ok()) << compiled.error().message;
      for (const runtime::KernelResources& used : compiled->kernels)
        EXPECT_EQ(used.stack_bytes, 0) << used.name;
    }
  }
}

}  // namespace
}  // namespace rondo::schedule
