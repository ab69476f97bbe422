// What makes a cubin of PTX: ptxas and nvJitLink, found, hidden, damaged, and given what they refuse.
#include "compiler/backend/ptxas/assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/backend/ptxas/nvjitlink.h"
#include "compiler/backend/ptxas/ptxas.h"
#include "compiler/backend/ptxas/ptxas_log.h"
#include "compiler/backend/ptxas/toolkit_search.h"

namespace rondo::backend {
namespace {

TEST(PtxasFind, SaysWhatIsMissing) {
  for (const char* path : {"none", "/nowhere/ptxas", "/bin/true"}) {
    const auto found = Ptxas::find(path);
    ASSERT_FALSE(found.ok()) << path;
    EXPECT_EQ(found.error().kind, ErrorKind::Missing);
    EXPECT_NE(found.error().message.find(path), std::string::npos) << found.error().message;
  }
}

TEST(NvJitLinkOpen, SaysWhatIsMissing) {
  const auto hidden = NvJitLink::open("none");
  ASSERT_FALSE(hidden.ok());
  EXPECT_EQ(hidden.error().kind, ErrorKind::Missing);
  EXPECT_NE(hidden.error().message.find("RONDO_NVJITLINK=none"), std::string::npos) << hidden.error().message;
  const auto absent = NvJitLink::open("/nowhere/libnvJitLink.so");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::Missing);
  EXPECT_NE(absent.error().message.find("/nowhere/libnvJitLink.so"), std::string::npos)
      << absent.error().message;
  EXPECT_NE(absent.error().hint.find("nvidia-nvjitlink"), std::string::npos);
}

TEST(NvJitLinkOpen, RefusesWhatIsNoSuchLibrary) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rondo_nvjitlink_test";
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "libnvJitLink.so";
  const std::string elf = std::string("\x7f") + "ELF\x02\x01\x01";
  for (const std::string& damaged :
       {std::string(), std::string("no library"), elf + std::string(4000, '\0')}) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    for (const std::string& path : {file.string(), folder.string()}) {
      const auto opened = NvJitLink::open(path);
      ASSERT_FALSE(opened.ok());
      EXPECT_EQ(opened.error().kind, ErrorKind::Missing);
      EXPECT_NE(opened.error().message.find(file.string()), std::string::npos) << opened.error().message;
    }
  }
  std::filesystem::remove_all(folder);
  const auto other = NvJitLink::open("libm.so.6");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(other.error().message.find("is no nvJitLink"), std::string::npos) << other.error().message;
}

TEST(ToolkitSearch, AFolderGivesItsLibrariesTheNewestFirst) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rondo_toolkit_test";
  std::filesystem::create_directories(folder);
  for (const char* name : {"libnvJitLink.so.12", "libnvJitLink.so.13", "libnvrtc.so.13"})
    std::ofstream(folder / name) << "x";
  EXPECT_EQ(toolkit_candidates({"libnvJitLink", "nvjitlink"}, folder.string()),
            (std::vector<std::string>{folder / "libnvJitLink.so.13", folder / "libnvJitLink.so.12"}));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(toolkit_candidates({"libnvJitLink", "nvjitlink"}, "").front(), "libnvJitLink.so.13");
}

TEST(ToolkitSearch, FindsTheWheelsOfTheEnvironmentThatItIsIn) {
  // As in site-packages/rondo/lib: this program lies in the last of three folders.
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path packages = program.parent_path() / "nvidia";
  for (const char* wheel : {"cu13", "rondo_stand_in"}) {
    const std::filesystem::path file = packages / wheel / "lib/librondo_stand_in.so.1";
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "x";
    const std::vector<std::string> candidates =
        toolkit_candidates({"librondo_stand_in", "rondo_stand_in"}, "");
    EXPECT_NE(std::ranges::find(candidates, file.string()), candidates.end()) << wheel;
    std::filesystem::remove_all(packages / wheel);
  }
  std::filesystem::remove(packages, failed);
}

#ifdef RONDO_NVCC
constexpr const char* kTwo = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p) {
  .reg .b64 %a;
  .shared .align 4 .b8 room[400];
  .reg .b32 %x;
  ld.param.u64 %a, [p];
  ld.shared.u32 %x, [room];
  st.global.u32 [%a], %x;
  ret;
}
.visible .entry second(.param .u64 p) {
  .reg .b64 %a;
  ld.param.u64 %a, [p];
  st.global.u32 [%a], 1;
  ret;
}
)";

