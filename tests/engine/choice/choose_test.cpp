#include "engine/choice/choose.h"

#include <algorithm>
#include <set>

#include "compiler/step/clip.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "tests/engine/choice/tuned_folder.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/slow_tests.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

int alignment_of(const schedule::Problem& problem, const Choice& choice) {
  return schedule::find_strategy(choice.strategy)->alignment(problem, choice.parameters);
}

class Choosing : public ::testing::Test {
 protected:
  void SetUp() override { options_.database = database_.get(); }

  void store_best(const schedule::Problem& problem, const schedule::Parameters& parameters, double ms,
                  const std::string& strategy = "stream", std::int64_t created_at = 0) {
    const auto id = database_->upsert_problem(database_problem({cell_, problem, profile_}));
    ASSERT_TRUE(id.ok()) << id.error().message;
    db::Trial trial;
    trial.strategy = strategy;
    trial.parameters = parameters_to_json(parameters);
    trial.verified = true;
    trial.median_ms = ms;
    trial.cubin_key = "abc";
    trial.created_at = created_at;
    const auto recorded = database_->record_trial(*id, trial);
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    ASSERT_TRUE(database_->set_best(*recorded, db::Replace::Always).ok());
  }
  schedule::Parameters parameters() const { return testing::stream_parameters(cell_, problem_); }
  Choice chosen(const schedule::Problem& problem) {
    Result<Choice> choice = choose({cell_, problem, profile_}, options_);
    EXPECT_TRUE(choice.ok()) << choice.error().message;
    return choice.ok() ? *choice : Choice{};
  }

  step::Cell cell_ = testing::library_cell("paragru");
  target::Profile profile_ = target::find_profile("h200").value();
  schedule::Problem problem_ = testing::problem_of(Pass::Forward);
  rondo::testing::TunedFolder database_{profile_, cell_};
  ChooseOptions options_;
};

