// What a record proves: nothing, until its code was verified where it runs.
#include <map>

#include "tests/engine/trust/fixture.h"

namespace rondo::engine {
namespace {

TEST_F(Trust, ARecordFromElsewhereIsVerifiedOnFirstUseAndOnlyThen) {
  record(points_[0], 1);
  FakeWork gpu = work();
  const Result<Choice> first = trusted(gpu);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->parameters, points_[0]);
  EXPECT_EQ(first->origin, ChoiceOrigin::Tuned) << "it may be called that now";
  EXPECT_EQ(gpu.verified, 1);
  EXPECT_EQ(gpu.kept_in, database_->path());
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("verified on first use, which took "), std::string::npos) << notes_[0];
  EXPECT_NE(notes_[0].find("all 3 tensors agree"), std::string::npos) << notes_[0];

  const Result<Choice> second = trusted(gpu);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(second->cubin_key, "code of " + schedule::print(points_[0])) << "the code is known: no compiler";
  EXPECT_EQ(gpu.verified, 0);
  EXPECT_EQ(gpu.made, 1);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(Trust, AnotherDeviceDriverVersionOrTextIsVerifiedAgain) {
  record(points_[0], 1);
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  for (std::string db::Platform::*field :
       {&db::Platform::rondo_version, &db::Platform::device, &db::Platform::driver}) {
    db::Platform other = kHere;
    other.*field = "another";
    ASSERT_TRUE(trusted(gpu, other).ok());
    EXPECT_EQ(gpu.verified, 1);
    ASSERT_TRUE(trusted(gpu, other).ok());
    EXPECT_EQ(gpu.verified, 0);
  }
  gpu.text = ", mended";
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 1);
  gpu.text = "";
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 0) << "what was verified before still is";
}

// A proof of this very code that is not the newest counts only for what it was given.
TEST_F(Trust, AnOlderProofCountsForItsOwnPlatformAlone) {
  record(points_[0], 1);
  db::Platform other = kHere;
  other.driver = "another";
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  gpu.text = ", mended";
  ASSERT_TRUE(trusted(gpu, other).ok());
  ASSERT_EQ(gpu.verified, 1);
  gpu.text = "";
  ASSERT_TRUE(trusted(gpu, other).ok());
  EXPECT_EQ(gpu.verified, 1) << "with the other driver that was not verified";
}

TEST_F(Trust, AnOlderProofCountsForItsOwnShapeAlone) {
  record(points_[0], 1);
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  problem_.sizes.time *= 2;
  gpu.text = ", mended";
  ASSERT_TRUE(trusted(gpu).ok());
  ASSERT_EQ(gpu.verified, 1);
  gpu.text = "";
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 1) << "at twice the steps that was not verified";
}

TEST_F(Trust, AnOlderProofCountsForItsOwnBytesAlone) {
  record(points_[0], 1);
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  gpu.text = ", mended";
  ASSERT_TRUE(trusted(gpu).ok());
  ASSERT_EQ(gpu.verified, 1);
  gpu.text = "";
  gpu.image = "swapped";
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 1) << "under the older key lie other bytes now";
}

// The text of a kernel may be that of another pass (a step that saves nothing, say): what was compared for
// the one was not for the other.
TEST_F(Trust, AnOlderProofCountsForItsOwnPassAlone) {
  const Candidate near_best = ranked_candidates({cell_, problem_, profile_})->at(1);
  const schedule::Problem forward = problem_;
  schedule::Problem saving = problem_;
  saving.pass = schedule::Pass::ForwardSave;
  for (const bool forward_first : {true, false}) {
    SCOPED_TRACE(forward_first ? "forward first" : "saving first");
    TearDown();
    points_.clear();
    SetUp();
    const schedule::Problem &first = forward_first ? forward : saving,
                            &other = forward_first ? saving : forward;
    record_for(first, near_best, 1);
    problem_ = first;
    FakeWork gpu = work();
    ASSERT_TRUE(trusted(gpu).ok());
    ASSERT_EQ(gpu.verified, 1);
    problem_ = other;
    gpu.text = ", mended";
    ASSERT_TRUE(trusted(gpu).ok());
    ASSERT_EQ(gpu.verified, 1);
    gpu.text = "";
    ASSERT_TRUE(trusted(gpu).ok());
    EXPECT_EQ(gpu.verified, 1) << "this very code was verified for the first pass alone";
    ASSERT_TRUE(trusted(gpu).ok());
    EXPECT_EQ(gpu.verified, 0);
    problem_ = forward;
  }
}

