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

// Its gradient alone goes back by the channels that are chosen.
TEST(Spreads, AChoiceOfChannelsIsADecision) {
  const step::Cell viterbi = rondo::testing::library_cell("viterbi");
  EXPECT_TRUE(has_decisions(viterbi, schedule::Pass::Backward));
  EXPECT_FALSE(has_decisions(viterbi, schedule::Pass::Forward));
}

// Runs of all cases are added by many threads, each element's errors by any of them: two cases at once have
// the limits that each has alone, and every element of a sum errs in some run.
TEST(Spreads, OfSeveralCasesAreThoseOfEachAlone) {
  const schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Backward, 24);
  const schedule::Task task{rondo::testing::library_cell("lstm"), problem, {}};
  std::vector<HostProblem> data;
  std::vector<ReferenceResult> exact;
  for (const step::Sizes& sizes : {step::Sizes{3, 9, 1, 24}, step::Sizes{1, 40, 1, 24}}) {
    data.push_back(random_problem(task, sizes, {.seed = data.size() + 1}).value());
    exact.push_back(run_reference(task, data.back()).value());
  }
  const std::vector<SpreadCase> cases{{&data[0], &exact[0], 5}, {&data[1], &exact[1], 6}};
  const Result<std::vector<Spreads>> both = measure_spreads(task, cases);
  ASSERT_TRUE(both.ok());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Result<Spreads> alone = measure_spreads(task, data[i], exact[i], cases[i].seed);
    ASSERT_TRUE(alone.ok());
    ASSERT_EQ(both->at(i).size(), alone->size());
    for (const auto& [ref, spread] : *alone) {
      const Spread& other = both->at(i).at(ref);
      const std::size_t elements = computed_values(ref, task.written, problem.pass, exact[i])->size();
      for (std::size_t k = 0; k < elements; ++k) {
        EXPECT_EQ(other.element_limit(k, true), spread.element_limit(k, true)) << i << ' ' << k;
        EXPECT_GT(spread.element_error(k), 0) << i << ' ' << k;
      }
      for (std::size_t slice = 0; slice < 4; ++slice)
        EXPECT_EQ(other.slice_limit(slice, 24, true), spread.slice_limit(slice, 24, true))
            << i << ' ' << slice;
    }
  }
}

}  // namespace
}  // namespace rondo::engine