TEST_F(Choosing, TakesTheTunedBestOfExactlyThisProblem) {
  schedule::Problem other = problem_;
  other.sizes.time = 4096;
  schedule::Parameters far = parameters();
  far["stages"] = 4;
  store_best(other, far, 2);
  store_best(problem_, parameters(), 1);
  const Choice choice = chosen(problem_);
  EXPECT_EQ(choice.origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(choice.parameters, parameters());
  EXPECT_EQ(choice.cubin_key, "abc");
  EXPECT_DOUBLE_EQ(choice.expected_ms, 1);
}

// A file that was imported may say any time.
TEST_F(Choosing, ANoteSaysWhenWhereThatIsADate) {
  store_best(problem_, parameters(), 1, "stream", 1795132800);
  EXPECT_EQ(chosen(problem_).note, "tuned for this problem on 2026-11-20");
  for (const std::int64_t no_date : {std::int64_t{1} << 62, std::int64_t{-5}}) {
    store_best(problem_, parameters(), 1, "stream", no_date);
    EXPECT_EQ(chosen(problem_).note, "tuned for this problem");
  }
}

TEST_F(Choosing, ElseTheNearestTuned) {
  for (const std::int64_t time : {256, 65536}) {
    schedule::Problem other = problem_;
    other.sizes.time = time;
    schedule::Parameters changed = parameters();
    changed["stages"] = time == 256 ? 4 : 2;
    store_best(other, changed, 1);
  }
  const Choice choice = chosen(problem_);
  EXPECT_EQ(choice.origin, ChoiceOrigin::Nearest);
  EXPECT_EQ(choice.parameters.at("stages"), 4);
  EXPECT_NE(choice.note.find("T=256"), std::string::npos) << choice.note;
}

TEST_F(Choosing, ElseTheModelsBest) {
  schedule::Problem other = problem_;
  other.pass = Pass::Backward;
  store_best(other, parameters(), 1);  // of another pass: no help
  const Choice choice = chosen(problem_);
  EXPECT_EQ(choice.origin, ChoiceOrigin::Model);
  EXPECT_EQ(choice.parameters, ranked_candidates({cell_, problem_, profile_})->front().parameters);
  EXPECT_GT(choice.expected_ms, 0);
}

// Passes whose kernels are nearly one share what was tuned for one of them.
class PassesShare : public Choosing {
 protected:
  void use(const std::string& cell, const step::Sizes& sizes) {
    cell_ = testing::library_cell(cell);
    problem_.sizes = sizes;
    ASSERT_TRUE(database_->put_cell({step::canonical_hash(cell_), cell_.name, cell_.source}).ok());
  }
  // The first point, of one strategy or of any, whose time, by the model, is at least `least` times that of
  // the best of all.
  Candidate behind(const schedule::Problem& problem, double least, const std::string& strategy = "") {
    const auto ranked = ranked_candidates({cell_, problem, profile_});
    EXPECT_TRUE(ranked.ok());
    const auto found = std::find_if(ranked->begin(), ranked->end(), [&](const Candidate& candidate) {
      return !candidate.estimate.may_spill && (strategy.empty() || candidate.strategy == strategy) &&
             candidate.estimate.seconds >= least * ranked->front().estimate.seconds;
    });
    EXPECT_NE(found, ranked->end());
    return *found;
  }
  // Of the strategy that store_best() records unless told otherwise.
  schedule::Parameters slower(const schedule::Problem& problem, double least) {
    return behind(problem, least, "stream").parameters;
  }
  static schedule::Problem of_pass(schedule::Problem problem, Pass pass, bool save_products = false) {
    problem.pass = pass;
    problem.save_products = save_products;
    return problem;
  }
  void expect_shared(const schedule::Problem& tuned, const schedule::Problem& untuned) {
    const Candidate candidate = behind(tuned, 1.05);
    ASSERT_NE(candidate.parameters, best_candidate({cell_, untuned, profile_})->parameters);
    store_best(tuned, candidate.parameters, 0.127, candidate.strategy);
    const Choice choice = chosen(untuned);
    EXPECT_EQ(choice.strategy, candidate.strategy);
    EXPECT_EQ(choice.parameters, candidate.parameters) << schedule::pass_key(untuned);
    EXPECT_STREQ(origin_name(choice.origin), "tuned for another pass");
    EXPECT_NE(choice.note.find("tuned for " + schedule::pass_title(tuned)), std::string::npos) << choice.note;
    EXPECT_TRUE(choice.cubin_key.empty()) << "the other pass's code";
    EXPECT_GT(choice.expected_ms, 0);
  }
};

TEST_F(PassesShare, TheTunedParametersOfTheOther) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  ASSERT_NO_FATAL_FAILURE(use("hgrn", {1, 65536, 1, 1024}));
  expect_shared(of_pass(problem_, Pass::ForwardSave), of_pass(problem_, Pass::Forward));
}

TEST_F(PassesShare, WithAndWithoutSavedProducts) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  ASSERT_NO_FATAL_FAILURE(use("lstm", {16, 1024, 1, 768}));
  expect_shared(of_pass(problem_, Pass::Backward, true), of_pass(problem_, Pass::Backward));
  expect_shared(of_pass(problem_, Pass::ForwardSave), of_pass(problem_, Pass::ForwardSave, true));
}

TEST_F(PassesShare, BothWaysButNotForwardWithBackward) {
  const schedule::Parameters parameters = slower(problem_, 1.05);
  store_best(problem_, parameters, 1);
  EXPECT_EQ(chosen(of_pass(problem_, Pass::ForwardSave)).parameters, parameters);
  EXPECT_EQ(chosen(of_pass(problem_, Pass::Backward)).origin, ChoiceOrigin::Model) << "another kernel";
}

TEST_F(PassesShare, NotWhereTheModelObjects) {
  const schedule::Problem training = of_pass(problem_, Pass::ForwardSave);
  store_best(training, slower(problem_, 1.5), 1);
  const Choice choice = chosen(problem_);
  EXPECT_EQ(choice.origin, ChoiceOrigin::Model);
  EXPECT_EQ(choice.parameters, best_candidate({cell_, problem_, profile_})->parameters);
  EXPECT_NE(choice.note.find("tuned for forward (training)"), std::string::npos) << choice.note;
}