TEST_F(Trust, WhatIsWrongIsPassedOverForGood) {
  record(points_[0], 1);
  record(points_[1], 2, problem_.sizes.time * 2);
  FakeWork gpu = work();
  gpu.wrong = points_[0];
  const Result<Choice> choice = trusted(gpu);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->parameters, points_[1]) << "the nearest";
  EXPECT_EQ(choice->origin, ChoiceOrigin::Nearest);
  EXPECT_EQ(gpu.verified, 2);
  EXPECT_TRUE(std::any_of(notes_.begin(), notes_.end(), [](const std::string& note) {
    return note.find("wrong here; it is passed over: h: error 1") != std::string::npos;
  }));
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 0);
  EXPECT_EQ(trusted(gpu)->parameters, points_[1]);
}

TEST_F(Trust, WhereAllIsWrongTheModelChooses) {
  record(points_[0], 1);
  FakeWork gpu = work();
  gpu.wrong = points_[0];
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Model);
  const Result<Choice> again = trusted(gpu);
  EXPECT_EQ(again->origin, ChoiceOrigin::Model);
  EXPECT_NE(again->note.find("wrong here: h: error 1"), std::string::npos) << again->note;
}

// It is used as what it is, its kernel is kept, and the next call verifies it.
TEST_F(Trust, LaterUsesWhatHasNoProofYet) {
  record(points_[0], 1);
  FakeWork gpu = work();
  later_ = true;
  const Result<Choice> unproven = trusted(gpu);
  ASSERT_TRUE(unproven.ok()) << unproven.error().message;
  EXPECT_EQ(unproven->parameters, points_[0]);
  EXPECT_EQ(unproven->origin, ChoiceOrigin::Elsewhere);
  EXPECT_FALSE(unproven->proven());
  EXPECT_EQ(gpu.verified, 0);
  EXPECT_EQ(gpu.kept_in, database_->path());
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0], "recorded elsewhere, and is used before it is verified");
  later_ = false;
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(gpu.verified, 1);
  later_ = true;
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Tuned) << "the proof is there now";
  gpu.text = ", mended";
  gpu.wrong = points_[0];
  EXPECT_FALSE(trusted(gpu)->proven());
  later_ = false;
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Model) << "it was found wrong";
  later_ = true;
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Model) << "and stays so";
}

TEST_F(Trust, StrictRefusesWhatHasNoProof) {
  FakeWork gpu = work();
  const Result<Choice> by_model = trusted(gpu, kHere, true);
  ASSERT_FALSE(by_model.ok());
  EXPECT_EQ(by_model.error().kind, ErrorKind::Missing);
  record(points_[0], 1);
  const Result<Choice> refused = trusted(gpu, kHere, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Missing);
  EXPECT_NE(refused.error().message.find("recorded elsewhere"), std::string::npos) << refused.error().message;
  EXPECT_EQ(gpu.verified, 0);
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_TRUE(trusted(gpu, kHere, true).ok());
}

schedule::Problem training(schedule::Problem problem) {
  problem.pass = schedule::Pass::ForwardSave;
  return problem;
}

