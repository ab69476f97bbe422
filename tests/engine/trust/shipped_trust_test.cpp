// What is shipped is a claim like any other: it is verified where it runs.
#include "tests/engine/trust/fixture.h"

namespace rondo::engine {
namespace {

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
  EXPECT_EQ(label(*second), "shipped");
  EXPECT_EQ(second->cubin_key, "code of " + schedule::print(points_[0])) << "the code is known: no compiler";
  EXPECT_EQ(gpu.verified, 0);
  // It is no best of the user's, and another board's measured speeds are not taken for this one's.
  const db::Problem key = database_problem({cell_, problem_, profile_});
  EXPECT_FALSE(database_->find_best(key)->has_value());
  EXPECT_EQ(database_->get_device(profile_.key).value()->origin, db::Origin::Shipped);
}

TEST_F(Trust, WhatIsShippedAndWrongHereIsPassedOverForGood) {
  const Candidate near_best = ranked_candidates({cell_, problem_, profile_})->at(1);
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
  const Candidate near_best = ranked_candidates({cell_, problem_, profile_})->at(1);
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
}  // namespace rondo::engine
