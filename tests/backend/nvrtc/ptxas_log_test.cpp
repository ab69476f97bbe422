#include "compiler/backend/nvrtc/cubin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include "compiler/backend/nvrtc/nvrtc.h"
#include "tests/runtime/kernels.h"

namespace rondo::runtime {
namespace {

const CompiledKernel& compiled(const char* arch) {
  static std::map<std::string, CompiledKernel> cache;
  auto found = cache.find(arch);
  if (found != cache.end()) return found->second;
  auto nvrtc = Nvrtc::get();
  if (!nvrtc) throw std::runtime_error(nvrtc.error().message);
  auto made = (*nvrtc)->compile(testing::kFourKernels, "four.cu", arch);
  if (!made) throw std::runtime_error(made.error().message);
  return cache.emplace(arch, std::move(*made)).first->second;
}

TEST(Cubin, RefusesWhatIsNoCubin) {
  for (const std::string& bytes :
       {std::string(), std::string("ELF"), std::string(64, '\0'), std::string(5000, 'x')}) {
    auto kernels = read_cubin(bytes);
    ASSERT_FALSE(kernels);
    EXPECT_EQ(kernels.error().kind, ErrorKind::Input);
    EXPECT_NE(kernels.error().message.find("malformed cubin"), std::string::npos);
  }
}

TEST(Cubin, RefusesAnElfFileOfAnotherMachine) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::stringstream bytes;
  bytes << self.rdbuf();
  auto kernels = read_cubin(bytes.str());
  ASSERT_FALSE(kernels);
  EXPECT_NE(kernels.error().message.find("machine"), std::string::npos) << kernels.error().message;
}

TEST(Cubin, EveryTruncationIsAnErrorOrHarmless) {
  const std::string& whole = compiled("sm_90").cubin;
  int errors = 0;
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    // A copy of exactly that size, so that a sanitizer sees any read beyond it.
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    errors += !read_cubin(std::string_view(cut.data(), cut.size()));
  }
  EXPECT_GT(errors, 100);
}

TEST(Cubin, RandomDamageNeverCrashes) {
  std::mt19937 random(20240607);
  for (const char* arch : {"sm_80", "sm_90", "sm_120"}) {
    const std::string& whole = compiled(arch).cubin;
    for (int round = 0; round < 4000; ++round) {
      std::string bytes = whole;
      const int flips = 1 + static_cast<int>(random() % 8);
      for (int i = 0; i < flips; ++i) {
        // Half of the damage goes into the header and the section table, where it hurts most.
        const std::size_t table = bytes.size() - std::min<std::size_t>(bytes.size(), 2200);
        const std::size_t header = random() % 64;
        const std::size_t place = random() % 4 == 0 ? header
                                  : random() % 2    ? table + random() % 2200
                                                    : random() % bytes.size();
        bytes[place % bytes.size()] = static_cast<char>(random());
      }
      (void)read_cubin(bytes, compiled(arch).log);
    }
  }
}

TEST(PtxasLog, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  const std::string& whole = compiled("sm_90").log;
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

// Reads a file of the offline compiler too, and agrees with what it prints. The toolkit's nvcc is there
// wherever the toolkit is; with wheels alone NvrtcArch.ResourcesEqualWhatPtxasPrints covers the same from
// NVRTC.
TEST(Cubin, AgreesWithNvccWhereThereIsOne) {
  const std::string nvcc = "/usr/local/cuda/bin/nvcc";
  if (!std::filesystem::exists(nvcc)) return;
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rondo_cubin_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "four.cu") << testing::kFourKernels;
  for (const char* arch : {"sm_80", "sm_90"}) {
    const std::string command = "cd " + folder.string() + " && " + nvcc + " -arch=" + arch +
                                " -cubin -Xptxas -v four.cu -o four.cubin 2> four.log";
    ASSERT_EQ(std::system(command.c_str()), 0);
    const auto read = [&](const char* name) {
      std::stringstream text;
      text << std::ifstream(folder / name, std::ios::binary).rdbuf();
      return text.str();
    };
    auto kernels = read_cubin(read("four.cubin"));
    ASSERT_TRUE(kernels) << kernels.error().message;
    const auto printed = read_ptxas_log(read("four.log"));
    ASSERT_EQ(printed.size(), 4);
    for (const KernelResources& line : printed) {
      const auto kernel =
          std::find_if(kernels->begin(), kernels->end(), [&](const auto& k) { return k.name == line.name; });
      ASSERT_NE(kernel, kernels->end());
      EXPECT_EQ(kernel->registers, line.registers) << arch << ' ' << line.name;
      EXPECT_EQ(kernel->shared_bytes, line.shared_bytes) << arch << ' ' << line.name;
      EXPECT_EQ(kernel->stack_bytes, line.stack_bytes) << arch << ' ' << line.name;
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rondo::runtime
