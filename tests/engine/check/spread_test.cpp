// How far rounding moves results: of what is kept in fp32 nothing is rounded to halves.
#include "engine/check/spread.h"

#include <gtest/gtest.h>

#include "engine/check/verify.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

// A state that adds up past 65,504, which gradients depend on.
constexpr const char* kAdds =
    "cell adds(D) {\n input x[D]\n state c[D] = 60000\n next c = c + 9000 * x * x\n"
    " output y = tanh(1e-5 * next c)\n}\n";

TEST(Spreads, StatesBeyondHalvesAreComparedInBothPassesOfTraining) {
  schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Forward, 16, kernel::Storage::F16);
  for (const schedule::Pass pass : {schedule::Pass::ForwardSave, schedule::Pass::Backward}) {
    problem.pass = pass;
    const schedule::Task task{rondo::testing::cell_from(kAdds), problem, {}};
    ASSERT_EQ(task.history_storage(*task.cell.find("c")), kernel::Storage::F32);
    VerifyCase shape;
    shape.sizes = {2, 20, 1, 16};
    shape.initial_states = false;
    const Result<Verifier> verifier = Verifier::make(task, {shape}, 1);
    EXPECT_TRUE(verifier.ok()) << schedule::pass_name(pass) << ": " << verifier.error().message;
  }
}

}  // namespace
}  // namespace rondo::engine
