#include "compiler/backend/ptxas/ptxas_log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/backend/nvrtc/nvrtc.h"
#include "tests/runtime/kernels.h"

namespace rondo::backend {
namespace {

using executable::KernelResources;

TEST(PtxasLog, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  const auto nvrtc = Nvrtc::get();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  const auto compiled = (*nvrtc)->compile(runtime::testing::kFourKernels, "four.cu", "sm_90");
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::string& whole = compiled->log;
  for (int round = 0; round < 4000; ++round) {
    std::string log = whole.substr(0, random() % (whole.size() + 1));
    for (int i = 0; i < 4 && !log.empty(); ++i) log[random() % log.size()] = static_cast<char>(random());
    (void)read_ptxas_log(log);
  }
}

TEST(PtxasLog, CountsCalleesToTheirKernel) {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
      "ptxas info    : Function properties for first\n"
      "ptxas         .     32 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 96 bytes cumulative stack size, 400 bytes smem\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     64 bytes stack frame, 4 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "ptxas info    : Function properties for second\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 99999999999999999999 registers, used 1 barriers, 368 bytes cmem[0]";
  const auto kernels = read_ptxas_log(log);
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_EQ(kernels[0], (KernelResources{"first", 32, 400, 96, 12, 28, 0}));
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_FALSE(kernels[1].spills());
}

#ifdef RONDO_NVCC
// The offline compiler's log reads the same. With wheels alone there is no nvcc, and
// NvrtcArch.ResourcesAreReported covers NVRTC's log.
TEST(PtxasLog, OfNvccSaysTheSame) {
  const std::string nvcc = RONDO_NVCC;
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rondo_ptxas_log_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "four.cu") << runtime::testing::kFourKernels;
  for (const char* arch : {"sm_80", "sm_90"}) {
    const std::string command = "cd " + folder.string() + " && " + nvcc + " -arch=" + arch +
                                " -cubin -Xptxas -v four.cu -o four.cubin 2> four.log";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::stringstream log;
    log << std::ifstream(folder / "four.log").rdbuf();
    const auto printed = read_ptxas_log(log.str());
    ASSERT_EQ(printed.size(), 4);
    for (const KernelResources& kernel : printed) {
      EXPECT_GT(kernel.registers, 0) << arch << ' ' << kernel.name;
      EXPECT_EQ(kernel.shared_bytes, kernel.name == "shared" ? 1024 : 0) << arch << ' ' << kernel.name;
      EXPECT_EQ(kernel.spills(), kernel.name == "spilling") << arch << ' ' << kernel.name;
    }
  }
  std::filesystem::remove_all(folder);
}
#endif

}  // namespace
}  // namespace rondo::backend
