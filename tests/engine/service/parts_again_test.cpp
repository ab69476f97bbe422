// Parts of time whose saved states are made again from outputs, beside those that a forward pass saves again.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/step/forms.h"
#include "engine/check/verify_parts.h"
#include "engine/data/host_problem.h"
#include "engine/service/run_training.h"
#include "engine/service/service.h"
#include "tests/engine/plan/cells.h"
#include "tests/runtime/device/guarded_device.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::engine {
namespace {

using executable::Binding;
using executable::TensorRef;
using schedule::Pass;
using schedule::Role;

// [B, T, H, rows, D] of 2 x T x 1 x 1 x 4 numbers of 4 bytes.
executable::Tensor tensor_of(Role role, std::int32_t id) {
  executable::Tensor tensor;
  tensor.ref = {role, id};
  tensor.unit = 4;
  tensor.storage = scalar::Storage::F32;
  tensor.size = {0, 4};
  return tensor;
}

// Output 2 stands behind input 1 of the pass that is given it; its input 0 is input 3 of the cell.
TEST(PartsAgain, OutputsOfTheStepBeforeAreInputs) {
  for (const bool reversed : {false, true}) {
    const std::vector<schedule::KnownOutputs::Of> of{{3, false}, {2, true}, {5, false}};
    PartBindings parts({11, 4, reversed}, 2, {}, {tensor_of(Role::History, 5)}, {}, of);
    executable::Bindings whole, bound;
    whole.set({Role::Output, 2}, 1000);
    whole.set({Role::Input, 3}, 5000);
    parts.place_in_region(4096);
    parts.bind({tensor_of(Role::Input, 0), tensor_of(Role::Input, 1), tensor_of(Role::History, 2)}, 1,
               PartLaunch::Again, whole, bound);
    const std::int64_t begin = reversed ? 3 : 4, step = 4 * 4;
    const Binding* x = bound.find({Role::Input, 0});
    const Binding* h = bound.find({Role::Input, 1});
    const Binding* c = bound.find({Role::History, 2});
    ASSERT_TRUE(x != nullptr && h != nullptr && c != nullptr);
    EXPECT_EQ(x->pointer, static_cast<executable::Address>(5000 + begin * step));
    EXPECT_EQ(h->pointer, static_cast<executable::Address>(1000 + (begin + (reversed ? 1 : -1)) * step));
    EXPECT_EQ(h->strides->b, 11 * 4);
    EXPECT_EQ(c->pointer, 4096u);
  }
}

TEST(PartsAgain, AreThoseBetweenTheFirstAndTheLast) {
  const std::vector<executable::Tensor> saved{tensor_of(Role::History, 0)};
  const PartBindings again({11, 4, false}, 2, {}, saved, {}, {{0, false}});
  EXPECT_EQ(again.saving(0), PartLaunch::Save);
  EXPECT_EQ(again.saving(1), PartLaunch::Again);
  EXPECT_EQ(again.saving(2), PartLaunch::Save);
  const PartBindings nothing({11, 4, false}, 2, {}, {}, {});
  EXPECT_EQ(nothing.saving(1), std::nullopt);
  EXPECT_EQ(nothing.saving(2), PartLaunch::Save) << "which walks it for the first time";
}

Request training_request(const step::Cell& cell, std::int64_t batch, std::int64_t time, std::int64_t dim) {
  Request request;
  request.cell = &cell;
  request.problem = rondo::testing::problem_of(Pass::Backward, dim);
  request.problem.sizes = {batch, time, 1, dim};
  request.outline = true;
  return request;
}

// On a board an LSTM's product over all steps is far faster than its walk; a plan that was asked for is one
// of the cell itself, and of a GRU nothing is saved.
TEST(PartsAgain, AreChosenWhereTheyAreFaster) {
  Machine machine;
  machine.profile = target::board("h200");
  const step::Cell lstm = rondo::testing::library_cell("lstm"), gru = rondo::testing::library_cell("gru");
  Request request = training_request(lstm, 16, 16384, 768);
  Result<TrainingAnswer> chosen = answer_training_in_parts(request, machine, 1024);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  ASSERT_TRUE(chosen->again.has_value());
  EXPECT_NE(chosen->again->kernel->choice.strategy, "persistent");
  const double with = training_time(lstm, *chosen).forward.by_model;
  chosen->again.reset();
  EXPECT_LT(with, training_time(lstm, *chosen).forward.by_model);
  EXPECT_FALSE(answer_training_in_parts(request, machine, 8192)->again.has_value()) << "no part between two";
  request.overrides.strategy = "persistent";
  EXPECT_FALSE(answer_training_in_parts(request, machine, 1024)->again.has_value());
  const Result<TrainingAnswer> of_gru =
      answer_training_in_parts(training_request(gru, 16, 16384, 768), machine, 1024);
  ASSERT_TRUE(of_gru.ok()) << of_gru.error().message;
  EXPECT_FALSE(of_gru->again.has_value());
  // Its forward pass is made once.
  const TrainingAnswer whole =
      answer_training_in_parts(training_request(gru, 16, 16384, 768), machine, 16384).value();
  EXPECT_LT(training_time(gru, *of_gru).forward.by_model, 1.2 * training_time(gru, whole).forward.by_model);
}

#ifdef RONDO_BUILT_LLVM

class TrainedAgain : public ::testing::Test {
 protected:
  static constexpr std::int64_t kEvery = 4;

