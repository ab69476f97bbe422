// shoot on a GPU: blocks that wait for each other beside another kernel, runs that converge and runs that do
// not, and what they say of it.
#include <optional>
#include <tuple>

#include "compiler/executable/convergence.h"
#include "engine/check/verify.h"
#include "engine/measure/measure.h"
#include "tests/gpu/gpu.h"
#include "tests/schedule/shoot/points.h"

namespace rondo::tuner {
namespace {

using engine::TensorLayout;
using kernel::Storage;
using rondo::testing::library_cell;
using schedule::Pass;
using schedule::shoot_point;
using schedule::ShootTeam;

class ShootOnGpu : public rondo::testing::GpuTest {
 protected:
  // A plan with its tensors, all of one amplitude.
  struct Run {
    std::unique_ptr<runtime::DevicePlan> plan;
    std::vector<engine::DeviceTensor> tensors;
    runtime::DeviceBuffer workspace;
    runtime::Bindings bindings;
    schedule::Problem problem;
  };
  void prepare(Run& run, const std::string& strategy, const schedule::Parameters& parameters,
               double amplitude) const {
    const step::Cell cell = library_cell("paragru");
    run.plan = load(cell, run.problem, strategy, parameters);
    ASSERT_NE(run.plan, nullptr);
    const step::Sizes& sizes = run.problem.sizes;
    auto workspace = runtime::DeviceBuffer::allocate(
        static_cast<std::size_t>(run.plan->workspace_bytes(sizes.batch, sizes.time)));
    ASSERT_TRUE(workspace.ok());
    run.workspace = std::move(workspace).value();
    run.bindings.set_workspace(run.workspace.address());
    bind_required(*run.plan, cell, run.problem, amplitude, run.bindings, run.tensors);
  }
  Status launch(const Run& run, runtime::StreamHandle stream) const {
    return run.plan->launch(stream, run.bindings, run.problem.sizes.batch, run.problem.sizes.time);
  }
  std::vector<std::byte> output(const Run& run) const {
    for (const engine::DeviceTensor& tensor : run.tensors)
      if (tensor.ref().role == schedule::Role::Output) {
        auto bytes = tensor.download_bytes();
        EXPECT_TRUE(bytes.ok());
        return bytes.ok() ? *bytes : std::vector<std::byte>{};
      }
    return {};
  }
  std::optional<executable::Convergence> convergence(const Run& run) const {
    auto found = run.plan->convergence(run.workspace.address(), run.problem.sizes.batch,
                                       run.problem.sizes.time, gpu_->stream);
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : std::nullopt;
  }

