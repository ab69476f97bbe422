// What stands in for a kernel, in which order, and what the caller hears of it. The tuner is a stand-in that
// finds nothing, for a reason that each test gives.
#include "engine/service/service.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>
#include <vector>

#include "compiler/backend/backends.h"
#include "compiler/target/profile.h"
#include "runtime/device/cpu_device.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

class Service : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* given = std::getenv("RONDO_LLVM")) llvm_ = given;
    ::setenv("RONDO_LLVM", "/proc/self/exe", 1);  // a file that is there: nothing here is compiled
    ASSERT_TRUE(backend::cpu_backend().looks_installed());
    gpu_.profile = target::find_profile("h100").value();
    gpu_.device = runtime::cpu_device();  // on which nothing is loaded
    request_.cell = &cell_;
    request_.problem = rondo::testing::problem_of(schedule::Pass::Forward);
    request_.stand_in = StandIn::Cpus;
    request_.trust.note = [this](const std::string& text) { notes_.push_back(text); };
    request_.tune = [this](const Request&, const Machine& machine) -> Result<Tuned> {
      asked_.emplace_back(machine.profile.is_cpu() ? "CPUs" : "GPU");
      return Error{machine.profile.is_cpu() ? on_cpus_ : on_gpu_, "it is in vain", ""};
    };
  }

  void TearDown() override {
    if (llvm_)
      ::setenv("RONDO_LLVM", llvm_->c_str(), 1);
    else
      ::unsetenv("RONDO_LLVM");
  }

  // The kind of the error; none where the reference is the answer.
  std::optional<ErrorKind> asked() {
    asked_.clear();
    notes_.clear();
    const Result<Answer> found = answer(request_, gpu_);
    if (!found) return found.error().kind;
    EXPECT_FALSE(found->kernel);
    EXPECT_EQ(found->where(), "CPU, reference executor in fp64");
    return std::nullopt;
  }

  using Texts = std::vector<std::string>;
  step::Cell cell_ = rondo::testing::library_cell("lstm");
  Machine gpu_;
  Request request_;
  ErrorKind on_gpu_ = ErrorKind::Unsupported, on_cpus_ = ErrorKind::Unsupported;
  Texts asked_, notes_;
  std::optional<std::string> llvm_;  // the compiler that other tests use
};

TEST_F(Service, CpusAndThenTheReference) {
  EXPECT_EQ(asked(), std::nullopt);
  EXPECT_EQ(asked_, (Texts{"GPU", "CPUs"}));
  EXPECT_EQ(notes_, (Texts{"it is in vain; running on CPUs",
                           "it is in vain; the plan is the reference executor, in fp64"}));
  on_cpus_ = ErrorKind::Missing;
  EXPECT_EQ(asked(), std::nullopt);
  gpu_.device = nullptr;  // which is no error of its own
  EXPECT_EQ(asked(), std::nullopt);
  EXPECT_EQ(asked_, Texts{"CPUs"});
  EXPECT_EQ(notes_.size(), 1U);
}

TEST_F(Service, OtherErrorsStay) {
  on_gpu_ = ErrorKind::Missing;
  EXPECT_EQ(asked(), ErrorKind::Missing);
  EXPECT_EQ(asked_, Texts{"GPU"});
  on_gpu_ = ErrorKind::Unsupported;
  on_cpus_ = ErrorKind::Compile;
  EXPECT_EQ(asked(), ErrorKind::Compile);
  request_.stand_in = StandIn::None;
  EXPECT_EQ(asked(), ErrorKind::Unsupported);
  EXPECT_EQ(asked_, Texts{"GPU"});
  EXPECT_TRUE(notes_.empty());
}

// Nothing stands in for a kernel that is asked for, and nothing unproven with `strict`.
TEST_F(Service, KernelsThatAreAskedFor) {
  request_.trust.strict = true;
  EXPECT_EQ(asked(), ErrorKind::Unsupported);
  EXPECT_EQ(asked_, (Texts{"GPU", "CPUs"}));
  request_.trust.strict = false;
  const db::PinnedChoices lock;
  for (int wish = 0; wish < 4; ++wish) {
    Request wanted = request_;
    if (wish == 0) wanted.overrides.strategy = "host";
    if (wish == 1) wanted.overrides.parameters["tile"] = 4;
    if (wish == 2) wanted.trust.pinned = &lock;
    if (wish == 3) wanted.only_recorded = true;
    gpu_.device = nullptr;
    const Result<Answer> found = answer(wanted, gpu_);
    ASSERT_FALSE(found.ok()) << wish;
    EXPECT_EQ(found.error().kind, ErrorKind::Unsupported) << wish;
  }
  EXPECT_TRUE(notes_.size() == 1) << "of the GPU, with strict";
  request_.overrides.strategy = "stream";
  EXPECT_EQ(asked(), ErrorKind::Input) << "it computes on no CPU";
}

TEST_F(Service, TheReferenceByItsName) {
  request_.overrides.strategy = kReference;
  EXPECT_EQ(asked(), std::nullopt);
  EXPECT_TRUE(asked_.empty() && notes_.empty());
  request_.overrides.parameters["tile"] = 4;
  EXPECT_EQ(asked(), ErrorKind::Input);
}

// A way to save that cannot be had leaves the other; where neither has a kernel, states are saved.
TEST_F(Service, WaysToSave) {
  const Result<TrainingAnswer> none = answer_training(request_, gpu_, Save::Faster);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->save, Save::States);
  EXPECT_EQ(asked_.size(), 4U) << "both passes, on either machine";
  request_.stand_in = StandIn::None;
  asked_.clear();
  EXPECT_EQ(answer_training(request_, gpu_, Save::Faster).error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(asked_.size(), 2U) << "the first pass of either way";
  on_gpu_ = ErrorKind::Compile;
  asked_.clear();
  EXPECT_EQ(answer_training(request_, gpu_, Save::Faster).error().kind, ErrorKind::Compile);
  EXPECT_EQ(asked_.size(), 1U);
}

}  // namespace
}  // namespace rondo::engine
