// Random cells, compiled for the CPUs of the machine that the tests run on, against the fp64 reference: all
// types, strided tensors, clipped recurrences, forward and backward, in memory that is guarded on either
// side.
#ifdef RONDO_BUILT_LLVM
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/schedule/analysis/step_stages.h"
#include "compiler/schedule/host/affine_sweep.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/clip.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/target/target.h"
#include "engine/check/verify.h"
#include "engine/plan/compile.h"
#include "tests/engine/plan/cells.h"
#include "tests/runtime/device/guarded_device.h"
#include "tests/step/random_cell.h"
#include "tests/support/slow_tests.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using rondo::testing::Guard;
using rondo::testing::GuardedDevice;
using schedule::Pass;
using Layout = TensorLayout;

constexpr Storage kNativeStorages[] = {Storage::F32, Storage::BF16, Storage::F16};
constexpr int kCellsInCi = 20;

// Of RONDO_RANDOM_CELLS, or as many as CI has time to compile.
int native_cell_count() {
  const char* wanted = std::getenv("RONDO_RANDOM_CELLS");
  return wanted == nullptr ? kCellsInCi : std::atoi(wanted);
}

// What a seed decides: a cell, half of them with reductions and per-head values, and everything else.
struct NativeCase {
  step::Cell cell;
  schedule::Problem problem;
  schedule::Parameters parameters;
  VerifyCase shape;
};

NativeCase case_of(std::uint64_t seed) {
  NativeCase made;
  step::testing::Random random(seed);
  made.cell = step::testing::random_cell(random, {seed % 2 == 0, seed / 2 % 2 == 1, seed % 3 == 1});
  if (seed % 4 == 3) made.cell = step::clipped(made.cell, {0.5, 0.5}).value();
  const auto turn = static_cast<std::int64_t>(seed);
  made.problem.storage = seed % 5 == 4 ? Storage::F64 : kNativeStorages[seed % 3];
  made.problem.math = seed % 5 == 0 ? kernel::Math::Accurate : schedule::default_math(made.problem.storage);
  made.problem.sizes = {1 + turn % 4, 1 + turn % 7, 1 + turn % 2, seed % 3 == 0 ? 37 : 16 + turn % 9};
  const bool dense = step::analyze(made.cell).has_matrix;
  made.parameters = {{"lanes", 16},
                     {"vectors", 1 + turn / 2 % 2},
                     {"rows", dense ? 2 : 1},
                     {"together", dense ? 1 + turn % 2 : 1},
                     {"tile", dense ? 1 + turn / 3 % 2 : 1}};
  made.shape.sizes = made.problem.sizes;
  made.shape.layout.order = seed % 2 == 0 ? Layout::Order::BatchMajor : Layout::Order::TimeMajor;
  made.shape.layout.gap = turn % 5;
  made.shape.initial_states = seed % 6 != 1;
  return made;
}

Result<executable::Executable> native_code(const NativeCase& given, const step::Cell& made_of) {
  const target::Profile profile = target::host_profile();
  auto plan =
      schedule::find_strategy("host")->build_legal({made_of, given.problem, profile}, given.parameters);
  if (!plan) return plan.error();
  auto compiled =
      compile_plan(std::make_shared<const schedule::Task>(made_of, given.problem, profile), std::move(*plan));
  if (!compiled) return compiled.error();
  return std::move(compiled->executable);
}

Result<std::unique_ptr<runtime::LoadedPlan>> native_plan(const NativeCase& given,
                                                         const runtime::Device& device,
                                                         const step::Cell& made_of) {
  const auto code = native_code(given, made_of);
  if (!code) return code.error();
  return device.load(*code);
}

// Counts of what became of the cells.
struct Tally {
  int compared = 0, no_strategy = 0, unstable = 0, cut = 0;
};

// Whether time can be cut into segments.
bool is_affine(const NativeCase& given) {
  const step::Cell cell = step::simplify(given.cell);
  if (step::analyze(cell).has_matrix || schedule::adds_over_head(cell)) return false;
  const schedule::Sweep sweep =
      given.problem.pass == Pass::Backward
          ? schedule::backward_sweep({cell, given.problem, {}},
                                     schedule::backward_split({cell, given.problem, {}}))
          : schedule::forward_sweep({cell, given.problem, {}});
  return schedule::affine_sweep({cell, given.problem, {}}, sweep).has_value();
}

