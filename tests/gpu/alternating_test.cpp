// Heads that no chip holds; and launches for each step as a plain sequence, as a graph of the plan's own, and
// as part of a graph of the caller's.
#include <algorithm>
#include <tuple>

#include "compiler/frontend/frontend.h"
#include "engine/check/verify.h"
#include "engine/emit/emit_stages.h"
#include "runtime/cuda/driver_graph.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using rondo::testing::library_cell;
using schedule::Pass;

class LargeHead : public rondo::testing::GpuTest,
                  public ::testing::WithParamInterface<std::tuple<Storage, Pass>> {};

TEST_P(LargeHead, LstmOf2048AgreesWithTheReference) {
  const auto [storage, pass] = GetParam();
  const step::Cell cell = library_cell("lstm");
  const step::Sizes sizes{9, 4, 1, 2048};
  const schedule::Problem p = problem(pass, sizes, storage);
  const auto choice = engine::choose_with({cell, p, gpu_->profile}, {"alternating", {}});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  const auto plan = load(cell, p, choice->strategy, choice->parameters);
  ASSERT_NE(plan, nullptr);
  expect_right(*plan, cell, p, {{sizes, {}, true}}, 29, 10);
}

INSTANTIATE_TEST_SUITE_P(Types, LargeHead,
                         ::testing::Combine(::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward)),
                         [](const auto& test) {
                           return std::string(kernel::storage_name(std::get<0>(test.param))) + "_" +
                                  schedule::pass_name(std::get<1>(test.param));
                         });

class MaxPlus : public rondo::testing::GpuTest,
                public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::string>> {};

TEST_P(MaxPlus, ViterbiAgreesWithTheReference) {
  const auto& [storage, pass, strategy] = GetParam();
  const step::Cell cell = library_cell("viterbi");
  for (const step::Sizes& sizes : {step::Sizes{5, 19, 2, 33}, step::Sizes{17, 7, 1, 256}}) {
    const schedule::Problem p = problem(pass, sizes, storage);
    const auto choice = engine::choose_with({cell, p, gpu_->profile}, {strategy, {}});
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    const auto plan = load(cell, p, choice->strategy, choice->parameters);
    ASSERT_NE(plan, nullptr);
    engine::VerifyCase shape{sizes, {}, true};
    shape.stored_states = pass == Pass::Backward;  // rounded in the kernel alone they choose other channels
    expect_right(*plan, cell, p, {shape}, 31, 10);
  }
}

using MaxPlusCase = std::tuple<Storage, Pass, std::string>;
const auto kMaxPlus = ::testing::Values(MaxPlusCase{Storage::F32, Pass::Backward, "alternating"},
                                        MaxPlusCase{Storage::BF16, Pass::Backward, "alternating"},
                                        MaxPlusCase{Storage::F32, Pass::ForwardSave, "alternating"},
                                        MaxPlusCase{Storage::BF16, Pass::ForwardSave, "alternating"},
                                        MaxPlusCase{Storage::F16, Pass::ForwardSave, "alternating"},
                                        MaxPlusCase{Storage::F32, Pass::Backward, "persistent"},
                                        MaxPlusCase{Storage::BF16, Pass::Backward, "persistent"},
                                        MaxPlusCase{Storage::F32, Pass::ForwardSave, "persistent"},
                                        MaxPlusCase{Storage::BF16, Pass::ForwardSave, "persistent"},
                                        MaxPlusCase{Storage::F16, Pass::Forward, "persistent"});
INSTANTIATE_TEST_SUITE_P(Types, MaxPlus, kMaxPlus, [](const auto& test) {
  return std::string(kernel::storage_name(std::get<0>(test.param))) + "_" +
         schedule::pass_name(std::get<1>(test.param)) + "_" + std::get<2>(test.param);
});

// A state of 16 rows that meet one matrix and, in a sum, each other, as those of a delta rule do: more values
// a step than registers hold.
class RowsOfAState : public rondo::testing::GpuTest,
                     public ::testing::WithParamInterface<std::tuple<Storage, Pass>> {};

