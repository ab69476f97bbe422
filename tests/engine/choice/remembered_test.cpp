// The model's opinion is asked for once: later processes read it, and choose the same.
#include "engine/choice/remembered.h"

#include <fmt/format.h>

#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "tests/engine/choice/tuned_folder.h"
#include "tests/engine/plan/borrowed_strategy.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/turns.h"
#include "tuning_db/sqlite.h"

namespace rondo::engine {
namespace {

using schedule::Pass;
using schedule::Task;

class Remembered : public ::testing::Test {
 protected:
  void SetUp() override { options_.database = database_.get(); }

  Task task() const { return {cell_, problem_, profile_}; }
  Candidate best() { return best(task(), options_); }
  Candidate best(const Task& task, const ChooseOptions& options) {
    Result<Candidate> found = remembered_best(task, options, [this](const Task& asked, int alignment) {
      ++looked_;
      return look_at_all(asked, alignment);
    });
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? *found : Candidate{};
  }
  std::int64_t stored() const { return database_->stats()->opinions; }
  void change(const std::string& sql) const {
    db::Connection connection(database_->path(), db::OpenMode::ReadWriteCreate,
                              std::chrono::milliseconds(1000));
    connection.run_script(("PRAGMA ignore_check_constraints = ON; " + sql).c_str());
  }
  // A legal point that is not the best, stored with the model's price as if it were.
  Candidate plant_another(const Task& task) const {
    const std::vector<Candidate> ranked = ranked_candidates(task).value();
    const Candidate& other = ranked.at(ranked.size() / 2);
    EXPECT_NE(other.parameters, best_candidate(task)->parameters);
    EXPECT_TRUE(database_
                    ->put_opinion({model_id(), asked_of_model(task, kFullAlignment), other.strategy,
                                   parameters_to_json(other.parameters), other.estimate.seconds})
                    .ok());
    return other;
  }

