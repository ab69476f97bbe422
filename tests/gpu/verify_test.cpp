// Every diagonal cell, storage type, pass and awkward size on the GPU against the reference.
#include "engine/check/verify.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using engine::TensorLayout;
using kernel::Storage;
using rondo::testing::library_cell;
using schedule::Pass;

constexpr std::int64_t kHeads = 2;

// Batch and time sizes that leave tails everywhere, and layouts with gaps and swapped axes.
std::vector<engine::VerifyCase> awkward_cases(std::int64_t heads, std::int64_t dim, Storage storage) {
  const std::int64_t gap = 16 / kernel::storage_bytes(storage);
  std::vector<engine::VerifyCase> cases;
  cases.push_back({{3, 1, heads, dim}, {}, true});
  cases.push_back({{3, 7, heads, dim}, {engine::TensorLayout::Order::BatchMajor, gap}, true});
  cases.push_back({{3, 65, heads, dim}, {engine::TensorLayout::Order::TimeMajor, gap}, true});
  cases.push_back({{1, 200, heads, dim}, {}, false});
  return cases;
}

class EveryCell : public rondo::testing::GpuTest,
                  public ::testing::WithParamInterface<std::tuple<std::string, Storage, Pass>> {
 protected:
  schedule::Problem problem_of(std::int64_t heads, std::int64_t dim,
                               const std::vector<engine::VerifyCase>& cases) const {
    return problem(std::get<2>(GetParam()), {cases.back().sizes.batch, cases.back().sizes.time, heads, dim},
                   std::get<1>(GetParam()));
  }
  // By the model's choice.
  void verify(std::int64_t heads, std::int64_t dim, const std::vector<engine::VerifyCase>& cases,
              int alignment = engine::kFullAlignment, const step::Clip& clip = {}) {
    const step::Cell cell = step::clipped(library_cell(std::get<0>(GetParam())), clip).value();
    const schedule::Problem p = problem_of(heads, dim, cases);
    check(load_chosen(cell, p, alignment), cell, p, cases);
  }
  // Of this GPU. Stores that leave the L2 first are for what is larger than it: for them its L2 is said to be
  // small, as the tensors of these tests are.
  target::Profile profile_for(bool stream_stores) const {
    target::Profile profile = gpu_->profile;
    if (stream_stores) profile.limits.l2_bytes = 1;
    return profile;
  }
  // The model's best with as many blocks that split time, a cluster or any of the grid; nothing where the
  // pass cannot be split.
  std::optional<schedule::Parameters> team(const step::Cell& cell, const schedule::Problem& p,
                                           std::int64_t blocks, bool grid, bool stream_stores) {
    const auto candidates = engine::ranked_candidates({cell, p, gpu_->profile});
    if (!candidates.ok()) ADD_FAILURE() << candidates.error().message;
    if (!candidates.ok()) return std::nullopt;
    int tries = 0;
    for (const engine::Candidate& candidate : *candidates) {
      if (candidate.strategy != "stream" || candidate.parameters.at("time_split") != blocks ||
          candidate.parameters.at("exchange") != (grid ? 1 : 0))
        continue;
      schedule::Parameters parameters = candidate.parameters;
      parameters["stream_stores"] = stream_stores ? 1 : 0;
      if (stream_stores && parameters.at("producer_warps") == 0) parameters["interleaved_copies"] = 1;
      const auto space = schedule::find_strategy("stream")->space({cell, p, profile_for(stream_stores)});
      if (!space.check({parameters.begin(), parameters.end()}).ok()) continue;
      // As the tuner does: what spills is passed over.
      if (++tries < kTries &&
          spills(cell, p, {candidate.strategy, parameters, {}}, profile_for(stream_stores)))
        continue;
      return parameters;
    }
    return std::nullopt;
  }
  void verify_team(std::int64_t heads, std::int64_t dim, std::int64_t blocks, bool grid, bool stream_stores) {
    const step::Cell cell = library_cell(std::get<0>(GetParam()));
    const std::vector<engine::VerifyCase> cases = awkward_cases(heads, dim, std::get<1>(GetParam()));
    const schedule::Problem p = problem_of(heads, dim, cases);
    if (const auto parameters = team(cell, p, blocks, grid, stream_stores))
      check(load(cell, p, "stream", *parameters, profile_for(stream_stores), false), cell, p, cases);
  }
  // One launch over two rounds and a half.
  void launch_once(std::int64_t dim, std::int64_t blocks, bool grid) {
    const step::Cell cell = library_cell(std::get<0>(GetParam()));
    std::vector<engine::VerifyCase> cases{{{1, 100, 1, dim}, {}, true}};
    const schedule::Problem p = problem_of(1, dim, cases);
    const auto parameters = team(cell, p, blocks, grid, grid);
    if (!parameters) return;
    cases[0].sizes.time = blocks * parameters->at("steps") * 5 / 2;
    check(load(cell, p, "stream", *parameters, profile_for(grid), false), cell, p, cases, 0);
  }
  void check(const std::unique_ptr<runtime::DevicePlan>& plan, const step::Cell& cell,
             const schedule::Problem& p, const std::vector<engine::VerifyCase>& cases, int repeats = 3) {
    if (plan == nullptr) return;
    const std::string& name = cell.name;
    const std::int64_t dim = p.sizes.dim;
    const auto made = rondo::testing::verifier_of(cell, p, cases, 17);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const engine::Verifier* const verifier = *made;
    const auto result = verifier->check(*gpu_->device, lent(*plan));
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (const engine::TensorCheck& check : result->checks)
      EXPECT_TRUE(check.passed) << name << " D=" << dim << ": " << check.text();
    if (repeats == 0) return;
    const Status repeatable = verifier->check_repeatable(*gpu_->device, lent(*plan), repeats);
    EXPECT_TRUE(repeatable.ok()) << repeatable.error().message;
  }
};