TEST_P(RowsOfAState, AgreeWithTheReference) {
  const auto [storage, pass] = GetParam();
  const step::Cell cell = frontend::parse(R"(cell rows_of_state(D) {
  input q[16], k[16], v[D], f
  param W[D, D]
  state S[16, D]
  next S = f * S + (1 - f) * tanh(W @ S + k * (v - sum(k * S, rows)))
  output y = sum(q * next S, rows)
})",
                                          "rows_of_state.cell")
                              .cells.at(0);
  const step::Sizes sizes{9, 7, 2, 72};
  const schedule::Problem p = problem(pass, sizes, storage);
  const auto choice = engine::choose_with({cell, p, gpu_->profile}, {"alternating", {}});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  ASSERT_EQ(choice->parameters.at("reads_at_use"), 1);
  const auto plan = load(cell, p, choice->strategy, choice->parameters);
  ASSERT_NE(plan, nullptr);
  expect_right(*plan, cell, p, {{sizes, {}, true}}, 37, 5);
}

INSTANTIATE_TEST_SUITE_P(Types, RowsOfAState,
                         ::testing::Combine(::testing::Values(Storage::BF16, Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward)),
                         [](const auto& test) {
                           return std::string(kernel::storage_name(std::get<0>(test.param))) + "_" +
                                  schedule::pass_name(std::get<1>(test.param));
                         });

class StepLaunches : public rondo::testing::GpuTest {};

TEST_F(StepLaunches, AllWaysToLaunchGiveTheSameBits) {
  const step::Cell cell = library_cell("mgu");
  const schedule::Problem p = problem(Pass::Forward, {5, 23, 2, 72}, Storage::F32);
  const auto candidates =
      engine::ranked_candidates({cell, p, gpu_->profile}, engine::kFullAlignment, "alternating");
  ASSERT_TRUE(candidates.ok()) << candidates.error().message;
  const auto plan = load(cell, p, "alternating", candidates->front().parameters);
  ASSERT_NE(plan, nullptr);
  const auto workspace =
      runtime::DeviceBuffer::allocate(static_cast<std::size_t>(plan->workspace_bytes(5, 23)));
  ASSERT_TRUE(workspace.ok());
  runtime::Bindings bindings;
  bindings.set_workspace(workspace->address());
  std::vector<engine::DeviceTensor> tensors;
  ASSERT_NO_FATAL_FAILURE(bind_required(*plan, cell, p, 0.1, bindings, tensors));
  const auto output = std::find_if(tensors.begin(), tensors.end(), [](const engine::DeviceTensor& tensor) {
    return tensor.ref().role == schedule::Role::Output;
  });
  ASSERT_NE(output, tensors.end());
  std::vector<std::byte> expected;
  const auto agrees = [&](const Status& launched, const char* way) {
    ASSERT_TRUE(launched.ok()) << way << ": " << launched.error().message;
    ASSERT_TRUE(runtime::synchronize(nullptr).ok());  // ours does not wait for the default stream
    const auto bytes = output->download_bytes();
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    if (expected.empty()) expected = *bytes;
    EXPECT_EQ(*bytes, expected) << way;
    ASSERT_TRUE(output->poison().ok());
    ASSERT_TRUE(workspace->fill(0xFF, gpu_->stream).ok());
    ASSERT_TRUE(gpu_->device->wait().ok());
  };
  const auto graph = runtime::Graph::capture(
      gpu_->stream, [&](runtime::StreamHandle stream) { return plan->launch(stream, bindings, 5, 23); });
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_GE(graph->node_count(), 46u) << "two levels of products a step";
  agrees(plan->launch(gpu_->stream, bindings, 5, 23), "launch by launch");
  for (int again = 0; again < 3; ++again)
    agrees(plan->launch(gpu_->stream, bindings, 5, 23), "the plan's graph");
  agrees(graph->launch(gpu_->stream), "the caller's graph");
  const auto prepared = load(cell, p, "alternating", candidates->front().parameters);
  ASSERT_NE(prepared, nullptr);
  ASSERT_TRUE(prepared->prepare(bindings, 5, 23, 12).ok());
  agrees(prepared->launch(gpu_->stream, bindings, 5, 23),
         "a graph that was prepared, the first launch of all");
  agrees(plan->launch(nullptr, bindings, 5, 23), "the default stream");
}

}  // namespace
}  // namespace rondo::tuner
