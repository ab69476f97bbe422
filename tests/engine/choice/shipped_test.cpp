// What is shipped lies under the user's database and above the model.
#include <algorithm>
#include <map>

#include "tests/engine/choice/shipped_layer.h"
#include "tests/engine/choice/tuned_folder.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

class Shipped : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.database = database_.get();
    options_.shipped = &layer_;
  }

  // The first point whose time, by the model, is at least `least` times that of the best. The list is made
  // once for each problem.
  Candidate behind(double least) {
    const std::string key =
        step::canonical_hash(cell_) + db::describe(database_problem({cell_, problem_, profile_}));
    auto known = ranked_.find(key);
    if (known == ranked_.end())
      known = ranked_.emplace(key, ranked_candidates({cell_, problem_, profile_}).value()).first;
    const std::vector<Candidate>& ranked = known->second;
    const auto found = std::find_if(ranked.begin(), ranked.end(), [&](const Candidate& candidate) {
      return !candidate.estimate.may_spill &&
             candidate.estimate.seconds >= least * ranked.front().estimate.seconds;
    });
    EXPECT_NE(found, ranked.end());
    return *found;
  }
  void ship(const step::Cell& cell, const schedule::Problem& problem, const Candidate& candidate) {
    text_.add(cell, problem, candidate);
    layer_ = text_.layer();
  }
  void tune(const schedule::Problem& problem, const Candidate& candidate) {
    const auto id = database_->upsert_problem(database_problem({cell_, problem, profile_}));
    db::Trial trial;
    trial.strategy = candidate.strategy;
    trial.parameters = parameters_to_json(candidate.parameters);
    trial.verified = true;
    trial.median_ms = 2;
    const auto recorded = database_->record_trial(*id, trial);
    ASSERT_TRUE(database_->set_best(*recorded, db::Replace::Always).ok());
  }
  static schedule::Problem at(schedule::Problem problem, std::int64_t batch, std::int64_t time) {
    problem.sizes.batch = batch;
    problem.sizes.time = time;
    return problem;
  }
  Choice chosen() {
    Result<Choice> choice = choose({cell_, problem_, profile_}, options_);
    EXPECT_TRUE(choice.ok()) << choice.error().message;
    return choice.ok() ? *choice : Choice{};
  }

  step::Cell cell_ = testing::library_cell("mingru");
  target::Profile profile_ = target::find_profile("h200").value();
  schedule::Problem problem_ = at(testing::problem_of(Pass::Forward), 4, 128);
  testing::ShippedText text_{profile_};
  ShippedLayer layer_;
  std::map<std::string, std::vector<Candidate>> ranked_;
  rondo::testing::TunedFolder database_{profile_, cell_};
  ChooseOptions options_;
};

TEST_F(Shipped, IsTakenWhereTheDatabaseHasNothing) {
  ship(cell_, problem_, behind(1.05));
  for (db::Database* database : {database_.get(), static_cast<db::Database*>(nullptr)}) {
    options_.database = database;
    const Choice choice = chosen();
    EXPECT_EQ(choice.origin, ChoiceOrigin::Shipped);
    EXPECT_EQ(choice.parameters, behind(1.05).parameters);
    EXPECT_EQ(choice.note, "shipped, verified on NVIDIA H200 by rondo 0.0.9 on 1970-01-01");
    EXPECT_DOUBLE_EQ(choice.expected_ms, 1);
    EXPECT_LT(choice.trial, 0) << "no trial of the database";
    EXPECT_EQ(label(choice), "shipped, not verified");
  }
  options_.shipped = nullptr;
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Model);
}

TEST_F(Shipped, GivesWayToTheUsersOwn) {
  ship(cell_, problem_, behind(1.05));
  tune(problem_, behind(1.1));
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Tuned);
  EXPECT_EQ(chosen().parameters, behind(1.1).parameters);
}

TEST_F(Shipped, ForThisVeryProblemGoesBeforeTheUsersNearest) {
  ship(cell_, problem_, behind(1.05));
  tune(at(problem_, 4, 129), behind(1.1));
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Shipped);
}

TEST_F(Shipped, TheNearestOfBothIsTakenAndTheUsersOfEqualOnes) {
  ship(cell_, at(problem_, 4, 256), behind(1.05));
  tune(at(problem_, 4, 4096), behind(1.1));
  EXPECT_EQ(chosen().origin, ChoiceOrigin::NearestShipped);
  EXPECT_EQ(chosen().note,
            "shipped for B=4,T=256 on h200, verified on NVIDIA H200 by rondo 0.0.9 on 1970-01-01");
  tune(at(problem_, 4, 64), behind(1.2));
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Nearest);
  EXPECT_EQ(chosen().parameters, behind(1.2).parameters);
}