  static schedule::Problem problem_of(kernel::Storage storage) {
    schedule::Problem problem = rondo::testing::problem_of(Pass::Backward, 16, storage);
    problem.sizes.batch = 3;
    problem.sizes.time = 18;  // five parts, the last one shorter
    return problem;
  }

  // The plans of parts, and the pass that is given outputs, whether it is faster or not.
  struct Plans {
    TrainingAnswer parts;
    std::shared_ptr<const schedule::KnownOutputs> known;
    Answer again;
    TrainingPlans plans() const {
      TrainingPlans all = parts.plans();
      all.again = again.kernel->plan.get();
      all.again_of = known->tensors;
      return all;
    }
  };
  Plans plans_of(const step::Cell& cell, const schedule::Problem& problem,
                 const schedule::KnownOutputs& known) const {
    Request request;
    request.cell = &cell;
    request.problem = problem;
    Plans made{answer_training_in_parts(request, machine_, kEvery).value(),
               std::make_shared<const schedule::KnownOutputs>(known),
               {}};
    request.cell = &made.known->cell;
    request.problem.pass = Pass::ForwardSave;
    request.problem.sizes.time = kEvery;
    made.again = answer(request, machine_).value();
    return made;
  }

  Machine machine_ = find_machine("cpu", nullptr).value();
};

// Of every cell that has such a pass, forward and back in time: within the limits of `rondo verify`, and in
// fp32 the same gradients as with states saved by the cell itself, within rounding.
TEST_F(TrainedAgain, EveryCellAsInOnePiece) {
  int number = 0, trained = 0;
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell plain = rondo::testing::library_cell(embedded.name);
    step::Forms forms;
    forms.reversed = number % 2 == 1;
    const step::Cell cell = step::with_forms(plain, forms).value();
    const schedule::Problem problem =
        problem_of(number % 3 == 0 ? kernel::Storage::BF16 : kernel::Storage::F32);
    const schedule::Task task{cell, problem, machine_.profile};
    const auto known = schedule::with_known_outputs(task.cell);
    if (!known || plain.seed() || !rondo::testing::has_turn(number++, 4)) continue;
    SCOPED_TRACE(embedded.name + (forms.reversed ? " reversed" : ""));
    const Plans plans = plans_of(cell, problem, *known);
    ASSERT_TRUE(plans.again.kernel.has_value());
    const Result<Verification> found = verify_parts(task, plans.plans(), kEvery, *machine_.device, 5);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found->passed) << found->summary();
    ++trained;
  }
  EXPECT_GT(trained, 0);
}

// The pass reads and writes nothing but its own tensors, and what it makes is read: with outputs of another
// run in their place the gradients are others.
TEST_F(TrainedAgain, StatesComeFromTheOutputs) {
  const step::Cell cell = rondo::testing::library_cell("lstm");
  const schedule::Problem problem = problem_of(kernel::Storage::F32);
  const schedule::Task task{cell, problem, machine_.profile};
  const HostProblem data = random_problem(task, problem.sizes, {}).value();
  const Plans plans = plans_of(cell, problem, *schedule::with_known_outputs(task.cell));
  const rondo::testing::GuardedDevice guarded(rondo::testing::Guard::Behind);
  const Result<TrainingRun> saved =
      train_on_device(task, data.forward, data.loss, guarded, plans.parts.plans(), kEvery);
  const Result<TrainingRun> again =
      train_on_device(task, data.forward, data.loss, guarded, plans.plans(), kEvery);
  ASSERT_TRUE(saved.ok()) << saved.error().message;
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->forward.outputs, saved->forward.outputs);
  for (const auto& [name, values] : saved->gradients.inputs) {
    const std::vector<double>& others = again->gradients.inputs.at(name);
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) worst = std::max(worst, std::abs(values[i] - others[i]));
    EXPECT_LT(worst, 1e-5) << name;
  }
}

#endif

}  // namespace
}  // namespace rondo::engine
