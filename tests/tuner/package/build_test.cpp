// Packages built: for every architecture, the same bytes each time, and stopped when asked.
#include "tuner/package/build.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/target/target.h"
#include "runtime/package/select.h"

namespace rondo::tuner {
namespace {

std::vector<PackagedProblem> small() {
  PackageLine line{"mingru", "", {"B=2,T=16,D=32"}};
  return packaged_problems({line}).value();
}

PackageOptions options_for(const std::vector<const char*>& archs) {
  PackageOptions options;
  for (const char* arch : archs) options.targets.push_back(target::find_profile(arch).value());
  return options;
}

TEST(PackageBuild, AllArchitecturesAndTheSameBytesEachTime) {
  PackageOptions options = options_for({"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"});
  options.base = target::find_profile("sm_80").value();
  std::size_t last = 0;
  options.progress = [&](const PackageProgress& progress) {
    EXPECT_EQ(progress.done, last + 1);
    EXPECT_EQ(progress.all, 8U) << "a self-test, six cubins and the PTX";
    last = progress.done;
  };
  const auto built = build_package(small(), options);
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_EQ(last, 8U);
  const std::string bytes = built->bytes();
  const auto package = package::Package::from_memory(bytes, "a test");
  ASSERT_TRUE(package.ok()) << package.error().message;
  ASSERT_TRUE(package->verify().ok());
  std::set<std::string> archs;
  for (const package::Entry& entry : package->index().entries) {
    archs.insert(entry.arch);
    EXPECT_NE(entry.self_test, package::kNoPart);
    EXPECT_EQ(entry.origin, "by model");
  }
  EXPECT_EQ(archs,
            (std::set<std::string>{"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "compute_80"}));
  for (const int capability : {80, 86, 87, 89, 90, 100, 103, 120, 121, 130})
    EXPECT_TRUE(package::select(*package, {}, {capability, 101376}).ok()) << capability;
  last = 0;
  options.workers = 1;
  EXPECT_EQ(build_package(small(), options)->bytes(), bytes);
}

// It was written, and no reader took it.
TEST(PackageBuild, CpusAreRefusedBeforeAnythingIsBuilt) {
  PackageOptions options = options_for({"sm_90", "x86-64-v3"});
  options.progress = [](const PackageProgress&) { ADD_FAILURE() << "built"; };
  const auto built = build_package(small(), options);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(built.error().message.find("x86-64-v3 is none"), std::string::npos) << built.error().message;
  options = options_for({"sm_90"});
  options.base = target::find_profile("x86-64-v3").value();
  EXPECT_FALSE(build_package(small(), options).ok());
}

TEST(PackageBuild, PtxIsTextThatTheDriverReads) {
  PackageOptions options = options_for({});
  options.base = target::find_profile("sm_80").value();
  options.self_tests = false;
  const std::string bytes = build_package(small(), options)->bytes();
  const package::Package package = package::Package::from_memory(bytes, "a test").value();
  ASSERT_EQ(package.index().entries.size(), 1U);
  const executable::Executable executable = package.executable(0, 0).value();
  const executable::Image& image = executable.images.front();
  EXPECT_EQ(image.kind, executable::ImageKind::Ptx);
  EXPECT_NE(image.bytes.find(".target sm_80"), std::string::npos);
  EXPECT_NE(image.bytes.find(executable.kernels.front().name), std::string::npos);
  EXPECT_NE(image.bytes.back(), '\0');
  EXPECT_EQ(image.resources.size(), executable.kernels.size());
}

// What runs on all later GPUs asks for no more than the least of them has.
TEST(PackageBuild, ThePortableProfileIsWithinEveryBoard) {
  for (const char* arch : {"sm_75", "sm_80"}) {
    const target::Profile base = target::find_profile(arch).value(), portable = portable_profile(base);
    EXPECT_EQ(portable.arch(), arch);
    for (const target::Profile& board : target::shipped_profiles()) {
      if (board.target.level < base.target.level) continue;  // its PTX does not run there
      EXPECT_LE(portable.limits.shared_per_block, board.limits.shared_per_block) << board.name;
      EXPECT_LE(portable.limits.shared_per_sm, board.limits.shared_per_sm) << board.name;
      EXPECT_LE(portable.limits.threads_per_sm, board.limits.threads_per_sm) << board.name;
      EXPECT_LE(portable.limits.blocks_per_sm, board.limits.blocks_per_sm) << board.name;
      EXPECT_LE(portable.limits.sm_count, board.limits.sm_count) << board.name;
      EXPECT_LE(portable.limits.registers_per_sm, board.limits.registers_per_sm) << board.name;
    }
  }
}

// Later GPUs have no wgmma and no setmaxnreg, which exist under the name of sm_90a alone.
TEST(PackageBuild, PtxHasNoInstructionOfOneArchitectureAlone) {
  PackageOptions options = options_for({});
  options.base = target::find_profile("sm_90").value();
  options.self_tests = false;
  const auto problems =
      packaged_problems({PackageLine{"lstm", "", {"B=16,T=64,H=1,D=768"}, {"bf16"}, "fw,fws,bw"}});
  ASSERT_TRUE(problems.ok()) << problems.error().message;
  const auto built = build_package(*problems, options);
  ASSERT_TRUE(built.ok()) << built.error().message;
  const std::string bytes = built->bytes();
  const package::Package package = package::Package::from_memory(bytes, "a test").value();
  for (std::size_t entry = 0; entry < package.index().entries.size(); ++entry) {
    const executable::Executable executable = package.executable(entry, 0).value();
    const std::string& text = executable.images.front().bytes;
    EXPECT_NE(text.find(".target sm_90"), std::string::npos);
    for (const char* own : {".target sm_90a", "wgmma", "setmaxnreg"})
      EXPECT_EQ(text.find(own), std::string::npos) << executable.identity.pass << ": " << own;
  }
}

TEST(PackageBuild, EndsWhenAsked) {
  std::atomic<bool> stop{false};
  PackageOptions options = options_for({"sm_80", "sm_90"});
  options.workers = 1;
  options.stop = &stop;
  std::size_t done = 0;
  options.progress = [&](const PackageProgress& progress) {
    done = progress.done;
    stop = true;
  };
  const auto built = build_package(small(), options);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(done, 1U);
}

TEST(PackageBuild, ErrorsNameTheProblem) {
  PackageOptions options = options_for({"sm_90"});
  options.self_tests = false;
  const db::PinnedChoices nothing =
      db::PinnedChoices::parse(db::to_lock_text({}).value(), "empty.lock").value();
  options.pinned = &nothing;
  const auto built = build_package(small(), options);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Missing);
  EXPECT_NE(built.error().message.find("mingru fw bf16 B=2 T=16 D=32 for sm_90: 'empty.lock' pins no choice"),
            std::string::npos)
      << built.error().message;
}

}  // namespace
}  // namespace rondo::tuner
