// Source, compilation and cubin cache of plans, with a compiler that only counts.
#include <algorithm>
#include <filesystem>
#include <set>
#include <type_traits>

#include "compiler/executable/serialise.h"
#include "engine/plan/compile.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

// Lowers to CUDA C++ and compiles to made-up code.
class CountingBackend final : public backend::Backend {
 public:
  std::string name() const override { return name_; }
  std::string title() const override { return "a test"; }
  backend::Language language() const override { return backend::Language::CudaCxx; }
  backend::Source lower(const std::vector<const kernel::Kernel*>& kernels,
                        const target::Target& target) const override {
    backend::Source source = backend::preferred_backend().lower(kernels, target);
    source.features.insert(features_.begin(), features_.end());
    return source;
  }
  const std::vector<std::string>& flags() const override { return flags_; }
  Status available() const override { return success(); }
  Result<std::string> version() const override { return version_; }
  Result<std::string> path() const override { return std::string("/nowhere"); }
  Result<std::vector<int>> capabilities() const override { return std::vector<int>{90}; }
  Result<backend::Compiled> compile(const backend::Request& request) const override {
    ++compilations_;
    last_ = request;
    if (missing_) return Error{ErrorKind::Missing, "no NVRTC", ""};
    backend::Compiled code;
    code.image.bytes = "cubin of " + request.text;
    for (const std::string& kernel : kernels_) {
      code.image.resources.emplace_back();
      code.image.resources.back().name = kernel;
      code.image.resources.back().registers = 40;
    }
    return code;
  }

  std::string name_ = "nvrtc", version_ = "13.0";
  std::vector<std::string> flags_ = {"--std=c++17"};
  kernel::FeatureSet features_;       // beside those of the kernels
  std::vector<std::string> kernels_;  // that it reports
  bool missing_ = false;
  mutable int compilations_ = 0;
  mutable backend::Request last_;
};

class Compiling : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(::testing::TempDir()) /
             ("plan-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db"))
                .string();
    std::filesystem::remove(path_);
    database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
    options_.database = database_.get();
    options_.backend = &backend_;
  }
  void TearDown() override {
    database_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  CompiledPlan compiled() {
    plan_ = testing::stream_plan(*cell_, problem_, vector_);
    backend_.kernels_.clear();
    for (const schedule::Launch& launch : plan_.launches) backend_.kernels_.push_back(launch.kernel.name);
    Result<CompiledPlan> result =
        compile_plan(std::make_shared<const schedule::Task>(*cell_, problem_, profile_), plan_, options_);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? *result : CompiledPlan{};
  }

  std::shared_ptr<const step::Cell> cell_ = std::make_shared<step::Cell>(testing::library_cell("paragru"));
  schedule::Problem problem_ = testing::problem_of(Pass::Backward);
  target::Profile profile_ = target::board();
  std::int64_t vector_ = 8;
  schedule::KernelPlan plan_;
  std::string path_;
  std::unique_ptr<db::Database> database_;
  CountingBackend backend_;
  CompileOptions options_;
};

TEST_F(Compiling, SecondTimeComesFromTheDatabase) {
  const CompiledPlan first = compiled();
  EXPECT_FALSE(first.from_cache);
  const CompiledPlan second = compiled();
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(backend_.compilations_, 1);
  EXPECT_EQ(first.executable, second.executable);
  EXPECT_EQ(first.key, second.key);
}

// So that what is wanted beside the code can be made meanwhile, and only where there is such a while.
TEST_F(Compiling, WhatIsToBeCompiledIsSaidBefore) {
  std::vector<std::size_t> launches;
  options_.before = [&](const executable::Executable& executable) {
    EXPECT_EQ(backend_.compilations_, 0);
    EXPECT_TRUE(executable.images.empty());
    launches.push_back(executable.launches.size());
  };
  const CompiledPlan first = compiled();
  EXPECT_EQ(launches, (std::vector<std::size_t>{first.executable.launches.size()}));
  EXPECT_TRUE(compiled().from_cache);
  EXPECT_EQ(launches.size(), 1U);
}

// Batch and time are free at every call: two shapes whose text is one take turns with one stored image.
TEST_F(Compiling, AnotherShapeOfTheSameTextComesFromTheDatabaseToo) {
  const CompiledPlan first = compiled();
  EXPECT_EQ(first.code, first.key.hash());
  for (const std::int64_t time : {problem_.sizes.time * 2, problem_.sizes.time}) {
    problem_.sizes.time = time;
    options_.cubin_key = first.code;
    const CompiledPlan other = compiled();
    EXPECT_TRUE(other.from_cache) << time;
    EXPECT_EQ(other.code, first.code);
    EXPECT_EQ(other.executable.identity.time, time);
  }
  EXPECT_EQ(backend_.compilations_, 1);
}

