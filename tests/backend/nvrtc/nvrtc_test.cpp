#include "compiler/backend/nvrtc/nvrtc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "compiler/backend/nvrtc/search.h"
#include "tests/runtime/kernels.h"

namespace rondo::runtime {
namespace {

const Nvrtc& nvrtc() {
  auto found = Nvrtc::get();
  if (!found) throw std::runtime_error(found.error().message);
  return **found;
}

TEST(Nvrtc, SaysWhatItIs) {
  EXPECT_GE(nvrtc().version().major, 12);
  EXPECT_NE(nvrtc().path().find("libnvrtc"), std::string::npos);
  const std::vector<int>& archs = nvrtc().supported_archs();
  EXPECT_TRUE(std::is_sorted(archs.begin(), archs.end()));
  for (const int arch : {80, 86, 89, 90})
    EXPECT_TRUE(std::binary_search(archs.begin(), archs.end(), arch)) << arch;
}

TEST(Nvrtc, NonePretendsThatThereIsNone) {
  auto none = Nvrtc::open("none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::Missing);
  EXPECT_NE(none.error().message.find("RONDO_NVRTC=none"), std::string::npos);
}

TEST(Nvrtc, AMissingLibraryIsNamedWithWhatToDo) {
  for (const char* path : {"/no/such/libnvrtc.so", "/"}) {
    auto missing = Nvrtc::open(path);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::Missing);
    EXPECT_NE(missing.error().message.find("libnvrtc.so"), std::string::npos) << missing.error().message;
    EXPECT_NE(missing.error().hint.find("RONDO_NVRTC"), std::string::npos);
  }
}

TEST(Nvrtc, ALibraryThatIsNoCompilerIsRefused) {
  auto wrong = Nvrtc::open("libm.so.6");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::Unsupported);
}

TEST(Nvrtc, OpensAFolderOrAFile) {
  const std::filesystem::path file = nvrtc().path();
  for (const std::string& path : {file.string(), file.parent_path().string()}) {
    auto opened = Nvrtc::open(path);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->version().text(), nvrtc().version().text());
  }
  EXPECT_FALSE(nvrtc_builtins_beside(file.string()).empty());
}

TEST(Nvrtc, ReadsArchitectureNames) {
  EXPECT_EQ(compute_capability("sm_80"), 80);
  EXPECT_EQ(compute_capability("sm_90a"), 90);
  EXPECT_EQ(compute_capability("sm_120f"), 120);
  for (const char* bad : {"", "90", "sm_", "sm_9", "sm_90x", "sm_90aa", "compute_90", "sm_1234", "SM_90"})
    EXPECT_EQ(compute_capability(bad), 0) << bad;
}

TEST(Nvrtc, RefusesUnknownArchitectures) {
  auto nonsense = nvrtc().compile("", "x.cu", "hopper");
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().kind, ErrorKind::Input);
  EXPECT_NE(nonsense.error().message.find("'hopper'"), std::string::npos);
  auto unknown = nvrtc().compile("", "x.cu", "sm_77");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(unknown.error().hint.find("sm_90"), std::string::npos) << unknown.error().hint;
}

TEST(Nvrtc, ACompileErrorShowsTheLinesAroundIt) {
  const std::string source =
      "// one\n// two\nextern \"C\" __global__ void f(float* y) {\n  y[0] = undefined_name;\n}\n";
  auto rejected = nvrtc().compile(source, "cell.cu", "sm_90");
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().kind, ErrorKind::Compile);
  const std::string& message = rejected.error().message;
  for (const char* part : {"cell.cu", "sm_90", ">     4 |   y[0] = undefined_name;", "      1 | // one",
                           "      5 | }", "identifier \"undefined_name\" is undefined"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\nnot in\n" << message;
}

TEST(Nvrtc, AnErrorOfTheAssemblerIsACompileError) {
  auto rejected = nvrtc().compile("extern \"C\" __global__ void f() { asm volatile(\"nonsense.op;\"); }",
                                  "x.cu", "sm_90");
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().kind, ErrorKind::Compile);
  EXPECT_NE(rejected.error().message.find("nonsense"), std::string::npos) << rejected.error().message;
}

TEST(Nvrtc, AnUnknownFlagIsACompileError) {
  auto rejected = nvrtc().compile("", "x.cu", "sm_90", {"--no-such-flag"});
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().kind, ErrorKind::Compile);
  EXPECT_NE(rejected.error().message.find("no-such-flag"), std::string::npos) << rejected.error().message;
}

