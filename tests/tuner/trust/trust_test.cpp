// What a record proves: nothing, until its code was verified where it runs.
#include "tuner/trust/trust.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "runtime/commands/emit_stages.h"
#include "runtime/plan/compile.h"
#include "tests/runtime/choice/shipped_layer.h"
#include "tests/runtime/plan/cells.h"
#include "tuner/tune/tune.h"

namespace rondo::tuner {
namespace {

using runtime::Choice;
using runtime::ChoiceOrigin;

const db::Platform kHere{"0.1.0", "GPU-1", "13.0"};

// Chooses as on a GPU, and knows of each choice what the kernel would be and whether it is right.
class FakeWork final : public TrustWork {
 public:
  FakeWork(const step::Cell& cell, const schedule::Problem& problem, const target::Profile& profile)
      : cell_(cell), problem_(problem), profile_(profile) {}

  Result<Made> make(const runtime::ChooseOptions& options) override {
    Result<Choice> choice = runtime::choose(cell_, problem_, profile_, options);
    if (!choice) return choice.error();
    ++made;
    made_ = Made{*choice, "code of " + schedule::print(choice->parameters) + text};
    return *made_;
  }
  Result<Outcome> verify() override {
    ++verified;
    if (error) return *error;
    const bool passed = made_->choice.parameters != wrong;
    return Outcome{passed, passed ? "all 3 tensors agree" : "h: error 1 (limit 0.1): WRONG"};
  }
  void keep(db::Database& database) override { kept_in = database.path(); }

  int made = 0, verified = 0;
  std::string text;            // of this version
  schedule::Parameters wrong;  // whose kernel is wrong
  std::optional<Error> error;
  std::string kept_in;

 private:
  const step::Cell& cell_;
  const schedule::Problem& problem_;
  const target::Profile& profile_;
  std::optional<Made> made_;
};

class Trust : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("trust-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    database_ = std::make_unique<db::Database>(db::Database::open((folder_ / "tuning.db").string()).value());
    ASSERT_TRUE(database_->put_device(to_device(profile_)).ok());
    ASSERT_TRUE(database_->put_cell({step::canonical_hash(cell_), cell_.name, cell_.source}).ok());
    const auto ranked =
        runtime::ranked_candidates(cell_, problem_, profile_, runtime::kFullAlignment, "stream");
    for (std::size_t i = 0; i < 3; ++i) points_.push_back((*ranked)[10 * (i + 1)].parameters);
  }
  void TearDown() override {
    database_.reset();
    std::filesystem::remove_all(folder_);
  }

  // As an import leaves it: a claim, with the key of code from elsewhere.
  void record(const schedule::Parameters& parameters, double ms, std::int64_t time = 0) {
    schedule::Problem problem = problem_;
    if (time != 0) problem.sizes.time = time;
    record_for(problem, {"stream", parameters, {}}, ms);
  }
  void record_for(const schedule::Problem& problem, const runtime::Candidate& candidate, double ms) {
    db::Trial trial;
    trial.strategy = candidate.strategy;
    trial.parameters = runtime::parameters_to_json(candidate.parameters);
    trial.verified = true;
    trial.median_ms = ms;
    trial.cubin_key = "from elsewhere";
    trial.rondo_version = "0.0.9";
    const auto id = database_->upsert_problem(runtime::database_problem(cell_, problem, profile_));
    const auto recorded = database_->record_trial(*id, trial);
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    ASSERT_TRUE(database_->set_best(*recorded, db::Replace::Always).ok());
  }
  Result<Choice> trusted(FakeWork& work, const db::Platform& platform = kHere, bool strict = false) {
    TrustOptions options;
    options.database = database_.get();
    options.keep = keep_;
    options.recorded = recorded_;
    options.strict = strict;
    options.note = [this](const std::string& text) { notes_.push_back(text); };
    options.shipped = shipped_ ? &*shipped_ : nullptr;
    options.create = create_;
    notes_.clear();
    work.made = work.verified = 0;
    return trusted_choice(work, platform, problem_, options);
  }
  FakeWork work() { return {cell_, problem_, profile_}; }

  step::Cell cell_ = rondo::testing::library_cell("paragru");
  target::Profile profile_ = target::find_profile("h200").value();
  schedule::Problem problem_ = rondo::testing::problem_of(schedule::Pass::Forward);
  std::filesystem::path folder_;
  std::unique_ptr<db::Database> database_;
  bool keep_ = true, recorded_ = true;
  std::vector<schedule::Parameters> points_;
  std::vector<std::string> notes_;
  std::optional<runtime::ShippedLayer> shipped_;
  std::function<Result<db::Database>()> create_;

  void ship(const schedule::Problem& problem, const runtime::Candidate& candidate) {
    rondo::testing::ShippedText text(profile_);
    text.add(cell_, problem, candidate);
    shipped_ = text.layer();
  }
};

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
  const runtime::Candidate near_best = runtime::ranked_candidates(cell_, problem_, profile_)->at(1);
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
  const runtime::Candidate near_best = runtime::ranked_candidates(cell_, problem_, profile_)->at(1);
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
  EXPECT_EQ(runtime::label(*choice), "by model, not verified");
  const Result<Choice> refused = trusted(gpu, kHere, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().hint.find("`rondo tune`"), std::string::npos) << refused.error().hint;
  EXPECT_NE(refused.error().hint.find("`rondo verify`"), std::string::npos) << refused.error().hint;
}

