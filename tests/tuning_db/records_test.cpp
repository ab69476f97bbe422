#include "tuning_db/records.h"

#include "tests/tuning_db/fixture.h"

namespace rondo::db {
namespace {

TEST(Records, StatusNamesGoBothWays) {
  for (int i = 0; i <= static_cast<int>(TrialStatus::Cancelled); ++i) {
    const auto status = static_cast<TrialStatus>(i);
    EXPECT_EQ(trial_status_from_text(to_text(status)), status);
  }
  EXPECT_EQ(trial_status_from_text("fine"), std::nullopt);
  EXPECT_EQ(origin_from_text("measured"), Origin::Measured);
  EXPECT_EQ(origin_from_text(""), std::nullopt);
}

TEST(Records, BucketsRoundBatchAndTimeUp) {
  EXPECT_EQ(bucket({1, 1, 1, 1}), "B1-T1-H1-D1");
  EXPECT_EQ(bucket({8, 4096, 4, 768}), "B8-T4096-H4-D768");
  EXPECT_EQ(bucket({9, 4097, 4, 769}), "B16-T8192-H4-D769");
}

TEST(Records, InvalidProblemsAreNamed) {
  EXPECT_TRUE(validate(sample_problem()).ok());
  Problem problem = sample_problem();
  problem.dtype = "";
  expect_error(validate(problem), ErrorKind::Input, "dtype is empty");
  expect_error(validate(sample_problem(0)), ErrorKind::Input, "B is 0");
  expect_error(validate(sample_problem(1, -4)), ErrorKind::Input, "T is -4");
}

TEST(Records, AlikeIgnoresOnlyDeviceBatchAndTime) {
  const Problem wanted = sample_problem();
  Problem tuned = sample_problem(3, 77);
  tuned.device = "h100";
  EXPECT_TRUE(alike(tuned, wanted));
  for (std::string Problem::*field :
       {&Problem::cell, &Problem::arch, &Problem::dtype, &Problem::math, &Problem::pass}) {
    Problem other = tuned;
    other.*field = "other";
    EXPECT_FALSE(alike(other, wanted));
  }
  tuned.shape.H = 2;
  EXPECT_FALSE(alike(tuned, wanted));
  tuned.shape.H = 1;
  tuned.shape.D = 768;
  EXPECT_FALSE(alike(tuned, wanted));
}

TEST(Records, ParametersBecomeCanonical) {
  EXPECT_EQ(must(canonical_object(" { \"b\" : 1, \"a\": [1, 2] } ", "x")), R"({"a":[1,2],"b":1})");
  expect_error(canonical_object("[1]", "parameters"), ErrorKind::Input,
               "parameters: '[1]' is no JSON object");
  expect_error(canonical_object("{\"a\":", "p"), ErrorKind::Input, "no JSON object");
  expect_error(canonical_object("{\"a\":\"\xff\"}", "p"), ErrorKind::Input, "no JSON object");
}

}  // namespace
}  // namespace rondo::db