TEST_P(EveryCell, OneChannel) { verify(1, 1, awkward_cases(1, 1, std::get<1>(GetParam()))); }
TEST_P(EveryCell, OddChannels) { verify(kHeads, 33, awkward_cases(kHeads, 33, std::get<1>(GetParam()))); }
TEST_P(EveryCell, EvenTail) { verify(kHeads, 130, awkward_cases(kHeads, 130, std::get<1>(GetParam()))); }
// Time split among the blocks of a cluster, and among those of the grid, through global memory: fewer steps
// than blocks, whole rounds and tails.
TEST_P(EveryCell, Teams) {
  for (const bool grid : {false, true}) {
    if (!grid && gpu_->info.cc() < 90) continue;  // clusters begin with sm_90
    verify_team(kHeads, 33, 2, grid, false);
    verify_team(kHeads, 130, 4, grid, true);
    verify_team(1, 64, 8, grid, true);
  }
}
// For the sanitizers, under which a launch takes seconds: blocks alone, a cluster, and blocks of the grid;
// single channels and vectors of them.
TEST_P(EveryCell, OneLaunchOfEachForm) {
  launch_once(33, 1, false);
  launch_once(40, 1, false);
  if (gpu_->info.cc() >= 90) launch_once(40, 2, false);
  launch_once(40, 4, true);
}
TEST_P(EveryCell, MidSize) {
  const engine::VerifyCase mid{{4, 300, 2, 256}, {}, true};
  verify(2, 256, {mid});
}
TEST_P(EveryCell, ClippedRecurrence) {
  verify(1, 96, {{{4, 67, 1, 96}, {}, true}}, engine::kFullAlignment, {0.25, 0.25});
}
TEST_P(EveryCell, MisalignedTensors) {
  const auto& [name, storage, pass] = GetParam();
  // Gaps of one element: nothing is aligned beyond the element.
  const engine::VerifyCase odd{{3, 41, 1, 64}, {engine::TensorLayout::Order::BatchMajor, 1}, true};
  verify(1, 64, {odd}, kernel::storage_bytes(storage));
}

INSTANTIATE_TEST_SUITE_P(Cells, EveryCell,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::diagonal_cells()),
                                            ::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::Forward, Pass::ForwardSave,
                                                              Pass::Backward)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  kernel::storage_name(std::get<1>(test.param)) + "_" +
                                  schedule::pass_name(std::get<2>(test.param));
                         });

// Not only the model's choice: a sample of the whole space is right.
class Space : public rondo::testing::GpuTest, public ::testing::WithParamInterface<Pass> {};
INSTANTIATE_TEST_SUITE_P(Passes, Space, ::testing::Values(Pass::Forward, Pass::Backward),
                         [](const auto& test) { return std::string(schedule::pass_name(test.param)); });

TEST_P(Space, ASampleOfAllConfigurationsIsRight) {
  const step::Cell cell = library_cell("paralstm");
  const schedule::Problem p = problem(GetParam(), {3, 171, 2, 96}, Storage::BF16);
  const auto candidates = engine::ranked_candidates({cell, p, gpu_->profile});
  ASSERT_TRUE(candidates.ok()) << candidates.error().message;
  const engine::VerifyCase shape{{3, 171, 2, 96}, {engine::TensorLayout::Order::BatchMajor, 8}, true};
  const auto verifier = engine::Verifier::make({cell, p, {}}, {shape}, 5);
  ASSERT_TRUE(verifier.ok()) << verifier.error().message;
  constexpr std::size_t kSample = 40;
  for (std::size_t i = 0; i < kSample; ++i) {
    const engine::Candidate& candidate = (*candidates)[i * (candidates->size() - 1) / (kSample - 1)];
    auto compiled = compile(cell, p,
                            schedule::find_strategy(candidate.strategy)
                                ->build({cell, p, gpu_->profile}, candidate.parameters)
                                .value());
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    const auto plan = runtime::DevicePlan::load(compiled->executable, gpu_->context);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto result = verifier->check(*gpu_->device, lent(*plan));
    ASSERT_TRUE(result.ok()) << schedule::print(candidate.parameters) << ": " << result.error().message;
    EXPECT_TRUE(result->passed) << schedule::print(candidate.parameters) << ": " << result->summary();
  }
}

}  // namespace
}  // namespace rondo::tuner
