// Training steps in parts of time on a GPU, whose saved states are made again of outputs: of every cell that
// has such a pass, whether the model takes it or not.
#include "engine/check/verify_parts.h"

#include <memory>

#include "compiler/step/forms.h"
#include "engine/service/service.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;

class PartsOnGpu : public rondo::testing::GpuTest, public ::testing::WithParamInterface<Storage> {
 protected:
  static constexpr std::int64_t kEvery = 16;

  engine::Request request_of(const step::Cell& cell, const schedule::Problem& problem) const {
    engine::Request request;
    request.cell = &cell;
    request.problem = problem;
    return request;
  }

  void verify(const step::Cell& cell) {
    const schedule::Problem p = problem(schedule::Pass::Backward, {4, 5 * kEvery - 3, 2, 72}, GetParam());
    const engine::Machine machine = gpu_->machine();
    const schedule::Task task{cell, p, machine.profile};
    const auto known = schedule::with_known_outputs(task.cell);
    ASSERT_TRUE(known.has_value());
    const auto training = engine::answer_training_in_parts(request_of(cell, p), machine, kEvery);
    ASSERT_TRUE(training.ok()) << training.error().message;
    schedule::Problem saving = training->forward.problem;
    const auto again = engine::answer(request_of(known->cell, saving), machine);
    ASSERT_TRUE(again.ok()) << again.error().message;
    engine::TrainingPlans plans = training->plans();
    plans.again = again->kernel->plan.get();
    plans.again_of = known->tensors;
    const auto found = engine::verify_parts(task, plans, kEvery, *gpu_->device, 5);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found->passed) << again->kernel->choice.strategy << ": " << found->summary();
  }
};

TEST_P(PartsOnGpu, StatesAreMadeAgainOfOutputs) {
  for (const char* name : {"lstm", "peephole", "slstm", "lnlstm", "rmslstm", "onlstm"})
    for (const bool reversed : {false, true}) {
      SCOPED_TRACE(std::string(name) + (reversed ? " reversed" : ""));
      step::Forms forms;
      forms.reversed = reversed;
      ASSERT_NO_FATAL_FAILURE(verify(step::with_forms(rondo::testing::library_cell(name), forms).value()));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, PartsOnGpu, ::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                         [](const auto& type) { return std::string(kernel::storage_name(type.param)); });

}  // namespace
}  // namespace rondo::tuner
