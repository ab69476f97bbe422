// A training step in parts of time beside the same step in one piece.
#include "engine/plan/parts_of_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/step/forms.h"
#include "compiler/support/integers.h"
#include "engine/check/verify_parts.h"
#include "engine/data/host_problem.h"
#include "engine/service/run_training.h"
#include "engine/service/service.h"
#include "tests/engine/plan/cells.h"
#include "tests/runtime/device/guarded_device.h"
#include "tests/support/turns.h"

namespace rondo::engine {
namespace {

std::vector<TimePart> all_of(const TimeParts& parts) {
  std::vector<TimePart> all;
  for (std::int64_t number = 0; number < parts.count(); ++number) all.push_back(parts.part(number));
  return all;
}

TEST(PartsOfTime, FollowTheWalk) {
  using Parts = std::vector<TimePart>;
  EXPECT_EQ(all_of({11, 4, false}), (Parts{{0, 4}, {4, 4}, {8, 3}}));
  EXPECT_EQ(all_of({11, 4, true}), (Parts{{7, 4}, {3, 4}, {0, 3}}));
  EXPECT_EQ(all_of({8, 4, false}), (Parts{{0, 4}, {4, 4}}));
  EXPECT_EQ(all_of({3, 4, true}), (Parts{{0, 3}}));
  EXPECT_EQ(all_of({0, 4, false}), (Parts{{0, 0}}));
}

TEST(PartsOfTime, AreRefusedWhereAPartWouldComputeSomethingElse) {
  const Status draws = check_parts_of_time(rondo::testing::library_cell("zoneout"));
  ASSERT_FALSE(draws);
  EXPECT_EQ(draws.error().message,
            "no parts of time: cell zoneout draws random numbers, which parts would repeat");
  step::Forms forms;
  forms.directions = true;
  EXPECT_FALSE(
      check_parts_of_time(step::with_forms(rondo::testing::library_cell("lstm"), forms).value()).ok());
  EXPECT_TRUE(check_parts_of_time(rondo::testing::library_cell("lstm")).ok());
}

#ifdef RONDO_BUILT_LLVM

constexpr std::int64_t kEvery = 4;

class InParts : public ::testing::Test {
 protected:
  // B=3, T=11: two parts and a shorter one.
  static schedule::Problem problem_of(kernel::Storage storage) {
    schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Backward, 16, storage);
    problem.sizes.batch = 3;
    problem.sizes.time = 11;
    return problem;
  }

  Result<TrainingAnswer> plans_of(const step::Cell& cell, const schedule::Problem& problem,
                                  std::int64_t every, bool outline = false) const {
    Request request;
    request.cell = &cell;
    request.problem = problem;
    request.outline = outline;
    return answer_training_in_parts(request, machine_, every);
  }

  schedule::Task task_of(const step::Cell& cell, const schedule::Problem& problem) const {
    return {cell, problem, machine_.profile};
  }

  // Of an LSTM with lengths in three parts: the states between them, two sets of gradients of states, and
  // what one part saves, which is h and c of its steps. Past the end of a row outputs are zero and hold no
  // state. Each of several begins at a multiple of 256 bytes.
  static void check_memory(const PartsMemory& memory, const schedule::Problem& problem,
                           const TrainingPlans& plans) {
    const std::int64_t rows = problem.sizes.batch * problem.sizes.heads * problem.sizes.dim;
    EXPECT_EQ(memory.parts, 3);
    const std::int64_t state = rows * 4, two = round_up(state, std::int64_t{256}) + state;
    EXPECT_EQ(memory.saved_bytes,
              2 * two + 2 * two + 2 * kEvery * rows * kernel::storage_bytes(problem.storage));
    std::int64_t workspace = 0;
    for (const runtime::LoadedPlan* plan : {plans.forward, plans.saving, plans.backward})
      workspace = std::max(workspace, plan->workspace_bytes(problem.sizes.batch, kEvery));
    EXPECT_EQ(memory.workspace_bytes, workspace);
  }