// Source, flags, target, backend and its version: a change of any one alone is another cubin under another
// key.
TEST_F(Compiling, EveryFieldOfTheKeyCounts) {
  std::set<std::string> keys;
  auto expect_new = [&](const char* what) {
    const CompiledPlan plan = compiled();
    EXPECT_FALSE(plan.from_cache) << what;
    EXPECT_TRUE(keys.insert(plan.key.hash()).second) << what << " is not in the key";
    EXPECT_TRUE(compiled().from_cache) << what << ", the second time";
    EXPECT_EQ(backend_.compilations_, static_cast<int>(keys.size())) << what;
  };
  expect_new("the first");
  backend_.version_ = "13.1";
  expect_new("compiler version");
  backend_.name_ = "other";
  expect_new("backend");
  profile_ = target::board("sm_100");
  expect_new("architecture");
  backend_.features_ = {kernel::Feature::WarpgroupMma};
  expect_new("suffix of the target");
  options_.flags = {"--std=c++17", "-lineinfo"};
  expect_new("flags");
  options_.flags = {"-lineinfo", "--std=c++17"};
  expect_new("order of flags");
  vector_ = 4;
  expect_new("source");
}

// A key that names other than what was compiled would hand out a wrong cubin later.
TEST_F(Compiling, TheKeyNamesWhatTheCompilerWasGiven) {
  options_.flags = {"--std=c++17", "-lineinfo"};
  const CompiledPlan plan = compiled();
  const backend::Request& given = backend_.last_;
  EXPECT_EQ(given.flags, *options_.flags);
  EXPECT_EQ(given, plan.request);
  EXPECT_EQ(plan.key, (db::CacheKey{given.text, "--std=c++17 -lineinfo", "sm_90", "nvrtc 13.0"}));
  options_.flags.reset();
  EXPECT_EQ(compiled().key.flags, "--std=c++17");
}

// The architecture's own name is the kernels' matter: what a caller writes of it makes no other key.
TEST_F(Compiling, TheSuffixOfAnArchitectureFollowsFromTheKernels) {
  EXPECT_EQ(compiled().key.arch, "sm_90");
  backend_.features_ = {kernel::Feature::SetMaxNReg};
  EXPECT_EQ(compiled().key.arch, "sm_90a");
}

TEST_F(Compiling, ATunedCubinNeedsNoCompiler) {
  options_.cubin_key = compiled().key.hash();
  backend_.version_ = "99";
  backend_.missing_ = true;
  EXPECT_TRUE(compiled().from_cache);
  // The key of other source is not believed, and neither is another backend's code.
  backend_.name_ = "other";
  EXPECT_FALSE(compile_plan(std::make_shared<const schedule::Task>(*cell_, problem_, target::board()),
                            testing::stream_plan(*cell_, problem_), options_)
                   .ok());
  backend_.name_ = "nvrtc";
  problem_.sizes.dim = 128;
  const auto other = compile_plan(std::make_shared<const schedule::Task>(*cell_, problem_, target::board()),
                                  testing::stream_plan(*cell_, problem_), options_);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "no NVRTC");
}

// As versions before there were several backends recorded it.
TEST_F(Compiling, ATunedCubinOfAVersionWithoutBackendsIsTaken) {
  const CompiledPlan plan = compiled();
  db::Cubin old;
  old.key = plan.key;
  old.key.compiler_version = "12.4";
  old.image =
      "\x7f"
      "ELF of before there were executables";
  const auto stored = database_->get_cubin(plan.key);
  ASSERT_TRUE(stored.ok() && stored->has_value());
  old.resources = (*stored)->resources;
  ASSERT_TRUE(database_->put_cubin(old).ok());
  options_.cubin_key = old.key.hash();
  const CompiledPlan again = compiled();
  EXPECT_TRUE(again.from_cache);
  EXPECT_EQ(again.key.compiler_version, "12.4");
  ASSERT_TRUE(again.has_code());
  EXPECT_EQ(again.executable.images.front().bytes, old.image);
  EXPECT_EQ(again.resources(), plan.resources());
}

// What one pass saves for the other has one type: code that reads a history of another is made again.
TEST_F(Compiling, StoredCodeWithAnotherTypeOfAHistoryIsMadeAgain) {
  cell_ = std::make_shared<step::Cell>(testing::cell_from(
      "cell adds(D) {\n input x[D]\n state c[D]\n next c = c + x * tanh(c)\n output y = tanh(c)\n}\n"));
  problem_ = testing::problem_of(Pass::Backward, 64, kernel::Storage::F16);
  const auto history_of = [](executable::Executable& code) -> executable::Tensor& {
    return *std::find_if(code.tensors.begin(), code.tensors.end(), [](const executable::Tensor& tensor) {
      return tensor.ref.role == executable::Role::History;
    });
  };
  CompiledPlan plan = compiled();
  ASSERT_EQ(history_of(plan.executable).storage, kernel::Storage::F32) << "nothing bounds the state";
  ASSERT_TRUE(compiled().from_cache);
  db::Cubin earlier = database_->get_cubin(plan.key)->value();
  executable::Executable of_half = plan.executable;
  history_of(of_half).storage = kernel::Storage::F16;
  earlier.image = executable::to_bytes(of_half);
  ASSERT_TRUE(database_->put_cubin(earlier).ok());
  CompiledPlan again = compiled();
  EXPECT_FALSE(again.from_cache);
  EXPECT_EQ(history_of(again.executable).storage, kernel::Storage::F32);
  // So is code of the last format in which all histories of fp16 problems were fp16.
  earlier.image = executable::to_bytes(plan.executable);
  earlier.image[8] = 4;
  ASSERT_TRUE(database_->put_cubin(earlier).ok());
  EXPECT_FALSE(compiled().from_cache);
}