void check_pass(NativeCase given, Pass pass, std::uint64_t seed, Tally& tally) {
  given.problem.pass = pass;
  if (is_affine(given))
    given.parameters["segments"] = 1 + static_cast<std::int64_t>(seed / 2 % 3), ++tally.cut;
  const schedule::Legality legal =
      schedule::find_strategy("host")->legal({given.cell, given.problem, target::host_profile()});
  if (!legal.legal) {
    ++tally.no_strategy;
    return;
  }
  const auto verifier = Verifier::make({given.cell, given.problem, {}}, {given.shape}, seed);
  if (!verifier) {  // the cell leaves the numbers on these data: nothing can be compared
    ++tally.unstable;
    return;
  }
  const auto code = native_code(given, given.cell);
  ASSERT_TRUE(code.ok()) << code.error().message;
  for (const Guard guard : {Guard::Behind, Guard::Before}) {
    const GuardedDevice device(guard);
    const auto plan = device.load(*code);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto found = verifier->check(device, **plan);
    ASSERT_TRUE(found.ok()) << found.error().message;
    for (const TensorCheck& check : found->checks)
      EXPECT_TRUE(check.passed) << schedule::pass_name(pass) << " " << schedule::print(given.parameters)
                                << " " << kernel::storage_name(given.problem.storage) << ": " << check.text();
  }
  ++tally.compared;
}

TEST(NativeRandomCells, AgreeWithTheReference) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  Tally tally;
  const int count = native_cell_count();
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    const NativeCase given = case_of(seed);
    SCOPED_TRACE("case_of(" + std::to_string(seed) + ")\n" + step::print(given.cell));
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) check_pass(given, pass, seed, tally);
    if (HasFailure()) return;
  }
  RecordProperty("compared", tally.compared);
  std::printf("%d passes compared, %d not computed by the strategy, %d not finite\n", tally.compared,
              tally.no_strategy, tally.unstable);
  EXPECT_GE(tally.cut, count / 10) << "few are cut into segments of time";
  EXPECT_GT(tally.compared, count) << "cells of which nothing is compared show nothing";
}

// The comparison can fail: a kernel of another cell, whose numbers are 1% off.
TEST(NativeRandomCells, AKernelOfAnotherCellIsWrong) {
  NativeCase given = case_of(2);
  given.cell = rondo::testing::library_cell("mingru");
  given.parameters = {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}};
  step::Cell other = given.cell;
  int changed = 0;
  for (step::Node& node : other.graph.nodes)
    if (node.kind == step::NodeKind::Constant && node.value == 1) node.value = 0.9, ++changed;
  ASSERT_GT(changed, 0);
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    given.problem.pass = pass;
    const GuardedDevice device(Guard::Behind);
    const auto verifier = Verifier::make({given.cell, given.problem, {}}, {given.shape}, 3);
    ASSERT_TRUE(verifier.ok()) << verifier.error().message;
    const auto right = native_plan(given, device, given.cell), wrong = native_plan(given, device, other);
    ASSERT_TRUE(right.ok() && wrong.ok());
    EXPECT_TRUE(verifier->check(device, **right)->passed);
    EXPECT_FALSE(verifier->check(device, **wrong)->passed) << schedule::pass_name(pass);
  }
}

// A kernel that is told of one row more than its tensors have leaves them, which the page behind them shows.
TEST(NativeRandomCellsDeathTest, AKernelThatLeavesItsTensorsEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  NativeCase given = case_of(2);
  given.cell = rondo::testing::library_cell("mingru");
  given.parameters = {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}};
  const GuardedDevice device(Guard::Behind);
  const auto plan = native_plan(given, device, given.cell);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  runtime::Bindings bindings;
  std::vector<DeviceTensor> tensors;
  for (const executable::Tensor& tensor : (*plan)->tensors()) {
    if (schedule::is_internal(tensor.ref.role)) continue;
    auto made =
        DeviceTensor::allocate(device, tensor.ref, {given.cell, given.problem, {}}, given.problem.sizes);
    ASSERT_TRUE(made.ok());
    executable::Binding binding = made->binding();
    binding.bytes.reset();  // or the launch would be refused
    bindings.set(binding);
    tensors.push_back(std::move(*made));
  }
  const step::Sizes& sizes = given.problem.sizes;
  const auto workspace =
      device.allocate(static_cast<std::size_t>((*plan)->workspace_bytes(sizes.batch + 1, sizes.time)));
  bindings.set_workspace(workspace->address());
  EXPECT_TRUE((*plan)->launch(bindings, sizes.batch, sizes.time).ok());
  EXPECT_DEATH((void)(*plan)->launch(bindings, sizes.batch + 1, sizes.time), "");
}

}  // namespace
}  // namespace rondo::engine
#endif