  Machine machine_ = find_machine("cpu", nullptr).value();
};

// Rows of forms that cells take in turn.
const std::vector<step::Forms>& all_forms() {
  static const std::vector<step::Forms> forms = [] {
    step::Forms plain, rows, back, given;
    rows.resets = rows.lengths = true;
    back.reversed = back.resets = back.lengths = true;
    given.resets = given.reset_states = given.lengths = true;
    return std::vector{plain, rows, back, given};
  }();
  return forms;
}

// Within the limits of `rondo verify`, by kernels of this machine.
TEST_F(InParts, EveryCellTrainsAsInOnePiece) {
  int number = 0;
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell plain = rondo::testing::library_cell(embedded.name);
    if (plain.seed() || !rondo::testing::has_turn(number++, 8)) continue;
    const std::size_t form = static_cast<std::size_t>(number + number / 8) % all_forms().size();
    SCOPED_TRACE(embedded.name + " of form " + std::to_string(form));
    const step::Cell cell = step::with_forms(plain, all_forms()[form]).value();
    const schedule::Problem problem =
        problem_of(number % 3 == 0 ? kernel::Storage::BF16 : kernel::Storage::F32);
    const Result<TrainingAnswer> plans = plans_of(cell, problem, kEvery);
    ASSERT_TRUE(plans.ok()) << plans.error().message;
    ASSERT_TRUE(plans->has_kernels());
    const Result<Verification> found =
        verify_parts(task_of(cell, problem), plans->plans(), kEvery, *machine_.device, 5);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found->passed) << found->summary();
  }
}

// Kernels of dense cells walk in order, and states between parts are fp32, as they are within a kernel. In
// bf16 the backward pass reads rounded states within a part, but not those that it begins with.
TEST_F(InParts, ValuesAreTheSameBitsWhereKernelsWalkInOrder) {
  for (const bool reversed : {false, true}) {
    step::Forms forms;
    forms.resets = forms.lengths = true;
    forms.reversed = reversed;
    const step::Cell cell = step::with_forms(rondo::testing::library_cell("lstm"), forms).value();
    const schedule::Problem problem = problem_of(reversed ? kernel::Storage::BF16 : kernel::Storage::F32);
    const schedule::Task task = task_of(cell, problem);
    const HostProblem data = random_problem(task, problem.sizes, {}).value();
    const Result<TrainingAnswer> plans = plans_of(cell, problem, kEvery);
    ASSERT_TRUE(plans.ok()) << plans.error().message;
    const rondo::testing::GuardedDevice guarded(rondo::testing::Guard::Behind);
    std::vector<TrainingRun> runs;
    for (const std::int64_t every : {problem.sizes.time, kEvery, std::int64_t{1}}) {
      Result<TrainingRun> run =
          train_on_device(task, data.forward, data.loss, guarded, plans->plans(), every);
      ASSERT_TRUE(run.ok()) << run.error().message;
      runs.push_back(std::move(run).value());
      EXPECT_EQ(runs.back().forward.outputs, runs.front().forward.outputs) << every;
      EXPECT_EQ(runs.back().forward.last_states, runs.front().forward.last_states) << every;
      if (reversed) continue;
      EXPECT_EQ(runs.back().gradients.inputs, runs.front().gradients.inputs) << every;
      EXPECT_EQ(runs.back().gradients.initial_states, runs.front().gradients.initial_states) << every;
    }
    check_memory(*runs[1].memory, problem, plans->plans());
  }
}

// What is timed computes all but the sums of gradients of parameters.
TEST_F(InParts, SubmittedLaunchesComputeTheStep) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  const schedule::Problem problem = problem_of(kernel::Storage::F32);
  const schedule::Task task = task_of(cell, problem);
  const HostProblem data = random_problem(task, problem.sizes, {}).value();
  const Result<TrainingAnswer> plans = plans_of(cell, problem, kEvery);
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  Result<TrainingStep> step = TrainingStep::make(
      task, problem.sizes, kEvery, plans->plans(), *machine_.device,
      [&](auto ref) { return given_values(ref, cell, schedule::Pass::Backward, data, {}); });
  ASSERT_TRUE(step.ok()) << step.error().message;
  ASSERT_TRUE(step->submit().ok());
  ASSERT_TRUE(machine_.device->wait().ok());
  ASSERT_TRUE(step->check().ok());
  const TrainingStep::Results submitted = step->download().value();
  ASSERT_TRUE(step->run().ok());
  const TrainingStep::Results run = step->download().value();
  ASSERT_EQ(submitted.size(), run.size());
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (run[i].ref.role == schedule::Role::ParamGradient) continue;
    EXPECT_EQ(submitted[i].result.values, run[i].result.values) << run[i].name;
    EXPECT_EQ(submitted[i].result.unwritten, 0) << run[i].name;
  }
}

TEST_F(InParts, OnePartNeedsNoPassMore) {
  const step::Cell cell = rondo::testing::library_cell("zoneout");  // which draws
  const schedule::Problem problem = problem_of(kernel::Storage::F32);
  const Result<TrainingAnswer> plans = plans_of(cell, problem, 11, true);
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  EXPECT_FALSE(plans->walk.has_value());
  EXPECT_FALSE(plans_of(cell, problem, 10, true).ok());
}

#endif

}  // namespace
}  // namespace rondo::engine
