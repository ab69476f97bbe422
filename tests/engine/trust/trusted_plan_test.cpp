// Plans for the CPUs that the tests run on, of records as an import leaves them: what is kept of a
// comparison.
#ifdef RONDO_BUILT_LLVM
#include "engine/trust/trusted_plan.h"

#include <gtest/gtest.h>

#include "tests/engine/choice/tuned_folder.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

// Adding and taking away 1.5 * 2^23 rounds to whole numbers in fp32, but not in the reference.
constexpr const char* kRounds =
    "cell rounds(D) {\n input x[D]\n param a[D]\n state h[D]\n const magic = 12582912\n"
    " next h = ((a * h + x) + magic) - magic\n output h\n}\n";

struct Compares {
  Said said;
  std::size_t kept;  // verifications of the record
};

// Records the model's first choice, and compares its kernel with the reference.
Compares compared(const step::Cell& cell) {
  const Machine machine = cpu_machine(1, nullptr).value();
  const rondo::testing::TunedFolder database(machine.profile, cell);
  schedule::Problem problem = testing::problem_of(schedule::Pass::Forward, 32, kernel::Storage::F32);
  problem.sizes = {2, 9, 1, 32};
  const schedule::Task task{cell, problem, machine.profile};
  const Candidate candidate = best_candidate(task).value();
  db::Trial trial;
  trial.strategy = candidate.strategy;
  trial.parameters = parameters_to_json(candidate.parameters);
  trial.verified = true;
  trial.median_ms = 1;
  const auto recorded =
      database->record_trial(database->upsert_problem(database_problem(task)).value(), trial);
  EXPECT_TRUE(database->set_best(recorded.value(), db::Replace::Always).ok());
  TrustOptions options;
  options.database = database.get();
  options.at_shape = false;
  const Result<VerifiedPlan> verified = verified_plan(task, machine, {}, 3, options);
  EXPECT_TRUE(verified.ok()) << verified.error().message;
  if (!verified) return {Said::Wrong, 0};
  return {verified->verification.said(), database->verifications(recorded.value()).value().size()};
}

TEST(VerifiedPlans, WhatCannotBeToldIsNotKept) {
  const Compares agrees = compared(testing::library_cell("mingru"));
  EXPECT_EQ(agrees.said, Said::Agrees);
  EXPECT_EQ(agrees.kept, 1u);
  const Compares untold = compared(testing::cell_from(kRounds));
  EXPECT_EQ(untold.said, Said::CannotTell);
  EXPECT_EQ(untold.kept, 0u) << "it proves nothing, and refutes nothing";
}

}  // namespace
}  // namespace rondo::engine
#endif
