// The check at the full shape on a GPU: right kernels of every strategy pass it, wrong ones do not.
#include <fmt/format.h>

#include <algorithm>

#include "engine/check/device_shape.h"
#include "engine/trust/trusted_plan.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using rondo::testing::library_cell;
using schedule::Pass;
using schedule::Problem;

constexpr step::Sizes kSizes{9, 700, 1, 128};

class AtShapeOnGpu : public rondo::testing::GpuTest {
 protected:
  // The model's best of a strategy that does not spill.
  engine::Candidate best_of(const step::Cell& cell, const Problem& p, const std::string& strategy) const {
    const auto ranked = engine::ranked_candidates({cell, p, gpu_->profile}, engine::kFullAlignment, strategy);
    for (std::size_t i = 0; i < std::min<std::size_t>(kTries, ranked->size()); ++i)
      if (!spills(cell, p, (*ranked)[i], gpu_->profile)) return (*ranked)[i];
    return ranked->front();
  }
  // Compares a kernel of `made_of`, which has the tensors of `cell`, as if it were the cell's own.
  Result<engine::Verification> checked(const step::Cell& cell, const Problem& p,
                                       const engine::Candidate& candidate, const step::Cell& made_of) const {
    const auto kernel = load(made_of, p, candidate.strategy, candidate.parameters, true);
    if (kernel == nullptr) return Error{ErrorKind::Internal, "no kernel", ""};
    auto plain = engine::plain_plans({cell, p, gpu_->profile}, candidate.strategy, candidate.parameters);
    if (!plain) return plain.error();
    const auto code = engine::compile_plain(std::move(plain).value(), gpu_->code ? &*gpu_->code : nullptr);
    if (!code) return code.error();
    return engine::verify_at_shape({cell, p, {}}, *gpu_->device, lent(*kernel), *code, 11);
  }
  void expect_right(const std::string& name, Pass pass, Storage storage, const step::Sizes& sizes) const {
    const step::Cell cell = library_cell(name);
    const Problem p = problem(pass, sizes, storage);
    for (const schedule::Strategy* strategy : schedule::strategies()) {
      if (!strategy->legal({cell, p, {}}).legal) continue;
      const engine::Candidate candidate = best_of(cell, p, strategy->name());
      const std::string what = name + " " + strategy->name() + " " + schedule::pass_name(pass) + " " +
                               kernel::storage_name(storage) + " " + schedule::print(candidate.parameters);
      const auto found = checked(cell, p, candidate, cell);
      ASSERT_TRUE(found.ok()) << what << ": " << found.error().message;
      EXPECT_TRUE(found->passed) << what << ": " << found->summary();
      for (const engine::TensorCheck& check : found->checks)
        EXPECT_FALSE(check.ill_conditioned) << check.text();
      ASSERT_EQ(found->covered.size(), 1u) << what;
      EXPECT_EQ(found->covered[0].rfind(fmt::format("B={},T={}: every element", sizes.batch, sizes.time), 0),
                0u)
          << found->covered[0];
      EXPECT_EQ(found->covered[0].find("cut from"), std::string::npos) << found->covered[0];
    }
  }
};

class AtShapeOfCell : public AtShapeOnGpu, public ::testing::WithParamInterface<const char*> {};

TEST_P(AtShapeOfCell, RightKernelsPass) {
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
    for (const Storage storage : {Storage::BF16, Storage::F32})
      expect_right(GetParam(), pass, storage, kSizes);
}
INSTANTIATE_TEST_SUITE_P(Cells, AtShapeOfCell, ::testing::Values("mingru", "hgrn", "mgu", "lstm", "slstm"),
                         [](const auto& name) { return std::string(name.param); });

// Results of which a part is worked out: the copies that pick rows, and parameters of many elements.
TEST_F(AtShapeOnGpu, LargeShapesPass) {
  expect_right("mingru", Pass::Backward, Storage::BF16, {8, 4096, 1, 1536});
  expect_right("lstm", Pass::Backward, Storage::BF16, {16, 512, 1, 1024});
}