// The best for four batch rows splits time, which many rows have no use for.
TEST_F(Shipped, WhatMoreRowsHaveOutgrownIsNotTaken) {
  const schedule::Problem few = problem_ = at(problem_, 1, 4096), many = at(problem_, 512, 4096);
  const Candidate best = behind(1);
  const auto factor = [&](const schedule::Problem& problem) {
    return schedule::find_strategy(best.strategy)->cost({cell_, problem, profile_}, best.parameters).seconds /
           best_candidate({cell_, problem, profile_})->estimate.seconds;
  };
  ASSERT_LE(factor(few), 1.01);
  ASSERT_GT(factor(many), kModelsFactor);
  ship(cell_, few, best);
  problem_ = at(problem_, 1, 5000);
  EXPECT_EQ(chosen().origin, ChoiceOrigin::NearestShipped);
  problem_ = many;
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Model);
  EXPECT_NE(chosen().note.find("not what is tuned for B=1,T=4096"), std::string::npos) << chosen().note;
  EXPECT_NE(chosen().note.find("times where it was tuned"), std::string::npos) << chosen().note;
  options_.shipped = nullptr;
  tune(few, best);
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Model) << "the user's own neither";
}

// Nor is what lies closer behind, but further than stream's model errs.
TEST_F(Shipped, WhatMoreRowsHaveOutgrownALittleIsNotTakenEither) {
  const double error = schedule::find_strategy("stream")->model_error();
  ASSERT_LT(error, kModelsFactor);
  int seen = 0;
  for (std::int64_t batch = 1; batch <= 64; batch += 1 + batch / 4) {
    const schedule::Problem few = problem_ = at(problem_, batch, 4096);
    const Candidate best = behind(1);
    problem_ = at(few, batch + 1 + batch / 4, 4096);
    const double factor =
        schedule::find_strategy(best.strategy)->cost({cell_, problem_, profile_}, best.parameters).seconds /
        best_candidate({cell_, problem_, profile_})->estimate.seconds;
    if (best.strategy != "stream" || factor <= 1.02 * error || factor > kModelsFactor) continue;
    ++seen;
    text_ = testing::ShippedText(profile_);
    ship(cell_, few, best);
    EXPECT_EQ(chosen().origin, ChoiceOrigin::Model) << "B=" << batch << ", " << factor;
  }
  EXPECT_GT(seen, 0);
}

TEST_F(Shipped, AnotherBoardOfTheArchitectureComesAfterThisOne) {
  ship(cell_, at(problem_, 4, 256), behind(1.05));
  profile_ = target::find_profile("h100").value();
  EXPECT_EQ(chosen().origin, ChoiceOrigin::NearestShipped);
  EXPECT_NE(chosen().note.find("on h200"), std::string::npos) << chosen().note;
}

// Where the model does not object: another type, pass, and another cell of the same
// structure.
TEST_F(Shipped, LikeProblemsStartFromIt) {
  const schedule::Problem tuned = problem_;
  const auto expect_alike = [&](const char* what, const std::string& named) {
    const Choice choice = chosen();
    EXPECT_EQ(choice.origin, ChoiceOrigin::ShippedAlike) << what;
    EXPECT_EQ(choice.parameters, behind(1.05).parameters) << what;
    EXPECT_NE(choice.note.find(named), std::string::npos) << what << ": " << choice.note;
    EXPECT_TRUE(choice.cubin_key.empty()) << what << ": another problem's code";
  };
  const auto try_with = [&](const char* what, auto change, const std::string& named) {
    const step::Cell cell = cell_;
    problem_ = tuned;
    change();
    // What is shipped is a good point of the wanted problem too.
    const Candidate point = behind(1.05);
    text_ = testing::ShippedText(profile_);
    ship(cell, tuned, point);
    expect_alike(what, named);
    cell_ = cell;
  };
  try_with(
      "type", [&] { problem_.storage = kernel::Storage::F16; }, "mingru bf16");
  try_with(
      "pass", [&] { problem_.pass = Pass::ForwardSave; }, "forward, B=4,T=128");
  try_with(
      "cell",
      [&] {
        cell_ = testing::cell_from(
            "cell mine(D) {\n input x[2, D]\n state s[D]\n next s = x[1] + s * sigmoid(x[0])\n output s\n}");
      },
      "mingru bf16");
}

TEST_F(Shipped, IsNotTakenForALikeProblemWhereTheModelObjects) {
  problem_.storage = kernel::Storage::F16;
  const Candidate slow = behind(1.15);  // of stream, whose model errs by less
  ASSERT_EQ(slow.strategy, "stream");
  ASSERT_LT(schedule::find_strategy("stream")->model_error(), 1.15);
  schedule::Problem other = problem_;
  other.storage = kernel::Storage::BF16;
  ship(cell_, other, slow);
  const Choice choice = chosen();
  EXPECT_EQ(choice.origin, ChoiceOrigin::Model);
  EXPECT_NE(choice.note.find("not what is shipped for mingru bf16"), std::string::npos) << choice.note;
}

TEST_F(Shipped, IsNotTakenForAnotherNumberOfChannels) {
  const schedule::Problem tuned = problem_;
  problem_.sizes.dim = 128;
  ship(cell_, tuned, behind(1));
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Model);
}