// The kernel of this pass was never compared with anything, whatever is known of the other one.
TEST_F(Trust, WhatWasTunedForAnotherPassIsVerifiedOnFirstUseAndOnlyThen) {
  const Candidate near_best = ranked_candidates({cell_, problem_, profile_})->at(1);
  record_for(training(problem_), near_best, 1);
  FakeWork gpu = work();
  const Result<Choice> refused = trusted(gpu, kHere, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Missing);
  const Result<Choice> first = trusted(gpu);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->parameters, near_best.parameters);
  EXPECT_EQ(first->origin, ChoiceOrigin::OtherPass) << "it was not measured for this one";
  EXPECT_TRUE(first->proven());
  EXPECT_EQ(gpu.verified, 1);
  EXPECT_EQ(gpu.kept_in, database_->path());
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0].find("tuned for another pass, so verified on first use"), 0u) << notes_[0];

  const Result<Choice> second = trusted(gpu, kHere, true);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->origin, ChoiceOrigin::OtherPass);
  EXPECT_EQ(second->cubin_key, "code of " + schedule::print(near_best.parameters))
      << "the code is known: no compiler";
  EXPECT_EQ(gpu.verified, 0);
  EXPECT_EQ(gpu.made, 1);
  EXPECT_TRUE(notes_.empty());
  // Which proves nothing of the pass that it was tuned for.
  problem_ = training(problem_);
  FakeWork other = work();
  EXPECT_EQ(trusted(other)->origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(other.verified, 1);
}

TEST_F(Trust, WhatIsWrongForThisPassStaysTunedForTheOther) {
  const Candidate near_best = ranked_candidates({cell_, problem_, profile_})->at(1);
  record_for(training(problem_), near_best, 1);
  FakeWork gpu = work();
  gpu.wrong = near_best.parameters;
  for (int turn = 0; turn < 2; ++turn) {
    const Result<Choice> choice = trusted(gpu);
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    EXPECT_EQ(choice->origin, ChoiceOrigin::Model);
    EXPECT_FALSE(choice->proven());
    EXPECT_EQ(gpu.verified, turn == 0 ? 1 : 0) << "what is wrong is remembered too";
    const bool told = choice->note.find("wrong here: h: error 1") != std::string::npos;
    EXPECT_EQ(told, turn == 1) << choice->note;
  }
  problem_ = training(problem_);
  FakeWork other = work();
  const Result<Choice> tuned = trusted(other);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  EXPECT_EQ(tuned->origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(tuned->parameters, near_best.parameters);
}

// Nobody claims anything of it: it is called what it is, and a launch does not wait for a comparison.
TEST_F(Trust, TheModelsChoiceIsLabelledAndNotVerifiedUnasked) {
  FakeWork gpu = work();
  const Result<Choice> choice = trusted(gpu);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(gpu.verified, 0);
  EXPECT_TRUE(notes_.empty());
  EXPECT_FALSE(choice->proven());
  EXPECT_EQ(label(*choice), "by model, not verified");
  const Result<Choice> refused = trusted(gpu, kHere, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("`rondo tune`"), std::string::npos) << refused.error().hint;
  EXPECT_NE(refused.error().hint.find("`rondo verify`"), std::string::npos) << refused.error().hint;
}

TEST_F(Trust, ALabelSaysWhatIsNotVerified) {
  record(points_[0], 1);
  FakeWork gpu = work();
  EXPECT_EQ(label(*trusted(gpu)), "tuned");
  gpu.text = ", mended";
  gpu.error = Error{ErrorKind::Input, "'h' of the reference is not finite", ""};
  EXPECT_EQ(label(*trusted(gpu)), "recorded elsewhere, not verified");
}

// `run` and `bench` open the database for reading.
TEST_F(Trust, TheProofIsKeptThroughAReadersDatabase) {
  record(points_[0], 1);
  const std::string path = database_->path();
  database_ = std::make_unique<db::Database>(db::Database::open(path, {db::Access::ReadOnly}).value());
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 1);
  EXPECT_EQ(gpu.kept_in, path);
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 0);
}

