#include "compiler/backend/nvrtc/nvrtc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "compiler/backend/nvrtc/search.h"
#include "tests/runtime/kernels.h"

namespace rondo::backend {
namespace {

using executable::KernelResources;

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

TEST(Nvrtc, PtxIsTextForThisTargetAndLaterOnes) {
  const auto ptx =
      nvrtc().compile_to_ptx(runtime::testing::kFourKernels, "four.cu", "sm_80", {"--std=c++17"});
  ASSERT_TRUE(ptx) << ptx.error().message;
  EXPECT_EQ(ptx->image.kind, executable::ImageKind::Ptx);
  EXPECT_EQ(ptx->image.target, "sm_80");
  EXPECT_NE(ptx->image.bytes.find(".target sm_80"), std::string::npos);
  for (const char* name : {"axpy", "shared", "caller", "spilling"})
    EXPECT_NE(ptx->image.bytes.find(std::string(".entry ") + name), std::string::npos) << name;
  EXPECT_NE(ptx->image.bytes.back(), '\0');
  EXPECT_TRUE(ptx->image.resources.empty());
  EXPECT_EQ(nvrtc().compile_to_ptx("", "x.cu", "sm_90a").error().kind, ErrorKind::Input);
  EXPECT_EQ(nvrtc().compile_to_ptx("", "x.cu", "sm_35").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(nvrtc().compile_to_ptx("nonsense", "x.cu", "sm_80").error().kind, ErrorKind::Compile);
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

// Every kernel is reported, with what is known of each by its text.
TEST_P(NvrtcArch, ResourcesAreReported) {
  auto compiled = nvrtc().compile(runtime::testing::kFourKernels, "four.cu", GetParam());
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_GT(compiled->compile_ms, 0);
  const executable::Image& image = compiled->image;
  EXPECT_EQ(image.target, GetParam());
  EXPECT_EQ(image.kind, executable::ImageKind::Cubin);
  EXPECT_EQ(image.compiler, "nvrtc " + nvrtc().version().text());
  EXPECT_EQ(image.bytes.substr(0, 4),
            "\x7f"
            "ELF");
  std::set<std::string> names;
  for (const KernelResources& kernel : image.resources) {
    names.insert(kernel.name);
    EXPECT_GT(kernel.registers, 0) << kernel.name;
    EXPECT_EQ(kernel.shared_bytes, kernel.name == "shared" ? 1024 : 0) << kernel.name;
    EXPECT_EQ(kernel.stack_bytes > 0, kernel.name == "spilling" || kernel.name == "caller") << kernel.name;
    EXPECT_EQ(kernel.spills(), kernel.name == "spilling") << kernel.name;
    if (kernel.name == "spilling") {
      EXPECT_EQ(kernel.registers, 64);
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"axpy", "shared", "caller", "spilling"})) << compiled->log;
}

// The kernel of the other test without its launch bound, which would limit the registers by itself.
TEST_P(NvrtcArch, ARegisterLimitForcesSpills) {
  std::string source = runtime::testing::kFourKernels;
  const std::string bound = "__launch_bounds__(1024, 1)";
  source.erase(source.find(bound), bound.size());
  for (const bool limited : {false, true}) {
    const std::vector<std::string> flags(limited ? 1 : 0, "--maxrregcount=32");
    auto compiled = nvrtc().compile(source, "four.cu", GetParam(), flags);
    ASSERT_TRUE(compiled) << compiled.error().message;
    for (const KernelResources& kernel : compiled->image.resources) {
      if (kernel.name != "spilling") continue;
      EXPECT_EQ(kernel.spills(), limited) << kernel.spill_store_bytes;
      EXPECT_EQ(kernel.registers <= 32, limited) << kernel.registers;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NvrtcArch,
                         ::testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100",
                                           "sm_103", "sm_110", "sm_120", "sm_121"));

}  // namespace
}  // namespace rondo::backend
