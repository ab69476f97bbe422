// How plans behave on a real stream: graph capture, reuse, errors, host time; and the tools around them.
#include <algorithm>
#include <cmath>

#include "compiler/schedule/strategies.h"
#include "engine/check/verify.h"
#include "engine/data/host_problem.h"
#include "engine/measure/copies.h"
#include "engine/measure/measure.h"
#include "runtime/cuda/driver_graph.h"
#include "tests/gpu/gpu.h"
#include "tuner/tune/tune.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using rondo::testing::library_cell;
using schedule::Pass;

class OnGpu : public rondo::testing::GpuTest {};

TEST_F(OnGpu, IsCapturedInAGraph) {
  const step::Cell cell = library_cell("paragru");
  const schedule::Problem p = problem(Pass::Backward, {4, 64, 2, 64}, Storage::BF16);
  const auto plan = load_chosen(cell, p);
  ASSERT_NE(plan, nullptr);
  const rondo::testing::LentPlan loaded = lent(*plan);
  auto data = engine::RunData::make({cell, p, {}}, 0, *gpu_->device, 3);
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_TRUE(data->reserve(loaded).ok());
  const engine::TimedWork work = data->work(loaded);
  const auto graph =
      runtime::Graph::capture(gpu_->stream, [&](runtime::StreamHandle) { return work.run(0); });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_GE(graph->node_count(), 2u) << "the sweep and the reduction";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(graph->launch(gpu_->stream).ok());
  ASSERT_TRUE(gpu_->device->wait().ok());
}

// Optional tensors left out: their memset belongs to the graph as well, and the graph gives the bits of a
// plain launch.
TEST_F(OnGpu, GraphsGiveTheSameBitsWithUnboundTensors) {
  const step::Cell cell = library_cell("mingru");
  const schedule::Problem p = problem(Pass::Forward, {2, 32, 1, 64}, Storage::F32);
  const auto plan = load_chosen(cell, p);
  ASSERT_NE(plan, nullptr);
  const auto workspace =
      runtime::DeviceBuffer::allocate(static_cast<std::size_t>(plan->workspace_bytes(2, 64)));
  ASSERT_TRUE(workspace.ok());
  runtime::Bindings bindings;
  bindings.set_workspace(workspace->address());
  std::vector<engine::DeviceTensor> tensors;
  ASSERT_NO_FATAL_FAILURE(bind_required(*plan, cell, p, 1, bindings, tensors));
  const auto output = std::find_if(tensors.begin(), tensors.end(), [](const engine::DeviceTensor& tensor) {
    return tensor.ref().role == schedule::Role::Output;
  });
  ASSERT_NE(output, tensors.end());
  // Poison in the workspace: zeros have to come from the plan.
  auto poisoned = [&] { return output->poison().ok() && workspace->fill(0xFF, gpu_->stream).ok(); };
  ASSERT_TRUE(poisoned());
  const Status direct = plan->launch(gpu_->stream, bindings, 2, 32);
  ASSERT_TRUE(direct.ok()) << direct.error().message;
  const auto expected = output->download_bytes();
  ASSERT_TRUE(expected.ok());
  const auto graph = runtime::Graph::capture(
      gpu_->stream, [&](runtime::StreamHandle stream) { return plan->launch(stream, bindings, 2, 32); });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->node_count(), 2u) << "one memset, one kernel";
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(poisoned());
    ASSERT_TRUE(graph->launch(gpu_->stream).ok());
    const auto bytes = output->download_bytes();
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(*bytes, *expected);
  }
  const auto values = output->download();
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(values->unwritten, 0);
  for (const double value : values->values) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(OnGpu, AnotherArchitecturesCodeIsRefused) {
  const step::Cell cell = library_cell("mingru");
  const schedule::Problem p = problem(Pass::Forward, {1, 4, 1, 64}, Storage::BF16);
  const target::Profile other = target::find_profile(gpu_->info.cc_major == 8 ? "sm_90" : "sm_80").value();
  const auto choice = engine::choose({cell, p, gpu_->profile});
  ASSERT_TRUE(choice.ok());
  const auto compiled = engine::compile_plan(
      std::make_shared<const schedule::Task>(cell, p, other),
      schedule::find_strategy("stream")->build({cell, p, gpu_->profile}, choice->parameters).value());
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  const auto loaded = runtime::DevicePlan::load(compiled->executable, gpu_->context);
  ASSERT_FALSE(loaded.ok());
  EXPECT_FALSE(loaded.error().message.empty());
}

