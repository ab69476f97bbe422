// An executable that was written and read back runs on the GPU with equal bits: with one launch, with
// several, and with launches for each step.
#include "compiler/executable/serialise.h"
#include "engine/measure/measure.h"
#include "engine/plan/ready_plan.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using rondo::testing::library_cell;
using schedule::Pass;

class ExecutableOnGpu : public rondo::testing::GpuTest {
 protected:
  // Every tensor that the plan requires and writes, as bytes, after one launch.
  std::map<std::string, std::vector<std::byte>> results(const executable::Executable& executable,
                                                        const step::Cell& cell,
                                                        const schedule::Problem& p) const {
    std::map<std::string, std::vector<std::byte>> written;
    auto loaded = runtime::DevicePlan::load(executable, gpu_->context);
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return written;
    }
    const runtime::DevicePlan plan = std::move(loaded).value();
    const auto workspace = runtime::DeviceBuffer::allocate(
        static_cast<std::size_t>(plan.workspace_bytes(p.sizes.batch, p.sizes.time)));
    runtime::Bindings bindings;
    if (workspace) bindings.set_workspace(workspace->address());
    std::vector<engine::DeviceTensor> tensors;
    bind_required(plan, cell, p, 0.25, bindings, tensors);
    const Status status = plan.launch(gpu_->stream, bindings, p.sizes.batch, p.sizes.time);
    EXPECT_TRUE(status.ok()) << status.error().message;
    for (const engine::DeviceTensor& tensor : tensors) {
      const auto bytes = tensor.download_bytes();
      EXPECT_TRUE(bytes.ok());
      if (bytes) written[tensor.name()] = *bytes;
    }
    EXPECT_TRUE(plan.check().ok());
    return written;
  }

  void expect_equal_bits(const char* name, Pass pass, const char* strategy) const {
    const step::Cell cell = library_cell(name);
    const schedule::Problem p = problem(pass, {3, 67, 1, 128}, kernel::Storage::BF16);
    const auto choice = engine::choose_with({cell, p, gpu_->profile}, {strategy, {}});
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    const auto plan = engine::build_choice({cell, p, gpu_->profile}, *choice);
    ASSERT_TRUE(plan.ok());
    const auto compiled =
        engine::compile_plan(std::make_shared<const schedule::Task>(cell, p, gpu_->profile), *plan);
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    const auto read = executable::from_bytes(executable::to_bytes(compiled->executable), "a test");
    ASSERT_TRUE(read.ok()) << read.error().message;
    const auto direct = results(compiled->executable, cell, p), again = results(*read, cell, p);
    EXPECT_GE(direct.size(), 2u);
    EXPECT_EQ(direct, again);
  }
};

TEST_F(ExecutableOnGpu, ReadBackItComputesTheSame) {
  expect_equal_bits("mingru", Pass::ForwardSave, "stream");
  expect_equal_bits("paragru", Pass::Forward, "stream");
  expect_equal_bits("lstm", Pass::ForwardSave, "persistent");
  expect_equal_bits("lstm", Pass::ForwardSave, "alternating");
}

// Where there is a driver, NVRTC 13 takes what it compiled before from a cache, and its log is empty then.
// Spills must be known all the same: they decide what the tuner runs.
TEST_F(ExecutableOnGpu, ResourcesAreReportedForCodeCompiledBefore) {
  const backend::Backend& backend = backend::backend_for(backend::Language::CudaCxx);
  const backend::Request request{backend.name(),
                                 "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }",
                                 "twice.cu", target::Target::gpu(gpu_->info.cc()), backend.flags()};
  for (int time = 0; time < 3; ++time) {
    const auto made = backend.compile(request);
    ASSERT_TRUE(made.ok()) << made.error().message;
    ASSERT_EQ(made->image.resources.size(), 1u) << "compilation " << time;
    EXPECT_GT(made->image.resources[0].registers, 0);
  }
}

TEST_F(ExecutableOnGpu, WithoutCodeItIsRefused) {
  executable::Executable empty;
  const auto loaded = runtime::DevicePlan::load(empty, gpu_->context);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::Input);
}

}  // namespace
}  // namespace rondo::tuner