// What was tuned for the pass itself is better evidence, unless its shape is another one altogether.
TEST_F(PassesShare, AfterTheOwnPassAtASimilarShape) {
  const schedule::Parameters own = slower(problem_, 1.05), other = slower(problem_, 1.08);
  ASSERT_NE(own, other);
  store_best(of_pass(problem_, Pass::ForwardSave), other, 1);
  schedule::Problem shape = problem_;
  shape.sizes.time = problem_.sizes.time * 64;
  store_best(shape, own, 1);
  EXPECT_EQ(chosen(problem_).parameters, other);
  shape.sizes.time = problem_.sizes.time + 1;
  store_best(shape, own, 1);
  EXPECT_EQ(chosen(problem_).parameters, own);
}

// A neighbour that this version cannot build does not hide the next one.
TEST_F(PassesShare, TheNextWhereTheNearestCannotBeBuilt) {
  schedule::Parameters strange = parameters();
  strange["channels"] = 7;
  schedule::Problem shape = problem_;
  shape.sizes.time += 1;
  store_best(shape, strange, 1);
  const schedule::Parameters good = slower(problem_, 1.05);
  store_best(of_pass(problem_, Pass::ForwardSave), good, 1);
  EXPECT_EQ(chosen(problem_).parameters, good);
}

TEST_F(Choosing, AMisalignedTensorGetsAVariantOfTheTuned) {
  schedule::Parameters expected = parameters();
  expected["steps"] = 16;  // the ring that narrow copies have (Stream::space)
  expected["stages"] = 4;
  store_best(problem_, expected, 1);
  options_.alignment = 4;
  const Choice choice = chosen(problem_);
  EXPECT_EQ(choice.origin, ChoiceOrigin::Tuned);
  EXPECT_LE(alignment_of(problem_, choice), 4);
  for (const auto& [name, value] : expected)
    EXPECT_TRUE(name == "vector" || choice.parameters.at(name) == value) << name;
  EXPECT_TRUE(choice.cubin_key.empty()) << "the tuned code is not this variant's";
  EXPECT_NE(choice.note.find("aligned to 4 bytes"), std::string::npos) << choice.note;
}

// Code that was verified is the code of these parameters, and of none that were changed for the caller's
// tensors.
TEST_F(Choosing, OnlyWhatIsAsRecordedHasTheCodeThatWasVerified) {
  const db::Platform here{"0.1.0", "GPU-1", "13.0"};
  options_.platform = &here;
  store_best(problem_, parameters(), 1);
  db::Verification verification;
  verification.trial = chosen(problem_).trial;
  verification.batch = problem_.sizes.batch;
  verification.time = problem_.sizes.time;
  verification.platform = here;
  verification.code = "verified";
  verification.passed = true;
  ASSERT_TRUE(database_->record_verification(verification).ok());
  int changed = 0;
  for (const int alignment : {2, 4, 8, 16}) {
    options_.alignment = alignment;
    const Choice choice = chosen(problem_);
    EXPECT_EQ(choice.origin, ChoiceOrigin::Tuned);
    EXPECT_EQ(choice.verified_code, "verified");
    changed += choice.parameters != parameters();
    EXPECT_EQ(choice.cubin_key, choice.parameters == parameters() ? "verified" : "") << alignment;
  }
  EXPECT_GT(changed, 0);
  EXPECT_LT(changed, 4);
}