// What is held does not begin, goes on when it is let go, and also when nobody lets it go.
TEST_F(OnGpu, AStreamIsHeldUntilItIsLetGo) {
  const auto passed = runtime::Event::create();
  ASSERT_TRUE(passed.ok()) << passed.error().message;
  for (const bool let_go : {true, false}) {
    auto held = gpu_->device->hold();
    ASSERT_TRUE(held.ok()) << held.error().message;
    ASSERT_TRUE(passed->record(gpu_->stream).ok());
    EXPECT_FALSE(passed->done().value()) << "it waits";
    if (let_go) held->reset();
    EXPECT_TRUE(passed->synchronize().ok());
  }
}

TEST_F(OnGpu, CopyBandwidthIsPlausible) {
  engine::Timer timer(*gpu_->device);
  const auto bandwidth = engine::copy_bandwidth(timer);
  ASSERT_TRUE(bandwidth.ok()) << bandwidth.error().message;
  EXPECT_GT(*bandwidth, 1e11);
  EXPECT_LT(*bandwidth, 2e13);
}

TEST_F(OnGpu, CalibrationGivesPlausibleFigures) {
  const auto profile = calibrate(gpu_->machine());
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  const target::Speeds& s = profile->speeds;
  EXPECT_EQ(profile->origin, "measured");
  EXPECT_GT(s.clock_hz, 5e8);
  EXPECT_LT(s.clock_hz, 4e9);
  EXPECT_GT(s.barrier_s, 2e-9);
  EXPECT_LT(s.barrier_s, 2e-7);
  EXPECT_GT(s.memory_latency_s, 2e-7);
  EXPECT_LT(s.memory_latency_s, 1e-5);
  EXPECT_GT(s.graph_launch_s, 2e-7);
  EXPECT_LT(s.graph_launch_s, 2e-5);
  EXPECT_GT(s.l2_bytes_per_s, 0.8 * s.copy_bytes_per_s);
  EXPECT_LT(s.l2_bytes_per_s, 1e14);
  EXPECT_GT(s.launch_s, 3e-7);
  EXPECT_LT(s.launch_s, 5e-5);
  EXPECT_GT(s.sm_bytes_per_s, 1e9);
  EXPECT_LT(s.sm_bytes_per_s * gpu_->info.sm_count, 1e14);
  EXPECT_GT(s.copy_bytes_per_s, s.sm_bytes_per_s);
  using Of = target::MeasuredFloor::Of;
  const target::Floors& floors = profile->floors;
  const auto in_grid = floors.exchange(Of::GridExchange, 16, 4096);
  ASSERT_TRUE(in_grid);
  EXPECT_GT(*in_grid, 1e-7);
  EXPECT_LT(*in_grid, 5e-6);
  EXPECT_LT(floors.exchange(Of::ClusterExchange, 8, 4096).value_or(0), *in_grid);  // none without clusters
  EXPECT_LT(floors.seconds(Of::LaneSum).value(), floors.seconds(Of::BlockExchange).value());
  EXPECT_LT(floors.seconds(Of::Function, "tanh fast").value(),
            floors.seconds(Of::Function, "tanh accurate").value());
  EXPECT_GT(floors.per_cycle_sm("mma.m16n8k16.bf16").value(), 200);
  EXPECT_LT(floors.seconds(Of::Product, "mma.m16n8k16.bf16").value(), 2e-7);
}

TEST_F(OnGpu, TunesAndVerifies) {
  const step::Cell cell = library_cell("mingru");
  const schedule::Problem p = problem(Pass::Forward, {8, 512, 1, 512}, Storage::BF16);
  TuneOptions options;
  options.budget_s = 20;
  const auto result = tune({cell, p, {}}, gpu_->machine(), options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_NE(result->best(), nullptr);
  EXPECT_TRUE(result->measured);
  EXPECT_EQ(result->note, "") << "its trials run in a process of their own";
  EXPECT_TRUE(result->best()->verified);
  EXPECT_GT(result->best()->timing.median_s, 0);
  // How long it took depends on what else runs here; tests/tuner/search holds the search to its budget, with
  // a clock of its own.
  const SearchEnd end = result->search.end;
  EXPECT_TRUE(end == SearchEnd::Exhausted || end == SearchEnd::Converged || end == SearchEnd::Budget)
      << end_name(end);
  EXPECT_TRUE(end != SearchEnd::Budget || result->search.seconds >= options.budget_s / 2)
      << "the budget was not used: " << result->search.seconds << " s";
  int failed = 0;
  for (const Row& row : result->search.rows) {
    EXPECT_NE(row.status, db::TrialStatus::Wrong)
        << schedule::print(row.candidate.parameters) << ": " << row.reason;
    EXPECT_NE(row.status, db::TrialStatus::CompileError)
        << schedule::print(row.candidate.parameters) << ": " << row.reason;
    failed += row.status == db::TrialStatus::LaunchError;
  }
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace rondo::tuner
