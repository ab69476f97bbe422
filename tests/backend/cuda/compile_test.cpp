// What the backend emits compiles, for every architecture, without headers and without spills.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/backend/cuda/emit.h"
#include "compiler/kernel/passes/legalise_copies.h"
#include "tests/backend/compiled.h"
#include "tests/backend/cuda/kernels.h"

namespace rondo::backend::cuda {
namespace {

constexpr const char* kArchitectures[] = {"sm_75",  "sm_80",  "sm_86",  "sm_89",  "sm_90",
                                          "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};

class Compile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Status available = preferred_backend().available();
    if (!available) FAIL() << available.error().message << " (tools/setup installs it)";
  }
  void expect_compiles(const std::vector<const kernel::Kernel*>& kernels) const {
    const std::string source = emit(kernels);
    EXPECT_EQ(source.find("#include"), std::string::npos);
    const auto compiled = compile_kernels(kernels, GetParam());
    ASSERT_TRUE(compiled.ok()) << compiled.error().message << "\n" << source;
    EXPECT_EQ(compiled->image.resources.size(), kernels.size());
    EXPECT_EQ(compiled->log.find("warning"), std::string::npos) << compiled->log;
    for (const executable::KernelResources& used : compiled->image.resources) {
      EXPECT_FALSE(used.spills()) << used.name;
      const auto kernel =
          std::find_if(kernels.begin(), kernels.end(), [&](const auto* k) { return k->name == used.name; });
      ASSERT_NE(kernel, kernels.end()) << used.name;
      EXPECT_NE(source.find("__launch_bounds__(" + std::to_string((*kernel)->threads)), std::string::npos)
          << used.name;
    }
  }
};

TEST_P(Compile, EachSampleByItself) {
  for (const testing::Sample& sample : testing::samples()) {
    const target::Target target = *target::find_target(GetParam());
    if (sample.from > target.level) continue;
    SCOPED_TRACE(sample.name);
    const kernel::Kernel kernel =
        target.before_ampere() ? kernel::legalise_copies(sample.kernel) : sample.kernel;
    expect_compiles({&kernel});
  }
}

// Also: any number of kernels share one translation unit.
TEST_P(Compile, EachScalarOpInBothAccuracies) {
  std::vector<kernel::Kernel> kernels;
  for (int op = 0; op < scalar::kKernelOpCount; ++op)
    for (kernel::Math math : {kernel::Math::Fast, kernel::Math::Accurate}) {
      kernels.push_back(testing::one_op(static_cast<scalar::Op>(op), math));
      kernels.back().name = std::string(scalar::info(static_cast<scalar::Op>(op)).name) +
                            (math == kernel::Math::Fast ? "_fast_kernel" : "_accurate_kernel");
    }
  std::vector<const kernel::Kernel*> pointers;
  for (const kernel::Kernel& kernel : kernels) pointers.push_back(&kernel);
  expect_compiles(pointers);
}

// Also where the architecture has no such instruction: the text then leaves it out.
TEST_P(Compile, RegistersThatChangeHands) {
  kernel::Builder b("lends", 256, kernel::Math::Fast);
  const kernel::Memory out = b.output("out", kernel::Storage::F32);
  b.if_(
      b.thread() < 128,
      [&] {
        b.set_max_nreg(208, true);
        b.store(out[b.thread()], b.real(1));
      },
      [&] { b.set_max_nreg(40, false); });
  const kernel::Kernel kernel = b.finish();
  expect_compiles({&kernel});
}

INSTANTIATE_TEST_SUITE_P(Cuda, Compile, ::testing::ValuesIn(kArchitectures),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rondo::backend::cuda
