// Which strategy the model takes for cells with matrices, and what is said when none has room.
#include <filesystem>

#include "compiler/constraint/explain.h"
#include "compiler/schedule/strategies.h"
#include "engine/choice/candidates.h"
#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/ready_plan.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/slow_tests.h"
#include "tests/support/turns.h"

namespace rondo::engine {
namespace {

using kernel::Storage;
using schedule::Pass;

const target::Profile kProfile = target::find_profile("h200").value();

schedule::Problem problem_of(step::Sizes sizes, Storage storage, Pass pass) {
  schedule::Problem problem;
  problem.sizes = sizes;
  problem.storage = storage;
  problem.math = schedule::default_math(storage);
  problem.pass = pass;
  return problem;
}

std::string chosen(const char* cell, step::Sizes sizes, Storage storage, Pass pass) {
  const Result<Choice> choice =
      choose({testing::library_cell(cell), problem_of(sizes, storage, pass), kProfile});
  return choice ? choice->strategy : choice.error().message;
}

// Threads that look at parts of a space find what one finds that looks at all of it, and say the same where
// there is nothing.
TEST(ChooseDense, ThreadsFindTheBestThatOneFinds) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  for (const char* cell : {"lstm", "gru", "mingru", "slstm"})
    for (const Pass pass : {Pass::Forward, Pass::Backward})
      for (const int alignment : {kFullAlignment, 4}) {
        const schedule::Task task(testing::library_cell(cell),
                                  problem_of({32, 256, 1, 1024}, Storage::BF16, pass), kProfile);
        const Result<Candidate> one = best_candidate(task, alignment, 1);
        const Result<Candidate> many = best_candidate(task, alignment, 5);
        ASSERT_EQ(one.ok(), many.ok()) << cell;
        if (!one) {
          EXPECT_EQ(one.error().message, many.error().message);
          continue;
        }
        EXPECT_EQ(one->strategy, many->strategy) << cell;
        EXPECT_EQ(one->parameters, many->parameters) << cell << " " << schedule::print(one->parameters);
        EXPECT_EQ(one->estimate.seconds, many->estimate.seconds);
      }
}

TEST(ChooseDense, PersistentWhereverTheMatricesFit) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  for (const char* cell : {"lstm", "gru", "elman"})
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward})
      for (const std::int64_t dim : {64, 256, 768, 1024})
        for (const std::int64_t batch : {1, 16, 256})
          EXPECT_EQ(chosen(cell, {batch, 1024, 1, dim}, Storage::BF16, pass), "persistent")
              << cell << " D=" << dim << " B=" << batch << " " << schedule::pass_name(pass);
}

TEST(ChooseDense, AlternatingWhereTheyDoNot) {
  int first = 0;  // in a short run each pass has one of the sizes
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
    int turn = first++;
    for (const std::int64_t dim : {2304, 4096, 4099}) {
      if (!rondo::testing::has_turn(turn++)) continue;
      for (const std::int64_t batch : {1, 256})
        EXPECT_EQ(chosen("lstm", {batch, 128, 1, dim}, Storage::F16, pass), "alternating") << dim;
    }
    EXPECT_EQ(chosen("mgu", {16, 1024, 2, 2048}, Storage::F32, pass), "alternating");
  }
}

// A matrix of fp32 needs twice the room.
TEST(ChooseDense, PersistentInFp32) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  for (const char* cell : {"lstm", "gru", "mgu"})
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
      for (const std::int64_t dim : {64, 256, 512})
        EXPECT_EQ(chosen(cell, {16, 1024, 1, dim}, Storage::F32, pass), "persistent") << cell << " " << dim;
  EXPECT_EQ(chosen("lstm", {16, 1024, 1, 1536}, Storage::BF16, Pass::Forward), "persistent");
  EXPECT_EQ(chosen("lstm", {16, 1024, 1, 1536}, Storage::F32, Pass::Forward), "alternating");
}

// What is tuned for products in tf32 is no choice for those in fp32, not even as a neighbour.
TEST(ChooseDense, MathIsPartOfTheProblem) {
  const step::Cell cell = testing::library_cell("gru");
  schedule::Problem accurate = problem_of({16, 1024, 1, 256}, Storage::F32, Pass::Forward), tf32 = accurate;
  tf32.math = kernel::Math::Tf32;
  const db::Problem key = database_problem({cell, accurate, kProfile});
  const db::Problem other = database_problem({cell, tf32, kProfile});
  EXPECT_EQ(key.math, "accurate") << "records from before there was tf32 are still found";
  EXPECT_EQ(other.math, "tf32");
  EXPECT_FALSE(key == other);
  EXPECT_FALSE(db::alike(key, other));
}