TEST_F(AtShapeOnGpu, HeadsAndSavedProductsPass) {
  expect_right("lstm", Pass::Backward, Storage::F16, {5, 120, 4, 64});
  const step::Cell cell = library_cell("lstm");
  Problem p = problem(Pass::Backward, kSizes, Storage::BF16);
  p.save_products = true;
  const auto found = checked(cell, p, best_of(cell, p, "persistent"), cell);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->passed) << found->summary();
}

// 1% in the weight of the old state: after some steps no result is what it should be.
TEST_F(AtShapeOnGpu, AKernelOfAnotherCellIsWrong) {
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    const step::Cell cell = library_cell("mingru");
    step::Cell other = cell;
    int changed = 0;
    for (step::Node& node : other.graph.nodes)
      if (node.kind == step::NodeKind::Constant && node.value == 1) node.value = 0.99, ++changed;
    ASSERT_GT(changed, 0);
    const Problem p = problem(pass, kSizes, Storage::BF16);
    const auto found = checked(cell, p, best_of(cell, p, "stream"), other);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_FALSE(found->passed) << schedule::pass_name(pass);
  }
}

// A launch that leaves out all batch tiles but the first: what it does not write stays poisoned.
TEST_F(AtShapeOnGpu, AMissingBatchTileIsFound) {
  const step::Cell cell = library_cell("mgu");
  const Problem p = problem(Pass::Forward, kSizes, Storage::BF16);
  const engine::Candidate candidate = best_of(cell, p, "persistent");
  schedule::KernelPlan plan =
      schedule::find_strategy("persistent")->build({cell, p, gpu_->profile}, candidate.parameters).value();
  for (schedule::Launch& launch : plan.launches)
    launch.batch_tile = std::max<std::int64_t>(launch.batch_tile, 9);
  const auto compiled =
      engine::compile_plan(std::make_shared<const schedule::Task>(cell, p, gpu_->profile), std::move(plan));
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  const auto kernel = runtime::DevicePlan::load(compiled->executable, gpu_->context);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto code = engine::compile_plain(
      engine::plain_plans({cell, p, gpu_->profile}, candidate.strategy, candidate.parameters).value(),
      nullptr);
  ASSERT_TRUE(code.ok()) << code.error().message;
  const auto found = engine::verify_at_shape({cell, p, {}}, *gpu_->device, lent(*kernel), *code, 11);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_FALSE(found->passed) << found->summary();
}

// A million launches, eleven times: too long, so steps are cut, and the line says so.
TEST_F(AtShapeOnGpu, WhatTakesTooLongIsCut) {
  const step::Cell cell = library_cell("mingru");
  const Problem p = problem(Pass::Forward, {1, 1'000'000, 1, 16}, Storage::BF16);
  const auto found = checked(cell, p, best_of(cell, p, "stream"), cell);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->passed) << found->summary();
  EXPECT_NE(found->covered.at(0).find("(cut from B=1,T=1000000)"), std::string::npos) << found->covered[0];
}

// What `verify` asks for: the cases beside the reference, and this unless it is left out.
TEST_F(AtShapeOnGpu, AVerifiedPlanIsComparedThereToo) {
  const step::Cell cell = library_cell("mingru");
  const Problem p = problem(Pass::Forward, kSizes, Storage::BF16);
  const engine::Machine machine = engine::find_machine("auto", nullptr).value();
  for (const bool at_shape : {true, false}) {
    engine::TrustOptions options;
    options.at_shape = at_shape;
    const auto found = engine::verified_plan({cell, p, machine.profile}, machine, {}, 3, options);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found->verification.passed) << found->verification.summary();
    const std::vector<std::string>& covered = found->verification.covered;
    EXPECT_EQ(std::any_of(covered.begin(), covered.end(),
                          [](const std::string& line) {
                            return line.find("beside a plain kernel") != std::string::npos;
                          }),
              at_shape);
  }
}

}  // namespace
}  // namespace rondo::tuner