// Who opens the database for reading alone, and means it.
TEST_F(Trust, NothingIsKeptWhereItMustNot) {
  record(points_[0], 1);
  keep_ = false;
  FakeWork gpu = work();
  for (int use = 0; use < 2; ++use) {
    const Result<Choice> choice = trusted(gpu);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice->origin, ChoiceOrigin::Tuned);
    EXPECT_EQ(gpu.verified, 1);
    EXPECT_EQ(gpu.kept_in, "");
    ASSERT_EQ(notes_.size(), 1u);
    EXPECT_NE(notes_[0].find("the database is open for reading only"), std::string::npos) << notes_[0];
  }
}

TEST_F(Trust, WhatTheModelIsAskedForIsNoRecord) {
  record(points_[0], 1);
  recorded_ = false;
  FakeWork gpu = work();
  const Result<Choice> choice = trusted(gpu);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->origin, ChoiceOrigin::Model);
  EXPECT_EQ(gpu.verified, 0);
}

TEST_F(Trust, AProofThatCannotBeKeptIsToldAndTheKernelRuns) {
  record(points_[0], 1);
  const std::string path = database_->path();
  database_ = std::make_unique<db::Database>(db::Database::open(path, {db::Access::ReadOnly}).value());
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  std::filesystem::create_directory(path);  // nothing can be written under this name
  FakeWork gpu = work();
  const Result<Choice> choice = trusted(gpu);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->origin, ChoiceOrigin::Tuned);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("not kept, so every use will do it"), std::string::npos) << notes_[0];
}

TEST_F(Trust, WhatCannotBeComparedIsNotCalledTuned) {
  record(points_[0], 1);
  FakeWork gpu = work();
  gpu.error = Error{ErrorKind::Input, "'h' of the reference is not finite", ""};
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Elsewhere);
  gpu.error->kind = ErrorKind::Device;
  EXPECT_EQ(trusted(gpu).error().kind, ErrorKind::Device);
}

TEST_F(Trust, WhatTheTunerStoresHasItsProof) {
  tuner::TrialRecorder recorder(database_.get(), {cell_, problem_, profile_}, kHere);
  tuner::Row row;
  row.candidate = {"stream", points_[0], {}};
  row.timing = {1e-3, 0, 7};
  row.verified = true;
  row.cubin_key = "code of " + schedule::print(points_[0]);
  FakeWork gpu = work();
  row.image = gpu.image;
  ASSERT_TRUE(recorder.store_best(row)) << recorder.trouble();
  const Result<Choice> choice = trusted(gpu, kHere, true);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(gpu.verified, 0);
}

// The whole way of a claim: it comes in, is verified, and gives way to a time measured here.
TEST_F(Trust, AFastClaimThatIsRightGivesWayToATimeMeasuredHere) {
  record(points_[0], 0.001);
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  tuner::TrialRecorder recorder(database_.get(), {cell_, problem_, profile_}, kHere);
  tuner::Row row;
  row.candidate = {"stream", points_[1], {}};
  row.timing = {0.2e-3, 0, 7};
  row.verified = true;
  row.cubin_key = "code";
  EXPECT_TRUE(recorder.store_best(row)) << "the claim was never timed here";
  row.candidate.parameters = points_[2];
  row.timing.median_s = 0.3e-3;
  EXPECT_FALSE(recorder.store_best(row)) << "slower than what was timed here";
  EXPECT_TRUE(recorder.store_best(row, db::Replace::Always)) << "--again";
}

// A proof is of bytes, not of the key under which they lie.
TEST_F(Trust, OtherBytesUnderTheSameKeyAreNotProven) {
  record(points_[0], 1);
  FakeWork gpu = work();
  ASSERT_TRUE(trusted(gpu).ok());
  ASSERT_TRUE(trusted(gpu, kHere, true).ok());
  gpu.image = "swapped";
  const Result<Choice> refused = trusted(gpu, kHere, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Missing);
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_EQ(gpu.verified, 1);
  ASSERT_TRUE(trusted(gpu, kHere, true).ok()) << "these bytes are proven now";
}