TEST_F(Shipped, ThoseOfAnotherNumberOfChannelsHideNone) {
  schedule::Problem others = problem_;
  others.sizes.dim = 128;
  for (int i = 0; i < 9; ++i) ship(cell_, at(others, 4, 128 + i), behind(1.05));
  schedule::Problem same = problem_;
  same.storage = kernel::Storage::F16;
  ship(cell_, at(same, 64, 128), behind(1.05));
  EXPECT_EQ(chosen().origin, ChoiceOrigin::ShippedAlike) << chosen().note;
}

TEST_F(Shipped, IsNotTakenForCellsOfAnotherStructureOrTheBackwardPass) {
  ship(cell_, problem_, behind(1.05));
  const schedule::Problem tuned = problem_;
  problem_.pass = Pass::Backward;
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Model);
  problem_ = tuned;
  cell_ = testing::library_cell("paragru");  // its derivative depends on the state
  EXPECT_EQ(chosen().origin, ChoiceOrigin::Model);
}

// What a search starts from: another cell of the structure that was tuned into the database counts too.
TEST_F(Shipped, TheDatabasesOwnProblemsAreKnownBesideIt) {
  ship(cell_, problem_, behind(1.05));
  EXPECT_TRUE(known_choices(nullptr, nullptr)->empty());
  EXPECT_EQ(known_choices(&layer_, database_.get())->choices().size(), 1U) << "nothing is tuned";
  tune(at(problem_, 8, 256), behind(1));
  const Result<ShippedLayer> known = known_choices(&layer_, database_.get());
  ASSERT_TRUE(known.ok()) << known.error().message;
  ASSERT_EQ(known->choices().size(), 2U);
  EXPECT_EQ(known->choices().front().problem, layer_.choices().front().problem) << "what is shipped first";
  const step::Cell other = testing::library_cell("hgrn");
  const auto like = known->like(database_problem({other, problem_, profile_}), {}, structure_key(other), 4);
  ASSERT_EQ(like.size(), 2U);
  EXPECT_EQ(like[1]->problem, database_problem({cell_, at(problem_, 8, 256), profile_}));
  EXPECT_EQ(like[1]->trial.parameters, parameters_to_json(behind(1).parameters));
}

TEST(StructureKey, TellsWhatCellsHaveInCommon) {
  const auto key = [](const char* name) { return structure_key(testing::library_cell(name)); };
  EXPECT_EQ(key("mingru"), key("hgrn"));
  EXPECT_NE(key("mingru"), key("paragru"));
  EXPECT_NE(key("lstm"), key("gru"));
  EXPECT_NE(key("lstm"), key("mingru"));
}

TEST(Unlikeness, CountsAsDocumented) {
  db::Problem a{"c", "h200", "sm_90", {16, 1024, 1, 768}, "bf16", "fast", "fw"}, b = a;
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 0);
  b.shape.T = 4096;
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 0.5);
  b.shape = {64, 1024, 1, 768};
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 2);
  b.shape = {16, 1024, 1, 1536};
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 2);
  b.shape = {16, 1024, 4, 768};
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 2);
  b = a;
  b.dtype = "fp32";
  b.math = "accurate";
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 1);
  b.cell = "d";
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 2);
  b.pass = "fws";
  EXPECT_DOUBLE_EQ(unlikeness(a, b), 2.5);
}

TEST(ShippedTuning, AnExportThatIsNoneIsAnError) {
  const Result<ShippedLayer> layer = layer_from("{}", "mine.json");
  ASSERT_FALSE(layer.ok());
  EXPECT_EQ(layer.error().kind, ErrorKind::Input);
  EXPECT_NE(layer.error().message.find("mine.json"), std::string::npos) << layer.error().message;
}

// Every file that the program carries is read, is in its smallest form, and this version builds each choice.
TEST(ShippedTuning, WhatIsEmbeddedCanBeBuilt) {
  for (const EmbeddedText& file : embedded_tuning()) {
    const auto contents = db::contents_from_json(file.text, file.name);
    ASSERT_TRUE(contents.ok()) << contents.error().message;
    EXPECT_EQ(db::to_json(db::best_of(*contents), db::Layout::LineAnItem).value(), file.text) << file.name;
    const Result<ShippedLayer> layer = layer_from(file.text, file.name);
    ASSERT_TRUE(layer.ok()) << layer.error().message;
    EXPECT_EQ(layer->choices().size(), contents->problems.size()) << file.name;
    for (const ShippedChoice& choice : layer->choices()) {
      EXPECT_FALSE(choice.structure.empty()) << choice.cell.name;
      EXPECT_NE(schedule::find_strategy(choice.trial.strategy), nullptr) << choice.trial.strategy;
      EXPECT_TRUE(recorded_parameters(choice.trial).has_value()) << choice.trial.parameters;
    }
  }
  EXPECT_TRUE(shipped_layer().ok());
}

}  // namespace
}  // namespace rondo::engine