TEST_F(Choosing, GpusThatNoStrategyServesAreRefused) {
  profile_.name = "NVIDIA V100";
  profile_.target = target::Target::gpu(70);
  const Result<Choice> any = choose({cell_, problem_, profile_});
  ASSERT_FALSE(any.ok());
  EXPECT_EQ(any.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(any.error().message.find("stream: it needs shared memory of thread blocks"), std::string::npos)
      << any.error().message;
  const Status one = check_candidate({cell_, problem_, profile_}, "stream", parameters());
  ASSERT_FALSE(one.ok());
  EXPECT_NE(one.error().message.find("does not serve NVIDIA V100"), std::string::npos) << one.error().message;
}

TEST_F(Choosing, AlignmentHoldsForTheModelToo) {
  options_.database = nullptr;
  for (const int alignment : {2, 4, 8, 16}) {
    options_.alignment = alignment;
    EXPECT_LE(alignment_of(problem_, chosen(problem_)), alignment);
  }
}

TEST_F(Choosing, ParametersThisVersionCannotBuildAreNoChoice) {
  schedule::Parameters strange = parameters();
  strange["channels"] = 7;
  store_best(problem_, strange, 1);
  EXPECT_EQ(chosen(problem_).origin, ChoiceOrigin::Model);
}

TEST_F(Choosing, ParametersAddedSinceARecordAreNeutral) {
  const schedule::Parameters now = parameters();
  EXPECT_EQ(now.at("time_split"), 1);
  EXPECT_EQ(now.at("stream_stores"), 0);
  schedule::Parameters before = now;
  before.erase("time_split");
  before.erase("stream_stores");
  store_best(problem_, before, 1);
  const Choice choice = chosen(problem_);
  EXPECT_EQ(choice.origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(choice.parameters, now);
  EXPECT_TRUE(choice.cubin_key.empty()) << "the code is of another version";
}

// Few channels leave SMs idle unless time is split among them; with many, waiting for each other costs.
TEST_F(Choosing, FewChannelsTakeClustersManyDoNot) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  for (const char* name : {"affine", "mingru", "hgrn"})
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
      schedule::Problem problem = problem_;
      problem.pass = pass;
      const auto cluster = [&](std::int64_t batch, std::int64_t time, std::int64_t dim) {
        problem.sizes = {batch, time, 1, dim};
        const auto best = best_candidate({testing::library_cell(name), problem, profile_});
        EXPECT_TRUE(best.ok());
        return best.ok() ? best->parameters.at("time_split") : 0;
      };
      EXPECT_GE(cluster(1, 65536, 1024), 4) << name;
      for (const std::int64_t time : {4096, 16384, 65536}) EXPECT_EQ(cluster(8, time, 1536), 1) << name;
    }
}

// The compiler alone knows what spills: tuning asks it, a choice by the model cannot.
TEST_F(Choosing, WhatMaySpillIsLeftToTheTuner) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const step::Cell cell = testing::library_cell("mingru");
  problem_.sizes = {1, 65536, 1, 1024};
  const auto ranked = ranked_candidates({cell, problem_, profile_});
  ASSERT_TRUE(ranked.ok());
  const auto may_spill = [](const Candidate& candidate) { return candidate.estimate.may_spill; };
  EXPECT_TRUE(std::any_of(ranked->begin(), ranked->end(), may_spill)) << "the tuner tries them";
  const auto safe = std::find_if_not(ranked->begin(), ranked->end(), may_spill);
  ASSERT_NE(safe, ranked->end());
  for (const Overrides& overrides : {Overrides{}, Overrides{"stream", {}}}) {
    const Result<Choice> choice = choose_with({cell, problem_, profile_}, overrides);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice->parameters, safe->parameters);
  }
  // Asked for by its parameters, it is granted.
  const auto& asked = *std::find_if(ranked->begin(), ranked->end(), may_spill);
  const Result<Choice> granted = choose_with({cell, problem_, profile_}, {"stream", asked.parameters});
  ASSERT_TRUE(granted.ok());
  EXPECT_EQ(granted->parameters, asked.parameters);
}

TEST_F(Choosing, WithoutClustersTheResourceIsNamed) {
  const step::Cell cell = testing::library_cell("affine");
  problem_.sizes = {1, 65536, 1, 1024};
  const auto ranked = ranked_candidates({cell, problem_, profile_});
  ASSERT_TRUE(ranked.ok());
  const auto clustered = std::find_if(ranked->begin(), ranked->end(), [](const Candidate& candidate) {
    return candidate.parameters.at("time_split") > 1 && candidate.parameters.at("exchange") == 0;
  });
  ASSERT_NE(clustered, ranked->end());
  const schedule::Parameters& wanted = clustered->parameters;
  EXPECT_TRUE(check_candidate({cell, problem_, profile_}, "stream", wanted).ok());
  const target::Profile old = target::find_profile("a100").value();
  const Status refused = check_candidate({cell, problem_, old}, "stream", wanted);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("thread blocks of a cluster (sm_90 and later)"), std::string::npos)
      << refused.error().message;
}