  step::Cell cell_ = testing::library_cell("paragru");
  target::Profile profile_ = target::find_profile("h200").value();
  schedule::Problem problem_ = testing::problem_of(Pass::Forward);
  rondo::testing::TunedFolder database_{profile_, cell_};
  ChooseOptions options_;
  int looked_ = 0;
};

TEST_F(Remembered, TheSpacesAreLookedAtOnce) {
  const Candidate first = best();
  EXPECT_EQ(looked_, 1);
  const Candidate second = best();
  EXPECT_EQ(looked_, 1) << "the second time it is read";
  EXPECT_EQ(second.strategy, first.strategy);
  EXPECT_EQ(second.parameters, first.parameters);
  EXPECT_EQ(second.estimate.seconds, first.estimate.seconds);
  EXPECT_EQ(second.estimate.may_spill, first.estimate.may_spill);
}

// What choose() says is what was remembered, so it looked at no space.
TEST_F(Remembered, AChoiceByModelReadsIt) {
  const Candidate planted = plant_another(task());
  const Choice choice = choose(task(), options_).value();
  EXPECT_EQ(choice.origin, ChoiceOrigin::Model);
  EXPECT_EQ(choice.parameters, planted.parameters);
  EXPECT_EQ(choice.expected_ms, planted.estimate.seconds * 1e3);
  options_.database = nullptr;
  EXPECT_NE(choose(task(), options_)->parameters, planted.parameters) << "without a database";
}

// All that is asked for is part of the question: each change is looked at by itself, once.
TEST_F(Remembered, AnswersTheSameQuestionAlone) {
  struct Question {
    step::Cell cell;
    schedule::Problem problem;
    target::Profile profile;
    ChooseOptions options;
  };
  const std::vector<std::pair<const char*, std::function<void(Question&)>>> changes = {
      {"nothing", [](Question&) {}},
      {"alignment", [](Question& a) { a.options.alignment = 4; }},
      {"a figure of the profile", [](Question& a) { a.profile.speeds.barrier_s *= 2; }},
      {"a limit of the board", [](Question& a) { a.profile.limits.sm_count -= 8; }},
      {"another board", [](Question& a) { a.profile = target::find_profile("h100").value(); }},
      {"all later GPUs", [](Question& a) { a.profile.portable = true; }},
      {"another B", [](Question& a) { a.problem.sizes.batch = 5; }},
      {"another pass", [](Question& a) { a.problem.pass = Pass::ForwardSave; }},
      {"another type", [](Question& a) { a.problem.storage = kernel::Storage::F16; }},
      {"another cell", [](Question& a) { a.cell = testing::library_cell("hgrn"); }},
      {"a form", [](Question& a) { a.cell = step::with_forms(a.cell, {.resets = true}).value(); }},
  };
  for (int round = 0; round < 2; ++round)
    for (const auto& [what, change] : changes) {
      Question asked{cell_, problem_, profile_, options_};
      change(asked);
      const int before = looked_;
      best({asked.cell, asked.problem, asked.profile}, asked.options);
      EXPECT_EQ(looked_ - before, round == 0 ? 1 : 0) << what;
    }
  EXPECT_EQ(stored(), static_cast<std::int64_t>(changes.size()));
}

TEST_F(Remembered, AnotherModelIsNotAnswered) {
  EXPECT_NE(model_id(), model_id(std::string(64, '0'))) << "of other sources";
  EXPECT_NE(model_id(), db::hash_fields("rondo-model-1", {model_sources(), ""})) << "of other strategies";
  best();
  change("UPDATE opinions SET model = '" + model_id(std::string(64, '0')) + "'");
  best();
  EXPECT_EQ(looked_, 2);
  EXPECT_EQ(stored(), 1) << "what the other model thought is gone";
  best();
  EXPECT_EQ(looked_, 2);
}

// Rondo does not know the sources of what a program brings: it may change without notice.
TEST_F(Remembered, NothingWhereTheProgramBringsAStrategy) {
  const testing::Borrowed borrowed;
  const Registration<const schedule::Strategy*> mine(schedule::strategy_registry(), &borrowed);
  for (int turn = 0; turn < 2; ++turn) best();
  EXPECT_EQ(looked_, 2);
  EXPECT_EQ(stored(), 0);
}

TEST_F(Remembered, DamageIsLookedPastAndRepaired) {
  const Candidate right = best();
  schedule::Parameters odd = right.parameters, short_of_one = right.parameters;
  odd.begin()->second = -7;
  short_of_one.erase(short_of_one.begin());
  const std::vector<std::string> damages = {
      "strategy = 'nobody'",
      "strategy = 'persistent'",  // which cannot compute this cell
      "parameters = '{\"a\":'",
      "parameters = '[]'",
      "parameters = '{\"a\":1.5}'",
      "parameters = '" + parameters_to_json(odd) + "'",
      "parameters = '" + parameters_to_json(short_of_one) + "'",
      "seconds = seconds * 2",
  };
  for (const std::string& damage : damages) {
    change("UPDATE opinions SET " + damage);
    const int before = looked_;
    EXPECT_EQ(best().parameters, right.parameters) << damage;
    EXPECT_EQ(looked_ - before, 1) << damage;
    best();
    EXPECT_EQ(looked_ - before, 1) << damage << " is repaired";
  }
}

// A point that needs more alignment than there is, under the question of less.
TEST_F(Remembered, APointThatNeedsMoreAlignmentIsNone) {
  const Candidate full = best();
  options_.alignment = 4;
  ASSERT_FALSE(check_candidate(task(), full.strategy, full.parameters, options_.alignment).ok());
  change("UPDATE opinions SET asked = '" + asked_of_model(task(), options_.alignment) + "'");
  EXPECT_TRUE(check_candidate(task(), best().strategy, best().parameters, options_.alignment).ok());
  EXPECT_EQ(looked_, 2);
}

TEST_F(Remembered, OnlyWhereItMayBeKept) {
  db::Database reader = db::Database::open(database_->path(), {.access = db::Access::ReadOnly}).value();
  options_.database = &reader;
  options_.keep = false;
  best();
  EXPECT_EQ(stored(), 0);
  options_.keep = true;
  best();
  EXPECT_EQ(stored(), 1) << "through a connection of its own";
  best();
  EXPECT_EQ(looked_, 2);
}

TEST_F(Remembered, AnotherProcessInTheWayIsNoError) {
  db::Connection other(database_->path(), db::OpenMode::ReadWriteCreate, std::chrono::milliseconds(0));
  db::Database reader = db::Database::open(database_->path(), {.access = db::Access::ReadOnly}).value();
  other.write([&] {
    for (db::Database* database : {database_.get(), &reader}) {
      options_.database = database;
      EXPECT_FALSE(best().strategy.empty());
    }
  });
  EXPECT_EQ(stored(), 0);
  EXPECT_EQ(looked_, 2);
}

TEST_F(Remembered, ThatNothingComputesItIsNot) {
  problem_.sizes.dim = 0;
  for (int turn = 0; turn < 2; ++turn) EXPECT_FALSE(remembered_best(task(), options_).ok());
  EXPECT_EQ(stored(), 0);
}

std::string text_of(const Result<Choice>& choice) {
  if (!choice) return choice.error().message;
  return fmt::format("{} {} {} {} {}", choice->strategy, schedule::print(choice->parameters), label(*choice),
                     choice->note, choice->expected_ms);
}

// 200 problems: without a database, as it is first asked, and as it remembers.
TEST_F(Remembered, TheChoiceIsTheSame) {
  const std::vector<std::string> cells = {"affine", "gru",   "hgrn",    "indrnn",  "lngru", "lru",   "lstm",
                                          "mingru", "slstm", "paragru", "zoneout", "sru",   "onlstm"};
  const auto& profiles = target::shipped_profiles();
  const kernel::Storage storages[] = {kernel::Storage::BF16, kernel::Storage::F16, kernel::Storage::F32};
  std::mt19937 random(7);
  const auto any = [&random](std::size_t count) { return std::size_t{random()} % count; };
  for (int number = 0; number < 200; ++number) {
    cell_ = testing::library_cell(cells[any(cells.size())]);
    problem_ = testing::problem_of(static_cast<Pass>(any(3)), 8 << any(7), storages[any(3)]);
    problem_.sizes.batch = std::int64_t{1} << any(7);
    problem_.sizes.time = 1 + static_cast<std::int64_t>(any(3000));
    problem_.sizes.heads = 1 + static_cast<std::int64_t>(any(3));
    problem_.save_products = any(4) == 0 && problem_.pass != Pass::Forward;
    profile_ = profiles[any(profiles.size())];
    options_.alignment = any(3) == 0 ? 4 : kFullAlignment;
    if (!rondo::testing::has_turn(number, 8)) continue;
    options_.database = nullptr;
    const std::string plain = text_of(choose(task(), options_));
    options_.database = database_.get();
    const std::int64_t before = stored();
    EXPECT_EQ(text_of(choose(task(), options_)), plain) << number;
    EXPECT_EQ(text_of(choose(task(), options_)), plain) << number << ", remembered";
    EXPECT_EQ(stored() - before, best_candidate(task(), options_.alignment).ok() ? 1 : 0) << number;
  }
}

}  // namespace
}  // namespace rondo::engine
