// Plans for the CPUs that the tests run on, of records as an import leaves them: what is kept of a
// comparison.
#ifdef RONDO_BUILT_LLVM
#include "engine/trust/trusted_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/choice/tuned_folder.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

// Adding and taking away 1.5 * 2^23 rounds to whole numbers in fp32, but not in the reference; and no data
// make the numbers large.
constexpr const char* kRounds =
    "cell rounds(D) {\n input x[D]\n param a[D]\n state h[D]\n const magic = 12582912\n"
    " next h = (sin(a * h + x) + magic) - magic\n output h\n}\n";

// The model's first choice for a cell, as an import leaves it.
struct Recorded {
  explicit Recorded(const step::Cell& cell)
      : database(machine.profile, cell), task{cell, problem_of_few(), machine.profile} {
    options.database = database.get();
    options.at_shape = false;
    const Candidate candidate = best_candidate(task).value();
    db::Trial of;
    of.strategy = candidate.strategy;
    of.parameters = parameters_to_json(candidate.parameters);
    of.verified = true;
    of.median_ms = 1;
    trial = database->record_trial(database->upsert_problem(database_problem(task)).value(), of).value();
    EXPECT_TRUE(database->set_best(trial, db::Replace::Always).ok());
  }
  static schedule::Problem problem_of_few() {
    schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Forward, 32, kernel::Storage::F32);
    problem.sizes = {2, 9, 1, 32};
    return problem;
  }

  Machine machine = cpu_machine(1, nullptr).value();
  rondo::testing::TunedFolder database;
  schedule::Task task;
  TrustOptions options;
  std::int64_t trial = 0;
};

struct Compares {
  Said said;
  std::size_t kept;  // verifications of the record
};

Compares compared(const step::Cell& cell) {
  const Recorded recorded(cell);
  const Result<VerifiedPlan> verified =
      verified_plan(recorded.task, recorded.machine, {}, 3, recorded.options);
  EXPECT_TRUE(verified.ok()) << verified.error().message;
  if (!verified) return {Said::Wrong, 0};
  return {verified->verification.said(), recorded.database->verifications(recorded.trial).value().size()};
}

TEST(VerifiedPlans, WhatCannotBeToldIsNotKept) {
  const Compares agrees = compared(rondo::testing::library_cell("mingru"));
  EXPECT_EQ(agrees.said, Said::Agrees);
  EXPECT_EQ(agrees.kept, 1u);
  const Compares untold = compared(rondo::testing::cell_from(kRounds));
  EXPECT_EQ(untold.said, Said::CannotTell);
  EXPECT_EQ(untold.kept, 0u) << "it proves nothing, and refutes nothing";
}

// The reference runs beside the compiler, with the cases of what is compiled. Where that is known to be wrong
// here, another kernel takes its place, and is compared in the cases of its own.
TEST(VerifiedPlans, HaveTheCasesOfTheirOwnKernel) {
  Recorded recorded(rondo::testing::library_cell("lstm"));
  schedule::Problem problem = Recorded::problem_of_few();
  problem.sizes = {3, 40, 1, 32};
  const schedule::Task task = recorded.task.with(problem);
  const auto of_rows = [&](std::int64_t rows) {
    const std::vector<Candidate> all = ranked_candidates(task).value();
    const auto found = std::ranges::find_if(
        all, [=](const Candidate& candidate) { return candidate.parameters.at("rows") == rows; });
    EXPECT_NE(found, all.end()) << rows;
    return *found;
  };
  const auto record = [&](db::Database& into, std::int64_t time, const Candidate& candidate) {
    problem.sizes.time = time;
    db::Trial of;
    of.strategy = candidate.strategy;
    of.parameters = parameters_to_json(candidate.parameters);
    of.verified = true;
    of.median_ms = 1;
    const auto id = into.upsert_problem(database_problem(task.with(problem)));
    const auto trial = into.record_trial(id.value(), of);
    EXPECT_TRUE(into.set_best(trial.value(), db::Replace::Always).ok());
    return trial.value();
  };
  record(*recorded.database, 40, of_rows(1));
  const Result<ReadyPlan> first = trusted_plan(task, recorded.machine, {}, recorded.options);
  ASSERT_TRUE(first.ok()) << first.error().message;

  db::Database other = db::Database::open(recorded.database->path() + ".other").value();
  ASSERT_TRUE(other.merge_database(recorded.database->path()).ok()) << "without its code";
  db::Verification found;
  found.trial = other.find_best(database_problem(task)).value()->trial.id;
  found.pass = schedule::pass_key(task.problem);
  found.batch = 3;
  found.time = 40;
  found.platform = recorded.machine.platform;
  found.code = first->compiled.code;
  found.image = first->compiled.digest();
  found.summary = "wrong here";
  found.created_at = 1000;
  ASSERT_TRUE(other.record_verification(found).ok());
  found.code = "of another version";
  found.passed = true;
  found.created_at = 2000;
  ASSERT_TRUE(other.record_verification(found).ok());
  const std::int64_t next = record(other, 41, of_rows(4));
  recorded.options.database = &other;
  const Result<ReadyPlan> second = trusted_plan(task, recorded.machine, {}, recorded.options);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->choice.trial, next);
  const std::vector<db::Verification> kept = other.verifications(next).value();
  ASSERT_EQ(kept.size(), 1u);
  // Three tensors, at three shapes: the one asked for, five rows, and one step. One row has no tile to fill.
  EXPECT_EQ(kept[0].summary.find("all 9 tensors agree"), 0u) << kept[0].summary;
}

// Code of another database that was verified here serves, and its plan goes on saying where it is from.
TEST(VerifiedPlans, SayWhoseCodeTheyHave) {
  Recorded recorded(rondo::testing::library_cell("mingru"));
  const Result<ReadyPlan> own = trusted_plan(recorded.task, recorded.machine, {}, recorded.options);
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_EQ(own->choice.note.find("its code is"), std::string::npos) << own->choice.note;
  const std::string path = recorded.database->path();
  db::Database other = db::Database::open(path + ".other").value();
  ASSERT_TRUE(other.merge_database(path, {}, db::Database::Kernels::Taken).ok());
  db::Verification proof;
  proof.trial = other.find_best(database_problem(recorded.task)).value()->trial.id;
  proof.pass = schedule::pass_key(recorded.task.problem);
  proof.batch = recorded.task.problem.sizes.batch;
  proof.time = recorded.task.problem.sizes.time;
  proof.platform = recorded.machine.platform;
  proof.code = own->compiled.code;
  proof.image = own->compiled.digest();
  proof.passed = true;
  ASSERT_TRUE(other.record_verification(proof).ok());
  recorded.options.database = &other;
  const Result<ReadyPlan> merged = trusted_plan(recorded.task, recorded.machine, {}, recorded.options);
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_TRUE(merged->compiled.foreign());
  EXPECT_NE(merged->choice.note.find("its code is merged from '" + path + "'"), std::string::npos)
      << merged->choice.note;
}

}  // namespace
}  // namespace rondo::engine
#endif