TEST_F(Choosing, OverriddenConstantsAreAnotherCell) {
  const step::Cell cell = testing::cell_from(
      "cell c(D) {\n  const k = 2\n  input x[D]\n  state h[D]\n  next h = k * h + x\n  output h\n}\n");
  schedule::Problem changed = problem_;
  changed.constants["k"] = 3;
  EXPECT_NE(database_problem({cell, problem_, profile_}).cell,
            database_problem({cell, changed, profile_}).cell);
  changed.constants["k"] = 2;
  EXPECT_EQ(database_problem({cell, problem_, profile_}).cell,
            database_problem({cell, changed, profile_}).cell);
}

TEST_F(Choosing, AClipIsAnotherCell) {
  store_best(problem_, parameters(), 1);
  ASSERT_EQ(chosen(problem_).origin, ChoiceOrigin::Tuned);
  const step::Cell plain = cell_;
  for (const step::Clip& clip : {step::Clip{2.0, {}}, step::Clip{{}, 2.0}}) {
    cell_ = step::clipped(plain, clip).value();
    EXPECT_NE(database_problem({cell_, problem_, profile_}).cell,
              database_problem({plain, problem_, profile_}).cell);
    EXPECT_EQ(chosen(problem_).origin, ChoiceOrigin::Model)
        << "what is tuned without the bound is not its best";
  }
}

// A bound of the gradient changes the backward kernel's text, and with it the cubin's key.
TEST(PlanOfClippedCell, HasAnotherSource) {
  const step::Cell plain = testing::library_cell("paragru");
  const schedule::Problem problem = testing::problem_of(Pass::Backward);
  std::set<std::string> keys;
  for (const step::Clip& clip :
       {step::Clip{}, step::Clip{{}, 2.0}, step::Clip{{}, 3.0}, step::Clip{2.0, {}}}) {
    const auto cell = std::make_shared<const step::Cell>(step::clipped(plain, clip).value());
    keys.insert(uncompiled_plan(std::make_shared<const schedule::Task>(*cell, problem, target::board()),
                                testing::stream_plan(*cell, problem), backend::preferred_backend(), "12.4")
                    .value()
                    .key.hash());
  }
  EXPECT_EQ(keys.size(), 4U);
}

TEST(Candidates, AreRankedAndLegal) {
  const step::Cell cell = testing::library_cell("mingru");
  const schedule::Problem problem = testing::problem_of(Pass::Forward);
  const target::Profile profile = target::find_profile("h200").value();
  const auto candidates = ranked_candidates({cell, problem, profile});
  ASSERT_TRUE(candidates.ok()) << candidates.error().message;
  EXPECT_GT(candidates->size(), 100u);
  for (std::size_t i = 1; i < candidates->size(); ++i)
    ASSERT_LE((*candidates)[i - 1].estimate.seconds, (*candidates)[i].estimate.seconds);
  for (std::size_t i = 0; i < candidates->size(); i += 97)
    EXPECT_TRUE(
        check_candidate({cell, problem, profile}, (*candidates)[i].strategy, (*candidates)[i].parameters)
            .ok());
}

TEST(Candidates, CellsThatNoStrategyComputesSayWhy) {
  const step::Cell cell = testing::cell_from(
      "cell norm(D) {\n  input x[D]\n  state h[D]\n  next h = h + x / sum(x)\n  output h\n}\n");
  schedule::Problem problem = testing::problem_of(Pass::Forward);
  problem.sizes.dim = 70000;  // more channels than a cluster of stream holds
  const auto candidates = ranked_candidates({cell, problem, target::find_profile("h200").value()});
  ASSERT_FALSE(candidates.ok());
  EXPECT_EQ(candidates.error().kind, ErrorKind::Unsupported);
  for (const char* why : {"stream: ", "shoot: the step", "persistent: the step multiplies by no matrix",
                          "alternating: the step multiplies by no matrix"})
    EXPECT_NE(candidates.error().message.find(why), std::string::npos) << candidates.error().message;
}