// An LSTM of 2048 channels fills the chip of an H200.
TEST(ChooseDense, TheLargestHeadThatFits) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    EXPECT_EQ(chosen("lstm", {16, 1024, 1, 2048}, Storage::BF16, pass), "persistent");
    EXPECT_EQ(chosen("lstm", {16, 1024, 1, 2304}, Storage::BF16, pass), "alternating");
  }
}

// Half of the machine's blocks stand still if a step has fewer than half as many as the machine has SMs.
TEST(ChooseDense, ALargeHeadFillsTheMachine) {
  const auto problem = problem_of({16, 1024, 1, 2048}, Storage::BF16, Pass::Forward);
  const Result<Choice> choice = choose({testing::library_cell("lstm"), problem, kProfile});
  ASSERT_TRUE(choice.ok());
  const auto plan = build_choice({testing::library_cell("lstm"), problem, kProfile}, *choice);
  ASSERT_TRUE(plan.ok());
  EXPECT_GE(schedule::grid_blocks(plan->launches.back(), 16, 1024), 128);
}

// What goes from forward to backward is part of the problem: neither pass takes what was tuned for the other
// way, not even as its neighbour.
TEST(ChooseDense, SavedProductsAreAnotherProblem) {
  const step::Cell cell = testing::library_cell("gru");
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
    schedule::Problem states = problem_of({16, 1024, 1, 256}, Storage::BF16, pass), products = states;
    products.save_products = true;
    const db::Problem key = database_problem({cell, states, kProfile});
    const db::Problem other = database_problem({cell, products, kProfile});
    EXPECT_EQ(key.pass, schedule::pass_name(pass))
        << "records from before there was a choice are still found";
    EXPECT_EQ(key == other, pass == Pass::Forward) << "a forward pass alone saves nothing";
    EXPECT_EQ(db::alike(key, other), pass == Pass::Forward);
  }
}

TEST(ChooseDense, WhatIsTunedForStatesIsNotCalledTunedForProducts) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "choose-saved-products";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  db::Database database = db::Database::open((folder / "tuning.db").string()).value();
  const step::Cell cell = testing::library_cell("gru");
  db::Device device;
  device.key = kProfile.key;
  device.name = kProfile.name;
  ASSERT_TRUE(database.put_device(device).ok());
  ASSERT_TRUE(database.put_cell({step::canonical_hash(cell), cell.name, cell.source}).ok());
  schedule::Problem problem = problem_of({16, 1024, 1, 256}, Storage::BF16, Pass::Backward);
  const Candidate best = best_candidate({cell, problem, kProfile}).value();
  db::Trial trial;
  trial.strategy = best.strategy;
  trial.parameters = parameters_to_json(best.parameters);
  trial.verified = true;
  trial.median_ms = 1;
  const auto id = database.upsert_problem(database_problem({cell, problem, kProfile}));
  ASSERT_TRUE(database.set_best(database.record_trial(id.value(), trial).value(), db::Replace::Always).ok());
  ChooseOptions options;
  options.database = &database;
  EXPECT_EQ(choose({cell, problem, kProfile}, options)->origin, ChoiceOrigin::Tuned);
  problem.save_products = true;
  const Result<Choice> shared = choose({cell, problem, kProfile}, options);
  EXPECT_EQ(shared->origin, ChoiceOrigin::OtherPass);
  EXPECT_TRUE(shared->cubin_key.empty());
}

TEST(ChooseDense, AnEmptySpaceNamesTheResource) {
  const schedule::Strategy* alternating = schedule::find_strategy("alternating");
  const auto problem = problem_of({16, 1024, 1, 2048}, Storage::BF16, Pass::Forward);
  const auto why = [&](const target::Profile& profile) {
    const auto text =
        constraint::explain(alternating->space({testing::library_cell("lstm"), problem, profile}));
    return text ? text->text : text.error().message;
  };
  target::Profile profile = kProfile;
  profile.limits.shared_per_block = 4096;
  EXPECT_NE(why(profile).find("shared memory"), std::string::npos) << why(profile);
  profile = kProfile;
  profile.limits.registers_per_thread = 40;
  EXPECT_NE(why(profile).find("registers a thread"), std::string::npos) << why(profile);
}

}  // namespace
}  // namespace rondo::engine
