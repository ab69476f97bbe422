// Choices of a lock file: they come from there, or there is none.

#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "tests/engine/choice/tuned_folder.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

class Pinned : public ::testing::Test {
 protected:
  // Pins the model's second best point for the problem, so that a choice by model is another one.
  void SetUp() override {
    const auto ranked = ranked_candidates({cell_, problem_, profile_});
    ASSERT_TRUE(ranked.ok());
    best_ = ranked->at(0);
    other_ = ranked->at(1);
    pin({{database_problem({cell_, problem_, profile_}), cell_.name, other_.strategy,
          parameters_to_json(other_.parameters), "0.1.0"}});
  }
  void pin(const std::vector<db::PinnedChoice>& choices) {
    pinned_ = db::PinnedChoices::parse(db::to_lock_text(choices).value(), "fleet.lock").value();
    options_.pinned = &pinned_;
  }
  Error refused(const schedule::Problem& problem) {
    const Result<Choice> choice = choose({cell_, problem, profile_}, options_);
    EXPECT_FALSE(choice.ok());
    return choice ? Error{} : choice.error();
  }

  step::Cell cell_ = testing::library_cell("paragru");
  target::Profile profile_ = target::find_profile("h200").value();
  schedule::Problem problem_ = testing::problem_of(schedule::Pass::Forward);
  Candidate best_, other_;
  db::PinnedChoices pinned_;
  ChooseOptions options_;
};

TEST_F(Pinned, TheChoiceComesFromTheFile) {
  const Result<Choice> choice = choose({cell_, problem_, profile_}, options_);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->origin, ChoiceOrigin::Pinned);
  EXPECT_EQ(choice->parameters, other_.parameters);
  EXPECT_EQ(label(*choice), "pinned, not verified");
  EXPECT_NE(choice->note.find("fleet.lock"), std::string::npos) << choice->note;
}

TEST_F(Pinned, OtherSizesTakeTheNearestPinned) {
  schedule::Problem longer = problem_;
  longer.sizes.time *= 4;
  const Result<Choice> choice = choose({cell_, longer, profile_}, options_);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->parameters, other_.parameters);
}

TEST_F(Pinned, WhatIsNotPinnedFails) {
  schedule::Problem backward = problem_;
  backward.pass = schedule::Pass::Backward;
  EXPECT_EQ(refused(backward).kind, ErrorKind::Missing);
  schedule::Problem saving = problem_;
  saving.pass = schedule::Pass::ForwardSave;
  EXPECT_EQ(refused(saving).kind, ErrorKind::Missing) << "what is pinned for another pass is not lent";
  schedule::Problem wider = problem_;
  wider.sizes.dim = 128;
  const Error error = refused(wider);
  EXPECT_EQ(error.kind, ErrorKind::Missing);
  EXPECT_NE(error.message.find("'fleet.lock' pins no choice for paragru"), std::string::npos)
      << error.message;
}

TEST_F(Pinned, WhatCannotBeBuiltFails) {
  schedule::Parameters strange = other_.parameters;
  strange["channels"] = 7;
  pin({{database_problem({cell_, problem_, profile_}), cell_.name, other_.strategy,
        parameters_to_json(strange), "0.1.0"}});
  const Error error = refused(problem_);
  EXPECT_EQ(error.kind, ErrorKind::Input) << "not Unsupported, where `run` would take the reference";
  EXPECT_NE(error.message.find("cannot be built"), std::string::npos) << error.message;
}

TEST_F(Pinned, NothingElseCanBeAskedFor) {
  const Result<Choice> choice = choose_with({cell_, problem_, profile_}, {best_.strategy, {}}, options_);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().kind, ErrorKind::Input);
}

// With a database: it knows the trial of what is pinned, and what was found of it here.
class PinnedAndRecorded : public Pinned {
 protected:
  void SetUp() override {
    Pinned::SetUp();
    options_.database = database_.get();
    options_.platform = &platform_;
  }
  std::int64_t store_best(const schedule::Parameters& parameters) {
    db::Trial trial;
    trial.strategy = other_.strategy;
    trial.parameters = parameters_to_json(parameters);
    trial.verified = true;
    trial.median_ms = 1;
    trial.cubin_key = "abc";
    const auto problem = database_->upsert_problem(database_problem({cell_, problem_, profile_}));
    const std::int64_t id = database_->record_trial(problem.value(), trial).value();
    EXPECT_TRUE(database_->set_best(id, db::Replace::Always).ok());
    return id;
  }
  void verify(std::int64_t trial, bool passed) {
    db::Verification found;
    found.trial = trial;
    found.batch = problem_.sizes.batch;
    found.time = problem_.sizes.time;
    found.platform = platform_;
    found.code = "def";
    found.passed = passed;
    found.summary = "as a test says";
    ASSERT_TRUE(database_->record_verification(found).ok());
  }

  db::Platform platform_{"0.1.0", "GPU-1", "13.0"};
  rondo::testing::TunedFolder database_{profile_, cell_};
};

TEST_F(PinnedAndRecorded, WhatTheDatabaseThinksBestIsNotTaken) {
  store_best(best_.parameters);
  const Choice choice = choose({cell_, problem_, profile_}, options_).value();
  EXPECT_EQ(choice.parameters, other_.parameters);
  EXPECT_EQ(choice.trial, 0);
}

TEST_F(PinnedAndRecorded, CodeAndProofOfThePinnedAreKnown) {
  const std::int64_t trial = store_best(other_.parameters);
  EXPECT_FALSE(choose({cell_, problem_, profile_}, options_)->proven());
  verify(trial, true);
  const Choice choice = choose({cell_, problem_, profile_}, options_).value();
  EXPECT_EQ(choice.trial, trial);
  EXPECT_EQ(choice.cubin_key, "def");
  EXPECT_EQ(label(choice), "pinned");
}

TEST_F(PinnedAndRecorded, WhatIsWrongHereFails) {
  const std::int64_t trial = store_best(other_.parameters);
  options_.refused = {trial};
  EXPECT_EQ(refused(problem_).kind, ErrorKind::Wrong);
  options_.refused = {};
  verify(trial, false);
  const Error error = refused(problem_);
  EXPECT_EQ(error.kind, ErrorKind::Wrong);
  EXPECT_NE(error.message.find("as a test says"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace rondo::engine