TEST_F(Trust, CodeOfOthersServesOnlyOnceItWasVerified) {
  record(points_[0], 1);
  FakeWork gpu = work();
  gpu.origin = "merged from 'x.db'";
  const Result<Choice> choice = trusted(gpu);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(gpu.verified, 1);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("is merged from 'x.db'; a trial process verified it"), std::string::npos)
      << notes_[0];
  EXPECT_TRUE(trusted(gpu, kHere, true).ok()) << "the proof is kept";
}

TEST_F(Trust, CodeOfOthersThatIsWrongIsPassedOver) {
  record(points_[0], 1);
  FakeWork gpu = work();
  gpu.origin = "merged from 'x.db'";
  gpu.wrong = points_[0];
  const Result<Choice> choice = trusted(gpu);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_NE(choice->parameters, points_[0]);
  ASSERT_FALSE(notes_.empty());
  EXPECT_NE(notes_[0].find("is not used: h: error 1"), std::string::npos) << notes_[0];
  // The record itself is in no way wrong: compiled here it may be right.
  gpu.origin = "";
  gpu.wrong = {};
  EXPECT_EQ(trusted(gpu)->parameters, points_[0]);
}

// Code of others is blocked where a trial process found it wrong, and not where it is right or nothing could
// try it.
TEST_F(Trust, CodeOfOthersIsBlockedWhereItIsWrongAlone) {
  record(points_[0], 1);
  const db::Cubin cubin{.key = {"source", "flags", "sm_90a", "13.0"}, .image = "bytes", .resources = "{}"};
  const std::string other = (folder_ / "other.db").string();
  ASSERT_TRUE(db::Database::open(other)->put_cubin(cubin).ok());
  ASSERT_TRUE(database_->merge_database(other, {}, db::Database::Kernels::Taken).ok());
  FakeWork gpu = work();
  gpu.code = cubin.key.hash();
  gpu.origin = "merged from 'other.db'";
  const auto blocked = [&] { return (*database_->get_cubin(cubin.key))->blocked(); };
  ASSERT_FALSE(blocked());
  gpu.error = Error{ErrorKind::Missing, "there is no trial process", ""};
  (void)trusted(gpu);
  EXPECT_FALSE(blocked()) << "nothing was tried";
  gpu.error.reset();
  ASSERT_TRUE(trusted(gpu).ok());
  EXPECT_FALSE(blocked()) << "it is right";
  gpu.image = "other bytes";
  gpu.wrong = points_[0];
  (void)trusted(gpu);
  EXPECT_TRUE(blocked());
}

// A proof is kept under the whole name of its pass, what goes between two passes included.
TEST_F(Trust, AProofNamesItsWholePass) {
  record(points_[0], 1);
  FakeWork gpu = work();
  TrustWork::Made made;
  made.choice.trial = (*database_->find_best(database_problem({cell_, problem_, profile_})))->trial.id;
  std::map<std::string, std::string> passes;  // by code
  for (const schedule::Problem& problem : schedule::in_all_passes(problem_)) {
    made.code = "code of " + schedule::pass_key(problem);
    passes[made.code] = schedule::pass_key(problem);
    ASSERT_TRUE(keep_verification(gpu, made, kHere, problem, {true, "all agree"}, *database_).ok());
  }
  const auto kept = database_->verifications(made.choice.trial);
  ASSERT_EQ(kept->size(), passes.size());
  for (const db::Verification& each : *kept) EXPECT_EQ(each.pass, passes.at(each.code));
}

// What cannot be compared may run where it was compiled here, and not where others made it.
TEST_F(Trust, CodeOfOthersThatCannotBeComparedIsNotUsed) {
  recorded_ = false;
  FakeWork gpu = work();
  gpu.origin = "merged from 'x.db'";
  for (const ErrorKind kind : {ErrorKind::Input, ErrorKind::Device}) {
    gpu.error = Error{kind, "it crashed", ""};
    const Result<Choice> choice = trusted(gpu);
    ASSERT_FALSE(choice.ok());
    EXPECT_EQ(choice.error().kind, ErrorKind::Wrong);
    EXPECT_NE(choice.error().message.find("is not used: it crashed"), std::string::npos);
  }
}

}  // namespace
}  // namespace rondo::engine