TEST_F(Trust, ALabelSaysWhatIsNotVerified) {
  record(points_[0], 1);
  FakeWork gpu = work();
  EXPECT_EQ(runtime::label(*trusted(gpu)), "tuned");
  gpu.text = ", mended";
  gpu.error = Error{ErrorKind::Input, "'h' of the reference is not finite", ""};
  EXPECT_EQ(runtime::label(*trusted(gpu)), "recorded elsewhere, not verified");
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
  TrialRecorder recorder(database_.get(), cell_, problem_, profile_, kHere);
  Row row;
  row.candidate = {"stream", points_[0], {}};
  row.timing = {1e-3, 0, 7};
  row.verified = true;
  row.cubin_key = "code of " + schedule::print(points_[0]);
  ASSERT_TRUE(recorder.store_best(row)) << recorder.trouble();
  FakeWork gpu = work();
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
  TrialRecorder recorder(database_.get(), cell_, problem_, profile_, kHere);
  Row row;
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

// A claim like any other, though it keeps its name: its time was measured elsewhere.
TEST_F(Trust, WhatIsShippedIsVerifiedOnFirstUseAndOnlyThen) {
  ship(problem_, {"stream", points_[0], {}});
  FakeWork gpu = work();
  const Result<Choice> refused = trusted(gpu, kHere, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("shipped, verified on NVIDIA H200"), std::string::npos)
      << refused.error().message;
  const Result<Choice> first = trusted(gpu);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->origin, ChoiceOrigin::Shipped);
  EXPECT_EQ(first->note, "shipped, verified on NVIDIA H200 by rondo 0.0.9 on 1970-01-01, verified here");
  EXPECT_EQ(gpu.verified, 1);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0].find("shipped, so verified on first use"), 0u) << notes_[0];

  const Result<Choice> second = trusted(gpu, kHere, true);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->origin, ChoiceOrigin::Shipped);
  EXPECT_EQ(runtime::label(*second), "shipped");
  EXPECT_EQ(second->cubin_key, "code of " + schedule::print(points_[0])) << "the code is known: no compiler";
  EXPECT_EQ(gpu.verified, 0);
  // It is no best of the user's, and another board's measured speeds are not taken for this one's.
  const db::Problem key = runtime::database_problem(cell_, problem_, profile_);
  EXPECT_FALSE(database_->find_best(key)->has_value());
  EXPECT_EQ(database_->get_device(profile_.key).value()->origin, db::Origin::Shipped);
}

TEST_F(Trust, WhatIsShippedAndWrongHereIsPassedOverForGood) {
  const runtime::Candidate near_best = runtime::ranked_candidates(cell_, problem_, profile_)->at(1);
  schedule::Problem other = problem_;
  for (const bool alike : {false, true}) {
    if (alike) other.storage = kernel::Storage::F16;
    ship(other, near_best);
    FakeWork gpu = work();
    gpu.text = alike ? ", again" : "";
    gpu.wrong = near_best.parameters;
    for (int turn = 0; turn < 2; ++turn) {
      const Result<Choice> choice = trusted(gpu);
      ASSERT_TRUE(choice.ok()) << choice.error().message;
      EXPECT_EQ(choice->origin, ChoiceOrigin::Model);
      EXPECT_EQ(gpu.verified, turn == 0 ? 1 : 0) << "what is wrong is remembered";
    }
  }
}

TEST_F(Trust, WhatIsShippedForALikeProblemIsVerifiedOnce) {
  const runtime::Candidate near_best = runtime::ranked_candidates(cell_, problem_, profile_)->at(1);
  schedule::Problem other = problem_;
  other.storage = kernel::Storage::F16;
  ship(other, near_best);
  FakeWork gpu = work();
  for (int turn = 0; turn < 2; ++turn) {
    const Result<Choice> choice = trusted(gpu);
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    EXPECT_EQ(choice->origin, ChoiceOrigin::ShippedAlike);
    EXPECT_TRUE(choice->proven());
    EXPECT_EQ(gpu.verified, turn == 0 ? 1 : 0);
  }
}

// Who has no database yet gets one for the proof of what is shipped.
TEST_F(Trust, WithoutADatabaseTheProofOfWhatIsShippedMakesOne) {
  ship(problem_, {"stream", points_[0], {}});
  database_.reset();
  FakeWork gpu = work();
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Shipped);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("not kept, so every use will do it: there is no database"), std::string::npos)
      << notes_[0];
  const std::string path = (folder_ / "made.db").string();
  create_ = [path] { return db::Database::open(path); };
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Shipped);
  EXPECT_EQ(gpu.verified, 1);
  database_ = std::make_unique<db::Database>(db::Database::open(path).value());
  EXPECT_EQ(trusted(gpu)->origin, ChoiceOrigin::Shipped);
  EXPECT_EQ(gpu.verified, 0);
}

}  // namespace
}  // namespace rondo::tuner
