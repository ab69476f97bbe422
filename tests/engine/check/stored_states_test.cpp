// A backward pass reads the states that the forward pass stored. Where storing them turns decisions of the
// step, as the gate of a skipping RNN, nothing can be told beside the gradients of states that nobody rounds,
// but everything beside those of the stored ones.
#include <gtest/gtest.h>

#include "compiler/support/text_file.h"
#include "engine/check/verify_simulated.h"
#include "engine/choice/candidates.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using schedule::Pass;

std::string skipping() {
  return read_text_file(std::string(RONDO_SOURCE_DIR) + "/tests/literature/skip.cell").value();
}

std::string replaced(std::string text, const std::string& old, const std::string& other) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), other);
}

schedule::Problem problem_at(Pass pass, Storage storage) {
  schedule::Problem problem = rondo::testing::problem_of(pass, 32, storage);
  problem.sizes = {2, 9, 1, 32};
  return problem;
}

// What is said of a kernel that computes `kernel`, beside the skipping RNN.
SimulatedVerification verified(const std::string& kernel, Pass pass, std::uint64_t seed) {
  const schedule::Problem problem = problem_at(pass, Storage::BF16);
  const schedule::Task task{rondo::testing::cell_from(skipping()), problem, target::board()};
  const schedule::Task other{rondo::testing::cell_from(kernel), problem, target::board()};
  const Candidate best = best_candidate(other).value();
  const schedule::KernelPlan plan =
      schedule::find_strategy(best.strategy)->build(other, best.parameters).value();
  VerifyCase shape;
  shape.sizes = problem.sizes;
  return verify_simulated(task, plan, {shape}, seed).value();
}

TEST(StoredStates, ARightKernelAgreesWhereDecisionsTurn) {
  int compared_again = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
      const SimulatedVerification found = verified(skipping(), pass, seed);
      EXPECT_EQ(found.verification.said(), Said::Agrees) << seed << ": " << found.verification.summary();
      for (const std::string& run : found.verification.covered)
        compared_again += run.find("from stored states") != std::string::npos;
    }
  EXPECT_GT(compared_again, 0) << "nothing of these data had to be compared from stored states";
}

// Of values that lie on the border once they are stored, another side; and a border that lies elsewhere.
TEST(StoredStates, AKernelThatDecidesOtherwiseIsWrong) {
  for (const char* decision : {"u > 0.5", "u >= 0.505"}) {
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const SimulatedVerification found =
          verified(replaced(skipping(), "u >= 0.5", decision), Pass::Backward, seed);
      EXPECT_NE(found.verification.said(), Said::Agrees) << decision << " seed " << seed;
      wrong += found.verification.said() == Said::Wrong;
    }
    EXPECT_GE(wrong, 1) << decision;
  }
}

TEST(StoredStates, AreNumbersOfTheirType) {
  const schedule::Task task{
      rondo::testing::cell_from(skipping()), problem_at(Pass::Backward, Storage::BF16), {}};
  HostProblem data = random_problem(task, task.problem.sizes).value();
  const auto rounded = [&] {
    const ReferenceResult result = run_reference(task, data).value();
    bool all = true;
    for (const auto* tensors : {&result.forward.history, &result.forward.outputs})
      for (const auto& [name, values] : *tensors)
        for (const double value : values)
          all =
              all && value == static_cast<double>(scalar::round_to(Storage::BF16, static_cast<float>(value)));
    return all;
  };
  EXPECT_FALSE(rounded());
  data.stored_states = true;
  EXPECT_TRUE(rounded());
}

}  // namespace
}  // namespace rondo::engine