// Changes one number or text of an executable's tensors, kernels and launches, of which lists it looks at the
// first and the last: the one of that place of all it comes to.
class OneChange {
 public:
  explicit OneChange(int place) : left_(place) {}
  bool made() const { return left_ < 0; }

  template <class One, class Other, class... Fields>
  void operator()(One& one, Other& other, Fields&... fields) {
    (*this)(one);
    (*this)(other);
    ((*this)(fields), ...);
  }
  void operator()(std::string& text) {
    if (left_-- == 0) text += "x";
  }
  void operator()(bool& flag) {
    if (left_-- == 0) flag = !flag;
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void operator()(Number& number) {
    if (left_-- == 0) number = static_cast<Number>(static_cast<int>(number) + 1);
  }
  template <class One>
  void operator()(std::vector<One>& all) {
    if (all.empty()) return;
    (*this)(all.front());
    if (all.size() > 1) (*this)(all.back());
    if (left_-- == 0) all.pop_back();
  }
  // A new member does not compile until it is named here.
  void operator()(executable::TensorRef& of) {
    auto& [role, tensor] = of;
    (*this)(role, tensor);
  }
  void operator()(executable::SizeRule& of) {
    auto& [fixed, each, batch_tile, time_tile, batch_rows] = of;
    (*this)(fixed, each, batch_tile, time_tile, batch_rows);
  }
  void operator()(executable::Tensor& of) {
    auto& [ref, name, shape, storage, need, written, alignment, unit, size, first, lies_in] = of;
    (*this)(ref, name, shape, storage, need, written, alignment, unit, size, first, lies_in);
  }
  void operator()(executable::Kernel& of) {
    auto& [name, threads, cluster, shared_bytes, cooperative, waits] = of;
    (*this)(name, threads, cluster, shared_bytes, cooperative, waits);
  }
  void operator()(executable::Argument& of) {
    auto& [kind, bytes, tensor] = of;
    (*this)(kind, bytes, tensor);
  }
  void operator()(executable::Grid& of) {
    auto& [blocks, tiles_together] = of;
    (*this)(blocks, tiles_together);
  }
  void operator()(executable::Repetition& of) {
    auto& [kind, most, condition] = of;
    (*this)(kind, most, condition);
  }
  void operator()(executable::Launch& of) {
    auto& [kernel, grid, repetition, arguments] = of;
    (*this)(kernel, grid, repetition, arguments);
  }

 private:
  int left_;
};

// Code of the same text that is launched in another way, whatever is other about it.
TEST_F(Compiling, StoredCodeThatIsLaunchedOtherwiseIsMadeAgain) {
  const CompiledPlan plan = compiled();
  db::Cubin stored = database_->get_cubin(plan.key)->value();
  const auto is_taken = [&](const executable::Executable& as) {
    stored.image = executable::to_bytes(as);
    EXPECT_TRUE(database_->put_cubin(stored).ok());
    return compiled().from_cache;
  };
  EXPECT_TRUE(is_taken(plan.executable));
  int places = 0;
  for (;; ++places) {
    executable::Executable other = plan.executable;
    OneChange change(places);
    change(other.tensors, other.kernels, other.launches);
    if (!change.made()) break;
    EXPECT_FALSE(is_taken(other)) << "change " << places;
  }
  EXPECT_GT(places, 60);
  EXPECT_TRUE(is_taken(plan.executable));
}

TEST_F(Compiling, ResourcesAreThoseOfTheLaunches) {
  const CompiledPlan plan = compiled();
  ASSERT_EQ(plan.resources().size(), plan.plan.launches.size());
  EXPECT_EQ(plan.resources()[0].shared_bytes, kernel::shared_bytes(plan.plan.launches[0].kernel))
      << "dynamic included";
  EXPECT_EQ(plan.resources()[0].max_threads, plan.plan.launches[0].kernel.threads);
  EXPECT_EQ(plan.registers(), 40);
  EXPECT_FALSE(plan.spills());
}

TEST_F(Compiling, AKernelThatIsMissingIsADefect) {
  plan_ = testing::stream_plan(*cell_, problem_);
  CompiledPlan plan =
      uncompiled_plan(std::make_shared<const schedule::Task>(*cell_, problem_, target::board()), plan_,
                      backend_, "13.0")
          .value();
  const Status status = attach_code(plan, backend::Compiled{});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::Internal);
}

TEST_F(Compiling, SourceHoldsEveryKernel) {
  const std::string source = compiled().request.text;
  for (const schedule::Launch& launch : plan_.launches)
    EXPECT_NE(source.find(launch.kernel.name + "("), std::string::npos) << launch.kernel.name;
}

}  // namespace
}  // namespace rondo::engine