  // A thousand runs while another stream keeps the SMs busy.
  void run_beside_another(ShootTeam team) const {
    Run run{{}, {}, {}, {}, problem(Pass::Forward, {2, 2000, 1, 96}, Storage::BF16)};
    ASSERT_NO_FATAL_FAILURE(prepare(run, "shoot", shoot_point(run.problem, team, 1, 0, true, 2), 1));
    Run other{{}, {}, {}, {}, problem(Pass::Forward, {16, 512, 1, 1024}, Storage::BF16)};
    ASSERT_NO_FATAL_FAILURE(prepare(other, "shoot", shoot_point(other.problem, {8, 1, 0}), 1));
    const auto competing = runtime::Stream::create();
    ASSERT_TRUE(competing.ok());
    ASSERT_TRUE(launch(run, gpu_->stream).ok());
    const std::vector<std::byte> first = output(run);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(launch(other, *competing).ok());
      const Status launched = launch(run, gpu_->stream);
      ASSERT_TRUE(launched.ok()) << launched.error().message;
      ASSERT_EQ(output(run), first) << "run " << i;
    }
    ASSERT_TRUE(competing->synchronize().ok());
    EXPECT_TRUE(run.plan->check().ok());
  }
};

TEST_F(ShootOnGpu, AClusterRunsBesideAnotherKernel) {
  if (gpu_->info.cc_major < 9) GTEST_SKIP() << "no clusters before sm_90";
  run_beside_another({4, 4, 0});
}
TEST_F(ShootOnGpu, BlocksOfTheGridRunBesideAnotherKernel) { run_beside_another({4, 4, 1}); }

// Weak inputs leave the gates at a half, so a segment forgets its start; parameters a hundred times as large
// make the cell chaotic, and what does not converge is finished in order.
TEST_F(ShootOnGpu, SaysHowItConverged) {
  for (const ShootTeam team : {ShootTeam{8, 1, 0}, ShootTeam{8, 4, 1}, ShootTeam{8, 4, 2}}) {
    Run run{{}, {}, {}, {}, problem(Pass::Forward, {1, 4096, 1, 64}, Storage::F32)};
    ASSERT_NO_FATAL_FAILURE(prepare(run, "shoot", shoot_point(run.problem, team), 0.5));
    ASSERT_TRUE(launch(run, gpu_->stream).ok());
    auto weak = convergence(run);
    ASSERT_TRUE(weak.has_value());
    EXPECT_EQ(weak->segments, 2 * team.segments * team.time_split);
    EXPECT_EQ(weak->segments_in_order, 0);
    EXPECT_LE(weak->worst_jump, 1e-6);
    for (const engine::DeviceTensor& tensor : run.tensors)
      if (tensor.ref().role == schedule::Role::Param) {
        const auto strong = engine::random_values(Storage::F32, tensor.elements(), 50, 3);
        ASSERT_TRUE(tensor.upload(strong).ok());
      }
    ASSERT_TRUE(launch(run, gpu_->stream).ok());
    auto found = convergence(run);
    ASSERT_TRUE(found.has_value());
    EXPECT_GT(found->segments_in_order, 0);
    // What a chaotic cell makes of its own rounding is no error of a start, up to this
    // (docs/strategies/shoot.md).
    EXPECT_LE(found->worst_jump, 0x1p-12);
  }
}

// Parameters of every way by which segments exchange and inputs stay between sweeps. The ring that is to hold
// a segment has room for 64 steps, registers for 8: some of the tests' segments are longer.
std::vector<schedule::Parameters> ways(const schedule::Problem& problem, bool clusters) {
  std::vector<schedule::Parameters> all;
  const auto add = [&](ShootTeam team, int keep_inputs) {
    if (team.time_split > 1 && team.exchange == 0 && !clusters) return;
    schedule::Parameters& point = all.emplace_back(shoot_point(problem, team));
    point["keep_inputs"] = keep_inputs;
    if (keep_inputs == 1) point["stages"] = 8;
  };
  for (const ShootTeam team : {ShootTeam{8, 1, 0}, {4, 4, 0}, {4, 4, 1}, {4, 4, 2}, {8, 1, 2}}) add(team, 0);
  add({4, 4, 0}, 1), add({4, 4, 1}, 2);
  return all;
}

// Every cell that it computes, against the reference.
class ShootCell : public rondo::testing::GpuTest,
                  public ::testing::WithParamInterface<std::tuple<std::string, Storage, Pass>> {
 protected:
  void verify(std::int64_t dim, const std::vector<engine::VerifyCase>& cases) const {
    const auto& [name, storage, pass] = GetParam();
    const step::Cell cell = library_cell(name);
    schedule::Problem p = problem(pass, cases.back().sizes, storage);
    p.sizes.dim = dim;
    const auto verifier = rondo::testing::verifier_of(cell, p, cases, 29);
    ASSERT_TRUE(verifier.ok()) << verifier.error().message;
    for (const schedule::Parameters& point : ways(p, gpu_->info.cc() >= 90)) {
      const auto plan = load(cell, p, "shoot", point, true);
      ASSERT_NE(plan, nullptr);
      const auto result = (*verifier)->check(*gpu_->device, lent(*plan));
      ASSERT_TRUE(result.ok()) << name << " D=" << dim << ", " << schedule::print(point) << ": "
                               << result.error().message;
      for (const engine::TensorCheck& check : result->checks)
        EXPECT_TRUE(check.passed) << name << " D=" << dim << ", " << schedule::print(point) << ": "
                                  << check.text();
    }
  }
};

TEST_P(ShootCell, Tails) {
  const std::int64_t gap = 16 / kernel::storage_bytes(std::get<1>(GetParam()));
  for (const std::int64_t dim : {33, 130})
    verify(dim, {{{3, 1, 2, dim}, {}, true},
                 {{3, 65, 2, dim}, {engine::TensorLayout::Order::TimeMajor, gap}, true},
                 {{1, 777, 2, dim}, {}, false}});
}
// For the sanitizers, under which a launch takes seconds.
TEST_P(ShootCell, FewSteps) { verify(40, {{{2, 99, 1, 40}, {}, true}}); }

INSTANTIATE_TEST_SUITE_P(Cells, ShootCell,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::cells_of("shoot")),
                                            ::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::Forward, Pass::ForwardSave)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  kernel::storage_name(std::get<1>(test.param)) + "_" +
                                  schedule::pass_name(std::get<2>(test.param));
                         });

}  // namespace
}  // namespace rondo::tuner
