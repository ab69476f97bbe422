// The probes of calibration, without a GPU: their text compiles everywhere, and each product and function has
// one.
#include "tuner/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "compiler/backend/backends.h"
#include "tuner/calibrate/floor_probes.h"

namespace rondo::tuner {
namespace {

using target::Target;

TEST(Calibrate, ProbesCompile) {
  for (const int capability : {80, 90}) {
    const auto code = backend::compile(calibration_request(Target::gpu(capability)));
    ASSERT_TRUE(code.ok()) << code.error().message;
    EXPECT_EQ(code->image.resources.size(), 7u);
  }
}

std::set<std::string> kernels_of(const backend::Compiled& code) {
  std::set<std::string> names;
  for (const executable::KernelResources& kernel : code.image.resources) names.insert(kernel.name);
  return names;
}

// Each with all its kernels, and none keeps sums outside of registers: a probe that does measures memory.
TEST(Calibrate, ProbesOfFloorsCompileWithoutSpills) {
  for (const int capability : {75, 80, 90, 100}) {
    const Target target = Target::gpu(capability);
    const auto code = backend::compile(floor_request(target));
    ASSERT_TRUE(code.ok()) << code.error().message;
    std::set<std::string> expected = {"cluster_exchange", "block_exchange", "named_barriers",
                                      "lane_sums",        "shared_loads",   "functions"};
    for (int loads = 1; loads <= kMostExchangeLoads; ++loads)
      expected.insert("grid_exchange_" + std::to_string(loads));
    for (const ProductProbe& probe : product_probes(target))
      expected.insert({probe.name + "_latency", probe.name + "_rate"});
    EXPECT_EQ(kernels_of(*code), expected) << capability;
    for (const executable::KernelResources& kernel : code->image.resources)
      EXPECT_FALSE(kernel.spills()) << kernel.name << " for " << capability;
  }
}

// A thread that waits for a vector which nobody sends gives up after seconds, and there are no floors.
TEST(Calibrate, ExchangesWaitForWhatIsSentAlone) {
  for (int blocks = 1; blocks <= 200; ++blocks)
    for (const int bytes : {16, 1024, 4096, 12288, 32768, 100000}) {
      const GridExchangeProbe probe = grid_exchange(blocks, bytes);
      const int vectors = probe.part * probe.blocks;
      ASSERT_GE(probe.part, 1);
      ASSERT_LE(probe.loads, kMostExchangeLoads);
      EXPECT_TRUE(probe.part == 1 || vectors * kExchangeVector <= bytes) << blocks << " " << bytes;
      EXPECT_TRUE(vectors <= kExchangeThreads ? probe.loads == 1 : vectors == probe.loads * kExchangeThreads)
          << vectors << " vectors and " << probe.loads << " loads";
    }
  EXPECT_EQ(grid_exchange(48, 12288).part, 16);
  EXPECT_EQ(grid_exchange(48, 12288).loads, 3);
}

// Products of warpgroups exist under the name of one architecture.
TEST(Calibrate, ProductsOfWarpgroupsAreMeasuredWhereTheyAre) {
  const auto count = [](int capability) {
    return std::ranges::count_if(product_probes(Target::gpu(capability)),
                                 [](const ProductProbe& probe) { return probe.by.rfind("wgmma", 0) == 0; });
  };
  EXPECT_EQ(count(80), 0);
  EXPECT_EQ(count(90), 5);
  EXPECT_EQ(count(100), 0);
  EXPECT_EQ(floor_request(Target::gpu(90)).target.name(), "sm_90a");
  EXPECT_EQ(floor_request(Target::gpu(100)).target.name(), "sm_100");
}

// Before compute capability 8.0 the tensor cores know fp16 alone.
TEST(Calibrate, ProductsAreMeasuredThatTheTensorCoresHave) {
  const auto names = [](int capability) {
    std::set<std::string> all;
    for (const ProductProbe& probe : product_probes(Target::gpu(capability))) all.insert(probe.by);
    return all;
  };
  EXPECT_EQ(names(75), std::set<std::string>{"mma.m16n8k16.fp16"});
  EXPECT_EQ(names(80), (std::set<std::string>{"mma.m16n8k16.bf16", "mma.m16n8k16.fp16", "mma.m16n8k8.tf32"}));
}

TEST(Calibrate, FunctionsHaveBothKindsOfMath) {
  std::set<std::string> names;
  for (const FunctionProbe& probe : function_probes()) EXPECT_TRUE(names.insert(probe.by).second) << probe.by;
  for (const char* name : {"fma", "tanh fast", "tanh accurate", "sigmoid fast", "sigmoid accurate",
                           "exp fast", "div accurate", "rsqrt fast", "softplus accurate"})
    EXPECT_TRUE(names.contains(name)) << name;
}

}  // namespace
}  // namespace rondo::tuner