TEST(Nvrtc, TheExcerptSurvivesOddLogs) {
  EXPECT_EQ(source_excerpt("a\nb", "x.cu", "x.cu(2): warning #1: unused"), "");
  EXPECT_EQ(source_excerpt("a\nb", "x.cu", "x.cu(2): warning #1\nx.cu(1): error: no"),
            ">     1 | a\n      2 | b");
  EXPECT_EQ(source_excerpt("a\nb", "x.cu", "x.cu(99999999999999999999): error: far"), "");
  EXPECT_EQ(source_excerpt("", "x.cu", "x.cu(1): error"), "");
  EXPECT_EQ(source_excerpt("a", "x.cu", "x.cu("), "");
}

class NvrtcArch : public ::testing::TestWithParam<const char*> {};

// The cubin's own figures are those that ptxas printed, kernel by kernel.
TEST_P(NvrtcArch, ResourcesEqualWhatPtxasPrints) {
  auto compiled = nvrtc().compile(testing::kFourKernels, "four.cu", GetParam());
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_GT(compiled->compile_ms, 0);
  auto from_cubin = read_cubin(compiled->cubin);
  ASSERT_TRUE(from_cubin) << from_cubin.error().message;
  const std::vector<KernelResources> printed = read_ptxas_log(compiled->log);
  ASSERT_EQ(printed.size(), 4) << compiled->log;
  ASSERT_EQ(from_cubin->size(), 4);
  for (const KernelResources& line : printed) {
    const auto named = [&](const KernelResources& kernel) { return kernel.name == line.name; };
    const auto kernel = std::find_if(from_cubin->begin(), from_cubin->end(), named);
    ASSERT_NE(kernel, from_cubin->end()) << line.name;
    EXPECT_GT(line.registers, 0);
    EXPECT_EQ(kernel->registers, line.registers) << line.name;
    EXPECT_EQ(kernel->shared_bytes, line.shared_bytes) << line.name;
    EXPECT_EQ(kernel->stack_bytes, line.stack_bytes) << line.name;
    const auto joined = std::find_if(compiled->kernels.begin(), compiled->kernels.end(), named);
    ASSERT_NE(joined, compiled->kernels.end());
    EXPECT_EQ(joined->spill_store_bytes, line.spill_store_bytes) << line.name;
    EXPECT_EQ(joined->spill_load_bytes, line.spill_load_bytes) << line.name;
    EXPECT_EQ(joined->spills(), line.name == "spilling") << line.name;
    // Checked even where ptxas' line and the cubin err together.
    const std::map<std::string, int> bounds = {
        {"axpy", 0}, {"shared", 256}, {"caller", 0}, {"spilling", 1024}};
    EXPECT_EQ(kernel->max_threads, bounds.at(line.name)) << line.name;
    EXPECT_EQ(kernel->shared_bytes, line.name == "shared" ? 1024 : 0) << line.name;
    EXPECT_EQ(kernel->stack_bytes > 0, line.name == "spilling" || line.name == "caller") << line.name;
    if (line.name == "spilling") {
      EXPECT_EQ(kernel->registers, 64);
    }
  }
}

// The kernel of the other test without its launch bound, which would limit the registers by itself.
TEST_P(NvrtcArch, ARegisterLimitForcesSpills) {
  std::string source = testing::kFourKernels;
  const std::string bound = "__launch_bounds__(1024, 1)";
  source.erase(source.find(bound), bound.size());
  for (const bool limited : {false, true}) {
    const std::vector<std::string> flags(limited ? 1 : 0, "--maxrregcount=32");
    auto compiled = nvrtc().compile(source, "four.cu", GetParam(), flags);
    ASSERT_TRUE(compiled) << compiled.error().message;
    for (const KernelResources& kernel : compiled->kernels) {
      if (kernel.name != "spilling") continue;
      EXPECT_EQ(kernel.spills(), limited) << kernel.spill_store_bytes;
      EXPECT_EQ(kernel.registers <= 32, limited) << kernel.registers;
    }
  }
}

// Text with instructions that sm_90 has under its own name only is compiled for that name; other text is not.
TEST(NvrtcSpecial, InstructionsOfOneArchitectureAreFound) {
  const auto nvrtc = Nvrtc::get();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  const auto compiles = [&](const std::string& instruction) {
    const std::string source =
        "extern \"C\" __global__ void kernel() {\n#ifndef __CUDA_ARCH_FEAT_SM90_ALL\n#error plain "
        "sm_90\n#endif\n"
        "  asm volatile(\"" +
        instruction + "\" ::: \"memory\");\n}\n";
    return (*nvrtc)->compile(source, "special.cu", "sm_90", {}).ok();
  };
  EXPECT_TRUE(compiles("wgmma.fence.sync.aligned;"));
  EXPECT_TRUE(compiles("setmaxnreg.inc.sync.aligned.u32 240;"));
  EXPECT_FALSE(compiles("bar.sync 0;"));
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcArch,
                         ::testing::Values("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"));

}  // namespace
}  // namespace rondo::runtime
