// Source, compilation and cubin cache of plans, with a compiler that only counts.
#include <filesystem>
#include <set>

#include "runtime/plan/compile.h"
#include "tests/runtime/plan/cells.h"

namespace rondo::runtime {
namespace {

using schedule::Pass;

class Compiling : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(::testing::TempDir()) /
             ("plan-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db"))
                .string();
    std::filesystem::remove(path_);
    database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
    options_.database = database_.get();
    compiler_.version = "13.0";
    compiler_.compile = [this](const std::string& source, const std::string&,
                               const std::vector<std::string>&) {
      ++compilations_;
      CompiledKernel code;
      code.cubin = "cubin of " + source;
      for (const schedule::Launch& launch : plan_.launches) {
        KernelResources r;
        r.name = launch.kernel.name;
        r.registers = 40;
        code.kernels.push_back(r);
      }
      return Result<CompiledKernel>(code);
    };
    options_.compiler = &compiler_;
  }
  void TearDown() override {
    database_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  CompiledPlan compiled() {
    plan_ = testing::stream_plan(*cell_, problem_, vector_);
    Result<CompiledPlan> result = compile_plan(cell_, problem_, plan_, options_);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? *result : CompiledPlan{};
  }

  std::shared_ptr<const step::Cell> cell_ = std::make_shared<step::Cell>(testing::library_cell("paragru"));
  schedule::Problem problem_ = testing::problem_of(Pass::Backward);
  std::int64_t vector_ = 8;
  schedule::KernelPlan plan_;
  std::string path_;
  std::unique_ptr<db::Database> database_;
  Compiler compiler_;
  CompileOptions options_;
  int compilations_ = 0;
};

TEST_F(Compiling, SecondTimeComesFromTheDatabase) {
  const CompiledPlan first = compiled();
  EXPECT_FALSE(first.from_cache);
  const CompiledPlan second = compiled();
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(compilations_, 1);
  EXPECT_EQ(first.executable, second.executable);
  EXPECT_EQ(first.key, second.key);
}

// Source, flags, architecture and compiler version: a change of any one alone is another cubin under another
// key.
TEST_F(Compiling, EveryFieldOfTheKeyCounts) {
  std::set<std::string> keys;
  auto expect_new = [&](const char* what) {
    const CompiledPlan plan = compiled();
    EXPECT_FALSE(plan.from_cache) << what;
    EXPECT_TRUE(keys.insert(plan.key.hash()).second) << what << " is not in the key";
    EXPECT_TRUE(compiled().from_cache) << what << ", the second time";
    EXPECT_EQ(compilations_, static_cast<int>(keys.size())) << what;
  };
  expect_new("the first");
  compiler_.version = "13.1";
  expect_new("compiler version");
  problem_.arch = "sm_100";
  expect_new("architecture");
  options_.flags.push_back("-lineinfo");
  expect_new("flags");
  std::swap(options_.flags.front(), options_.flags.back());
  expect_new("order of flags");
  vector_ = 4;
  expect_new("source");
}

// A key that names other than what was compiled would hand out a wrong cubin later.
TEST_F(Compiling, TheKeyNamesWhatTheCompilerWasGiven) {
  std::string source, arch;
  std::vector<std::string> flags;
  const auto inner = compiler_.compile;
  compiler_.compile = [&](const auto& given_source, const auto& given_arch, const auto& given_flags) {
    source = given_source;
    arch = given_arch;
    flags = given_flags;
    return inner(given_source, given_arch, given_flags);
  };
  options_.flags = {"--std=c++17", "-lineinfo"};
  const CompiledPlan plan = compiled();
  EXPECT_EQ(flags, options_.flags);
  EXPECT_EQ(plan.key, (db::CacheKey{source, "--std=c++17 -lineinfo", arch, compiler_.version}));
  options_.flags = CompileOptions{}.flags;
  EXPECT_EQ(compiled().key.flags, "--std=c++17");
}

TEST_F(Compiling, ATunedCubinNeedsNoCompiler) {
  const std::string key = compiled().key.hash();
  Compiler none;
  none.version = "99";
  none.compile = [](const auto&, const auto&, const auto&) {
    return Result<CompiledKernel>(Error{ErrorKind::Missing, "no NVRTC", ""});
  };
  options_.compiler = &none;
  options_.cubin_key = key;
  EXPECT_TRUE(compiled().from_cache);
  // The key of other source is not believed.
  problem_.sizes.dim = 128;
  plan_ = testing::stream_plan(*cell_, problem_);
  const auto other = compile_plan(cell_, problem_, plan_, options_);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "no NVRTC");
}

TEST_F(Compiling, ResourcesAreThoseOfTheLaunches) {
  const CompiledPlan plan = compiled();
  ASSERT_EQ(plan.resources().size(), plan.plan.launches.size());
  EXPECT_EQ(plan.resources()[0].shared_bytes, kernel::shared_bytes(plan.plan.launches[0].kernel))
      << "dynamic included";
  EXPECT_EQ(plan.registers(), 40);
  EXPECT_FALSE(plan.spills());
}

TEST_F(Compiling, AKernelThatIsMissingIsADefect) {
  plan_ = testing::stream_plan(*cell_, problem_);
  CompiledPlan plan = uncompiled_plan(cell_, problem_, plan_, "13.0").value();
  const Status status = attach_code(plan, CompiledKernel{});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::Internal);
}

TEST_F(Compiling, SourceHoldsEveryKernel) {
  const std::string source = emit_source(testing::stream_plan(*cell_, problem_));
  for (const schedule::Launch& launch : testing::stream_plan(*cell_, problem_).launches)
    EXPECT_NE(source.find(launch.kernel.name + "("), std::string::npos) << launch.kernel.name;
}

}  // namespace
}  // namespace rondo::runtime