// Each way to a choice: by the model, from the database, with given parameters, and the list of all points.
TEST_F(Choosing, ConstantsThatTheCellHasNotAreRefused) {
  store_best(problem_, parameters(), 0.5);
  schedule::Problem problem = problem_;
  problem.constants = {{"misspelt", 2}};
  const auto refused = [](const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::Input);
    EXPECT_NE(error.message.find("has no constant 'misspelt'"), std::string::npos) << error.message;
  };
  const auto choice = choose({cell_, problem, profile_}, options_);
  ASSERT_FALSE(choice.ok());
  refused(choice.error());
  const auto given = choose_with({cell_, problem, profile_}, {"stream", {}});
  ASSERT_FALSE(given.ok());
  refused(given.error());
  const auto all = ranked_candidates({cell_, problem, profile_});
  ASSERT_FALSE(all.ok());
  refused(all.error());
  const Status one = check_candidate({cell_, problem, profile_}, "stream", parameters());
  ASSERT_FALSE(one.ok());
  refused(one.error());
}

// Tensors that are aligned as a configuration needs them are aligned enough for it.
TEST(Candidates, AreAllThatNeedNoMoreAlignment) {
  const step::Cell cell = testing::library_cell("mingru");
  const schedule::Task task{cell, testing::problem_of(Pass::Forward), target::find_profile("h200").value()};
  const auto all = ranked_candidates(task);
  ASSERT_TRUE(all.ok());
  for (const int alignment : {2, 4, 8, 16}) {
    const auto needing_no_more = std::count_if(all->begin(), all->end(), [&](const Candidate& candidate) {
      return schedule::find_strategy(candidate.strategy)->alignment(task.problem, candidate.parameters) <=
             alignment;
    });
    ASSERT_GT(needing_no_more, 0);
    const auto candidates = ranked_candidates(task, alignment);
    ASSERT_TRUE(candidates.ok()) << candidates.error().message;
    EXPECT_EQ(std::ssize(*candidates), needing_no_more) << alignment;
    const auto best = best_candidate(task, alignment);
    EXPECT_TRUE(best.ok());
  }
}

TEST(Candidates, TheBestOfThoseGrantedIsTheFirstOfTheList) {
  const step::Cell cell = testing::library_cell("mingru");
  const schedule::Task task{cell, testing::problem_of(Pass::Forward), target::find_profile("h200").value()};
  const auto all = ranked_candidates(task, kFullAlignment, "stream");
  ASSERT_TRUE(all.ok());
  for (const int stages : {2, 3, 4}) {
    const auto granted = [&](const Candidate& candidate) {
      return candidate.parameters.at("stages") == stages && !candidate.estimate.may_spill;
    };
    const auto first = std::find_if(all->begin(), all->end(), granted);
    ASSERT_NE(first, all->end());
    const auto best = best_candidate(task, kFullAlignment, "stream", granted);
    ASSERT_TRUE(best.ok() && *best);
    EXPECT_EQ((*best)->parameters, first->parameters);
  }
  const auto none = best_candidate(task, kFullAlignment, "stream", [](const Candidate&) { return false; });
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(*none);
}

TEST(Candidates, ImpossibleAlignmentIsExplained) {
  const auto candidates =
      ranked_candidates({testing::library_cell("mingru"), testing::problem_of(Pass::Forward),
                         target::find_profile("h200").value()},
                        1);
  ASSERT_FALSE(candidates.ok());
  EXPECT_NE(candidates.error().message.find("aligned to 1 bytes"), std::string::npos)
      << candidates.error().message;
}

}  // namespace
}  // namespace rondo::engine
