// Trials on the GPU in a worker process: kernels that never end or fail cost one trial.
#include <cmath>

#include "compiler/schedule/strategies.h"
#include "tests/gpu/gpu.h"
#include "tuner/trial/process.h"

namespace rondo::tuner {
namespace {

using namespace std::chrono_literals;
using rondo::testing::library_cell;

class GpuTrialsInAProcess : public rondo::testing::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (HasFatalFailure()) return;
    const step::Cell cell = library_cell("mingru");
    const schedule::Problem p = problem(schedule::Pass::Forward, {4, 64, 1, 128}, kernel::Storage::BF16);
    const auto choice = engine::choose({cell, p, gpu_->profile});
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    auto plan = schedule::find_strategy(choice->strategy)
                    ->build({cell, p, gpu_->profile}, choice->parameters)
                    .value();
    kernel_ = plan.launches.front().kernel.name;
    const auto compiled =
        engine::compile_plan(std::make_shared<const schedule::Task>(cell, p, gpu_->profile), std::move(plan));
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    good_ = compiled->executable;
    TrialProcessOptions options;
    options.limit = 10s;
    trials_ = std::make_unique<TrialProcess>(TrialSetup{{cell, p, gpu_->profile}, 3}, options);
  }

  // A kernel of the plan's name that does something else.
  executable::Executable instead(const std::string& body) const {
    const backend::Backend& backend = backend::backend_for(backend::Language::CudaCxx);
    const auto made =
        backend.compile({backend.name(), "extern \"C\" __global__ void " + kernel_ + "() { " + body + " }",
                         "instead.cu", target::Target::gpu(gpu_->info.cc()), backend.flags()});
    EXPECT_TRUE(made.ok()) << made.error().message;
    executable::Executable other = good_;
    other.images.front().bytes = made ? made->image.bytes : "";
    other.images.front().seal();
    return other;
  }
  Result<std::vector<double>> run(std::size_t candidate, const executable::Executable& plan) {
    return trials_->run({candidate, &plan}, 3, 1e-4);
  }
  void expect_good(std::size_t candidate) {
    const auto seconds = run(candidate, good_);
    ASSERT_TRUE(seconds.ok()) << seconds.error().message;
    EXPECT_GT(seconds->at(0), 0);
    for (const std::uint64_t seed : {0, 4}) {
      const auto verified = trials_->verify({candidate, &good_}, seed);
      ASSERT_TRUE(verified.ok()) << verified.error().message;
      EXPECT_TRUE(verified->passed) << verified->summary;
    }
  }

  std::string kernel_;
  executable::Executable good_;
  std::unique_ptr<TrialProcess> trials_;
};

TEST_F(GpuTrialsInAProcess, TimesAndVerifies) {
  expect_good(1);
  const auto copy = trials_->copy_bandwidth();
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_GT(*copy, 1e11);
  const auto round = trials_->round({{1, &good_}, {2, &good_}});
  ASSERT_TRUE(round.ok()) << round.error().message;
  EXPECT_EQ(round->size(), 2u);
  EXPECT_EQ(trials_->started(), 1);
}

TEST_F(GpuTrialsInAProcess, AKernelThatNeverEndsIsKilled) {
  const executable::Executable endless =
      instead(R"(unsigned on = 1; while (on) asm volatile("mov.u32 %0, 1;" : "=r"(on));)");
  const auto hung = run(1, endless);
  ASSERT_FALSE(hung.ok());
  EXPECT_EQ(hung.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(hung.error().message.rfind("timeout", 0), 0u) << hung.error().message;
  expect_good(2);
  EXPECT_EQ(trials_->started(), 2);
}

TEST_F(GpuTrialsInAProcess, AKernelThatBreaksTheContextCostsOneTrial) {
  const auto broken = run(1, instead("__trap();"));
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().kind, ErrorKind::Device) << broken.error().message;
  EXPECT_TRUE(trials_->alive());
  expect_good(2);
  EXPECT_EQ(trials_->started(), 2);
}

TEST_F(GpuTrialsInAProcess, WrongResultsAreFound) {
  const auto nothing_written = instead("");
  const auto verified = trials_->verify({1, &nothing_written});
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  EXPECT_FALSE(verified->passed);
  EXPECT_EQ(verified->tensor, "h_out");
  EXPECT_TRUE(std::isinf(verified->excess)) << "nothing was written";
}

}  // namespace
}  // namespace rondo::tuner