class Assemblers : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(NvJitLink::get().ok()) << NvJitLink::get().error().message;
    ASSERT_TRUE(Ptxas::get().ok()) << Ptxas::get().error().message;
    linker_ = *NvJitLink::get();
    ptxas_ = *Ptxas::get();
  }
  const NvJitLink* linker_ = nullptr;
  const Ptxas* ptxas_ = nullptr;
};

TEST_F(Assemblers, ReportTheSame) {
  const auto linked = linker_->assemble(kTwo, "sm_90");
  ASSERT_TRUE(linked.ok()) << linked.error().message;
  const auto assembled = ptxas_->assemble(kTwo, "sm_90");
  ASSERT_TRUE(assembled.ok()) << assembled.error().message;
  const auto resources = read_ptxas_log(linked->log);
  EXPECT_EQ(resources, read_ptxas_log(assembled->log)) << linked->log << assembled->log;
  ASSERT_EQ(resources.size(), 2U) << linked->log;
  for (const executable::KernelResources& kernel : resources) {
    EXPECT_GT(kernel.registers, 0);
    EXPECT_EQ(kernel.shared_bytes, kernel.name == "first" ? 400 : 0);
  }
  for (const std::string& cubin : {linked->cubin, assembled->cubin}) {
    EXPECT_EQ(cubin.substr(1, 3), "ELF");
    for (const char* name : {"first", "second"}) EXPECT_NE(cubin.find(name), std::string::npos);
  }
}

TEST_F(Assemblers, SayWhatTheyReject) {
  const std::string nonsense = ".version 8.1\n.target sm_90\n.address_size 64\nnonsense\n";
  const auto by_library = linker_->assemble(nonsense, "sm_90");
  const auto by_program = ptxas_->assemble(nonsense, "sm_90");
  for (const auto* rejected : {&by_library, &by_program}) {
    ASSERT_FALSE(rejected->ok());
    EXPECT_EQ(rejected->error().kind, ErrorKind::Compile);
    EXPECT_NE(rejected->error().message.find("line 4"), std::string::npos) << rejected->error().message;
  }
  // Text that refers to what is nowhere assembles and does not link.
  const std::string unresolved =
      ".version 8.1\n.target sm_90\n.address_size 64\n.extern .func other();\n"
      ".visible .entry f() {\n  call other;\n  ret;\n}\n";
  const auto linked = linker_->assemble(unresolved, "sm_90");
  ASSERT_FALSE(linked.ok());
  EXPECT_EQ(linked.error().kind, ErrorKind::Compile);
  EXPECT_NE(linked.error().message.find("other"), std::string::npos) << linked.error().message;
}

TEST_F(Assemblers, TheLibrarySaysWhichArchitectureItDoesNotKnow) {
  const auto refused = linker_->assemble(kTwo, "sm_999");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(refused.error().message.find("does not know sm_999"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().hint.find("RONDO_NVJITLINK=none"), std::string::npos);
}

TEST_F(Assemblers, TheLibraryAssemblesInSeveralThreads) {
  const std::string alone = linker_->assemble(kTwo, "sm_90")->cubin;
  std::vector<std::string> cubins(4);
  std::vector<std::thread> threads;
  for (std::string& cubin : cubins)
    threads.emplace_back([&] { cubin = linker_->assemble(kTwo, "sm_90")->cubin; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& cubin : cubins) EXPECT_EQ(cubin, alone);
}

// Each in a process of its own, because what is found is remembered. What relies on setmaxnreg is left to the
// driver where only the library is there, which ignores it.
TEST(AssemblerOrder, TheProgramGoesFirstThenTheLibraryThenTheDriver) {
  const auto named = [](const char* program, const char* library, const char* expected) {
    ::setenv("RONDO_PTXAS", program, 1);
    ::setenv("RONDO_NVJITLINK", library, 1);
    const bool any = std::string(expected) != "driver";
    const bool all = std::string(expected) == "ptxas ";
    const bool found = assembler_name().starts_with(expected) && can_assemble(kTwo) == any &&
                       can_assemble("setmaxnreg.inc.sync.aligned.u32 224;") == all &&
                       assemble(kTwo, "sm_90").ok() == any;
    std::_Exit(found ? 0 : 1);
  };
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(named("", "", "ptxas "), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(named("none", "", "nvjitlink "), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(named("/nowhere", "", "nvjitlink "), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(named("none", "/nowhere", "driver"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(named("none", "none", "driver"), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace rondo::backend
