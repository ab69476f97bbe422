#include "tuner/tune/tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/check/verify.h"
#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "engine/machine/device_profile.h"
#include "engine/measure/measure.h"
#include "engine/plan/ready_plan.h"
#include "tests/engine/choice/shipped_layer.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/slow_tests.h"
#include "tests/tuner/search/landscape.h"
#include "tuner/calibrate/calibrate.h"

namespace rondo::tuner {
namespace {

using db::TrialStatus;
using schedule::Pass;

class Recording : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(::testing::TempDir()) /
             ("tune-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db"))
                .string();
    remove_files();
    database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
  }
  void TearDown() override {
    database_.reset();
    remove_files();
  }
  void remove_files() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  std::vector<db::Trial> trials() const {
    return database_->trials(engine::database_problem({cell_, problem_, profile_})).value();
  }
  // A whole search on a table, recorded as tune() does it.
  SearchResult searched(std::vector<testing::Point> points) {
    testing::TableMeasurer machine(std::move(points));
    TrialRecorder recorder(database_.get(), {cell_, problem_, profile_});
    SearchOptions options;
    options.settled = [&](const Row& row) { recorder.record(row); };
    const auto candidates = testing::line(12);
    SearchResult result = search(candidates, machine, options, machine.clock());
    if (result.best) stored_ = recorder.store_best(result.rows[*result.best]);
    EXPECT_EQ(recorder.trouble(), "");
    return result;
  }

  step::Cell cell_ = rondo::testing::library_cell("mingru");
  schedule::Problem problem_ = rondo::testing::problem_of(Pass::Forward);
  target::Profile profile_ = target::find_profile("h200").value();
  std::string path_;
  std::unique_ptr<db::Database> database_;
  bool stored_ = false;
};

TEST_F(Recording, EveryTrialIsStoredWithItsReasonAndTheBestIsVerified) {
  std::vector<testing::Point> points(12);
  for (std::size_t i = 0; i < 12; ++i) points[i].seconds = 1e-3 + 1e-5 * static_cast<double>(i);
  points[1].build = TrialStatus::CompileError;
  points[2].spill_bytes = 400;
  points[3].wrong = true;
  points[3].seconds = 1e-5;
  points[4].seconds = 1;
  points[5].fails = true;
  const SearchResult result = searched(points);
  EXPECT_TRUE(stored_);
  std::map<TrialStatus, int> count;
  for (const db::Trial& trial : trials()) {
    ++count[trial.status];
    EXPECT_EQ(trial.reason.empty(), trial.status == TrialStatus::Ok);
    EXPECT_EQ(trial.rondo_version.empty(), false);
  }
  EXPECT_EQ(trials().size(), 12u) << "each once, the best too";
  EXPECT_EQ(count[TrialStatus::CompileError], 1);
  EXPECT_EQ(count[TrialStatus::Spill], 1);
  EXPECT_EQ(count[TrialStatus::Wrong], 1);
  EXPECT_EQ(count[TrialStatus::Slower], 1);
  EXPECT_EQ(count[TrialStatus::LaunchError], 1);
  const auto best = database_->find_best(engine::database_problem({cell_, problem_, profile_}));
  ASSERT_TRUE(best.ok() && best->has_value());
  EXPECT_TRUE((*best)->trial.verified);
  EXPECT_EQ(engine::parameters_from_json((*best)->trial.parameters), result.rows[0].candidate.parameters);
}

TEST_F(Recording, WithoutAVerifiedResultNothingBecomesBest) {
  std::vector<testing::Point> points(12);
  for (auto& point : points) point.wrong = true;
  const SearchResult result = searched(points);
  EXPECT_FALSE(result.best);
  EXPECT_FALSE(database_->find_best(engine::database_problem({cell_, problem_, profile_}))->has_value());
  TrialRecorder recorder(database_.get(), {cell_, problem_, profile_});
  Row row;
  row.candidate = testing::line(1)[0];
  row.timing = {1e-6, 0, 5};
  row.verified = false;
  EXPECT_FALSE(recorder.store_best(row));
  EXPECT_FALSE(database_->find_best(engine::database_problem({cell_, problem_, profile_}))->has_value());
}

TEST_F(Recording, TheKnownBestIsFoundAmongTheCandidates) {
  const auto candidates = testing::line(12);
  auto known = [&](const std::vector<engine::Candidate>& among) {
    return known_best(*database_, {cell_, problem_, profile_}, among).own;
  };
  EXPECT_FALSE(known(candidates)) << "nothing is tuned yet";
  std::vector<testing::Point> points(12);
  points[8].seconds = 1e-4;
  (void)searched(points);
  EXPECT_EQ(known(candidates), std::optional<std::size_t>(8));
  EXPECT_FALSE(known(testing::line(8))) << "a space that no longer has it";
  problem_.sizes.time += 1;
  EXPECT_FALSE(known(candidates)) << "another problem";
  const auto near = [&] { return known_best(*database_, {cell_, problem_, profile_}, candidates).nearby; };
  EXPECT_EQ(near(), std::vector<std::size_t>{8}) << "the search starts where a like problem's ended";
  problem_.pass = Pass::Backward;
  EXPECT_TRUE(near().empty()) << "no like problem";
}

TEST_F(Recording, ASearchStartsFromTheOtherPassesWinner) {
  const auto candidates = testing::line(12);
  const auto winner_of = [&](Pass pass, std::size_t winner) {
    problem_.pass = pass;
    std::vector<testing::Point> points(12);
    points[winner].seconds = 1e-4;
    (void)searched(points);
  };
  winner_of(Pass::ForwardSave, 7);
  problem_.pass = Pass::Forward;
  KnownBest known = known_best(*database_, {cell_, problem_, profile_}, candidates);
  EXPECT_FALSE(known.own);
  EXPECT_EQ(known.nearby, std::vector<std::size_t>{7});
  winner_of(Pass::Forward, 3);
  known = known_best(*database_, {cell_, problem_, profile_}, candidates);
  EXPECT_EQ(known.own, std::optional<std::size_t>(3));
  EXPECT_EQ(known.nearby, std::vector<std::size_t>{7}) << "beside its own";
}

// This problem's own first, then the nearest, then those like it.
TEST_F(Recording, ASearchStartsFromWhatIsKnown) {
  const auto candidates = testing::line(12);
  rondo::testing::ShippedText text(profile_);
  schedule::Problem like = problem_, near = problem_;
  like.storage = kernel::Storage::F16;
  near.sizes.time *= 2;
  text.add(cell_, like, candidates[2]);
  text.add(cell_, near, candidates[3]);
  text.add(cell_, problem_, candidates[9]);
  const auto starts = [&] { return starts_of(text.layer(), {cell_, problem_, profile_}, candidates); };
  EXPECT_EQ(starts(), (std::vector<std::size_t>{9, 3, 2}));
  for (const std::size_t winner : {4, 5, 6}) {
    near.sizes.time *= 2;
    text.add(cell_, near, candidates[winner]);
  }
  EXPECT_EQ(starts(), (std::vector<std::size_t>{9, 3, 4, 2})) << "many near ones leave room for like ones";
  EXPECT_TRUE(starts_of({}, {cell_, problem_, profile_}, candidates).empty());
}

TEST_F(Recording, ASlowerRunDoesNotReplaceTheBest) {
  (void)searched(std::vector<testing::Point>(12));
  ASSERT_TRUE(stored_);
  std::vector<testing::Point> slower(12);
  for (auto& point : slower) point.seconds = 2e-3;
  (void)searched(slower);
  EXPECT_FALSE(stored_);
}

// Status 8, with the diagnosis as the message.
TEST(Tune, AllWrongIsADiagnosisOfKindWrong) {
  std::vector<testing::Point> points(6);
  for (testing::Point& point : points) point.wrong = true;
  testing::TableMeasurer machine(points);
  const Error error = nothing_worked(search(testing::line(6), machine, {}, machine.clock()));
  EXPECT_EQ(error.kind, ErrorKind::Wrong);
  EXPECT_EQ(error.message.rfind("all 6 candidates that ran give wrong results", 0), 0u) << error.message;
  EXPECT_FALSE(error.hint.empty());
}

// Neither right nor wrong: nothing becomes best, nothing is called wrong, and the data are named.
TEST(Tune, WhatCannotBeToldIsNotCalledWrong) {
  std::vector<testing::Point> points(40);
  for (testing::Point& point : points) point.untold = true;
  testing::TableMeasurer machine(points);
  const SearchResult result = search(testing::line(40), machine, {}, machine.clock());
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.end, SearchEnd::Incomparable);
  EXPECT_LT(machine.verified.size(), 10u) << "all have the same data: it gives up early";
  for (const Row& row : result.rows) EXPECT_NE(row.status, db::TrialStatus::Wrong) << row.reason;
  const Error error = nothing_worked(result);
  EXPECT_EQ(error.kind, ErrorKind::Input);
  EXPECT_NE(error.message.find("h_out cannot be told"), std::string::npos) << error.message;
  EXPECT_EQ(error.hint, "other data");
}

// One of which nothing can be said is passed over where others are right.
TEST(Tune, WhatCannotBeToldIsPassedOver) {
  std::vector<testing::Point> points(12);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i].seconds = 1e-3 * (1 + 0.02 * static_cast<double>(i));
  points[0].untold = true;
  testing::TableMeasurer machine(points);
  const SearchResult result = search(testing::line(12), machine, {}, machine.clock());
  ASSERT_TRUE(result.best);
  EXPECT_NE(result.rows[*result.best].candidate.parameters.at("channels"), 0);
  EXPECT_TRUE(result.rows[*result.best].verified);
}

// Timed in the same run and slower: what it claims does not keep it.
TEST_F(Recording, WhatIsBeatenSideBySideGivesWay) {
  const db::Platform here{"0.1.0", "GPU-1", "13.0"};
  TrialRecorder recorder(database_.get(), {cell_, problem_, profile_}, here);
  const auto candidates = testing::line(12);
  const auto row = [&](std::size_t i, double seconds) {
    Row made;
    made.candidate = candidates[i];
    made.timing = {seconds, 0, 5};
    made.verified = true;
    made.cubin_key = "key" + std::to_string(i);
    return made;
  };
  ASSERT_TRUE(recorder.store_best(row(3, 1e-3)));
  const KnownBest known = known_best(*database_, {cell_, problem_, profile_}, candidates);
  ASSERT_NE(known.own_trial, 0);
  EXPECT_FALSE(recorder.store_best(row(4, 1.1e-3)));
  EXPECT_TRUE(recorder.store_best(row(4, 1.1e-3), db::Replace::IfFaster, known.own_trial));
  EXPECT_EQ(known_best(*database_, {cell_, problem_, profile_}, candidates).own,
            std::optional<std::size_t>(4));
  // Another process has stored a third meanwhile: that one was not beaten.
  EXPECT_FALSE(recorder.store_best(row(5, 1.2e-3), db::Replace::IfFaster, known.own_trial));
  // What the run finds wrong is no choice any more.
  const std::int64_t now = known_best(*database_, {cell_, problem_, profile_}, candidates).own_trial;
  Row wrong = row(4, 1.1e-3);
  wrong.verified = false;
  wrong.status = TrialStatus::Wrong;
  wrong.reason = "h: error 1";
  recorder.refute(now, wrong);
  EXPECT_EQ(recorder.trouble(), "");
  const auto near =
      database_->neighbours(engine::database_problem({cell_, problem_, profile_}), {}, &here).value();
  ASSERT_EQ(near.size(), 1u);
  ASSERT_TRUE(near[0].verification.has_value());
  EXPECT_FALSE(near[0].verification->passed);
}

TEST_F(Recording, AReadOnlyDatabaseIsToldNotFatal) {
  database_.reset();
  { auto made = db::Database::open(path_); }
  db::Database reader = db::Database::open(path_, {db::Access::ReadOnly}).value();
  TrialRecorder recorder(&reader, {cell_, problem_, profile_});
  EXPECT_NE(recorder.trouble().find("reading only"), std::string::npos);
  Row row;
  recorder.record(row);
  database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
}

// With NVRTC and no GPU in use: the model's choice, compiled clean.
TEST_F(Recording, TunesByModelWithoutAGpu) {
  TuneOptions options;
  options.budget_s = 60;
  options.workers = 2;
  options.database = database_.get();
  const Result<TuneResult> result = tune({cell_, problem_, {}}, {profile_}, options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_NE(result->best(), nullptr);
  EXPECT_FALSE(result->measured);
  EXPECT_FALSE(result->stored_as_best);
  ASSERT_TRUE(result->plan.has_value());
  EXPECT_FALSE(result->plan->executable.images.empty());
  EXPECT_FALSE(result->plan->spills());
  EXPECT_NE(result->summary().find("by model"), std::string::npos) << result->summary();
  EXPECT_FALSE(database_->find_best(engine::database_problem({cell_, problem_, profile_}))->has_value());
  for (const db::Trial& trial : trials())
    EXPECT_NE(trial.status, TrialStatus::Ok) << "untimed trials say nothing";
  // A second compilation of the choice finds its cubin.
  engine::CompileOptions again;
  again.database = database_.get();
  const auto plan = engine::compile_plan(result->plan->task, result->plan->plan, again);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->from_cache);
}

TEST_F(Recording, CancelledTuningWithoutResultsSaysSo) {
  ASSERT_TRUE(backend::preferred_backend().available().ok()) << "no NVRTC: tools/setup installs it";
  const std::atomic<bool> cancel{true};
  TuneOptions options;
  options.cancel = &cancel;
  const Result<TuneResult> result = tune({cell_, problem_, {}}, {profile_}, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Cancelled);
}

TEST(Tune, CellsThatNoStrategyComputesAreUnsupported) {
  const step::Cell cell = rondo::testing::cell_from(
      "cell norm(D) {\n  input x[D]\n  state h[D]\n  next h = h + x / sum(x)\n  output h\n}\n");
  const auto result = tune({cell, rondo::testing::problem_of(Pass::Forward, 70000), {}},
                           {target::find_profile("h200").value()});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
}

TEST(Tune, AStrategyMayBeAskedFor) {
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Forward);
  const target::Profile profile = target::find_profile("h200").value();
  TuneOptions options;
  options.workers = 1;
  options.strategy = "alternating";
  const auto result = tune({rondo::testing::library_cell("elman"), problem, {}}, {profile}, options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  for (const Row& row : result->search.rows) EXPECT_EQ(row.candidate.strategy, "alternating");
  for (const char* wrong : {"stream", "no such"}) {
    options.strategy = wrong;
    const auto refused = tune({rondo::testing::library_cell("elman"), problem, {}}, {profile}, options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::Input);
    EXPECT_NE(refused.error().message.find(wrong), std::string::npos) << refused.error().message;
  }
}

TEST(Verify, ChecksAgainstTheReferenceCatchUnwrittenAndShifted) {
  const step::Cell cell = rondo::testing::library_cell("paragru");
  const schedule::Problem problem = rondo::testing::problem_of(Pass::Forward, 16);
  engine::VerifyCase shape;
  shape.sizes = {2, 9, 2, 16};
  const auto verifier = engine::Verifier::make({cell, problem, {}}, {shape}, 3);
  ASSERT_TRUE(verifier.ok()) << verifier.error().message;
  const auto& run = verifier->cases()[0];
  const schedule::TensorRef out{schedule::Role::Output, cell.of_kind(step::TensorKind::Output).at(0)};
  engine::ReadBack good;
  good.values = *engine::computed_values(out, cell, problem.pass, run.exact);
  for (double& value : good.values)
    value = static_cast<double>(scalar::round_to(problem.storage, static_cast<float>(value)));
  EXPECT_TRUE(verifier->check_tensor(run, out, good)->passed);
  engine::ReadBack unwritten = good;
  unwritten.unwritten = 1;
  EXPECT_FALSE(verifier->check_tensor(run, out, unwritten)->passed);
  engine::ReadBack outside = good;
  outside.gap_writes = 1;
  EXPECT_FALSE(verifier->check_tensor(run, out, outside)->passed);
  engine::ReadBack shifted = good;
  std::rotate(shifted.values.begin(), shifted.values.begin() + 32, shifted.values.end());
  EXPECT_FALSE(verifier->check_tensor(run, out, shifted)->passed);
  engine::ReadBack cut = good;
  cut.values.pop_back();
  EXPECT_FALSE(verifier->check_tensor(run, out, cut).ok());
}

// By the first strategy that computes the cell, at its best by the model.
TEST(Measure, TensorsOfAPassAreThosePlansBind) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  int saved = 0;
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells())
    for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
      for (const bool save_products : {false, true}) {
        const step::Cell cell = rondo::testing::library_cell(embedded.name);
        schedule::Problem problem = rondo::testing::problem_of(pass);
        problem.save_products = save_products;
        const auto choice = engine::choose({cell, problem, target::board()});
        if (!choice) continue;
        const auto plan = engine::build_choice({cell, problem, target::board()}, *choice).value();
        const auto launcher = rondo::testing::launcher_of(cell, problem, plan);
        const std::vector<schedule::TensorRef> given = engine::tensors_of_pass({cell, problem, {}});
        for (const executable::Tensor& tensor : launcher.tensors()) {
          EXPECT_TRUE(schedule::is_internal(tensor.ref.role) ||
                      std::find(given.begin(), given.end(), tensor.ref) != given.end())
              << embedded.name << " " << schedule::pass_key(problem) << " " << tensor.name;
          if (tensor.ref.role != schedule::Role::Products) continue;
          EXPECT_EQ(tensor.need, executable::Need::Required) << tensor.name;
          ++saved;
        }
      }
  EXPECT_GE(saved, 2 * 4) << "both passes of every dense cell";
}

TEST(Calibrate, KeysOfBoards) {
  EXPECT_EQ(engine::device_key("NVIDIA H200"), "h200");
  EXPECT_EQ(engine::device_key("NVIDIA RTX A6000"), "rtx-a6000");
  EXPECT_EQ(engine::device_key(""), "gpu");
}

TEST(Calibrate, AnUnknownBoardStandsOnItsArchitecture) {
  runtime::DeviceInfo info;
  info.name = "NVIDIA GH200";
  info.cc_major = 9;
  info.cc_minor = 0;
  info.sm_count = 132;
  info.shared_per_block_optin = 232448;
  const target::Profile profile = engine::profile_of(info);
  EXPECT_EQ(profile.key, "gh200");
  EXPECT_EQ(profile.arch(), "sm_90");
  EXPECT_EQ(profile.limits.shared_per_block, 232448);
  EXPECT_GT(profile.speeds.copy_bytes_per_s, 1e12);
}

runtime::DeviceInfo h200_info() {
  const target::Profile board = target::find_profile("h200").value();
  runtime::DeviceInfo info;
  info.name = board.name;
  info.cc_major = board.target.major();
  info.sm_count = board.limits.sm_count;
  info.max_threads_per_block = board.limits.threads_per_block;
  info.max_threads_per_sm = board.limits.threads_per_sm;
  info.max_blocks_per_sm = board.limits.blocks_per_sm;
  info.registers_per_sm = board.limits.registers_per_sm;
  info.shared_per_block_optin = board.limits.shared_per_block;
  info.shared_per_sm = board.limits.shared_per_sm;
  info.driver_version = 13000;
  return info;
}

TEST_F(Recording, TheMeasuredProfileIsUsedOnceStored) {
  const runtime::DeviceInfo info = h200_info();
  target::Profile measured = engine::profile_of(info);
  measured.origin = "measured";
  measured.speeds.copy_bytes_per_s = 4.25e12;
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).origin, "public");
  ASSERT_TRUE(engine::store_profile(measured, "13.0", *database_).ok());
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).origin, "measured");
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).speeds.copy_bytes_per_s,
            4.25e12);
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), nullptr).origin, "public");
  // Speeds are what was measured; limits are what the driver says today.
  measured.limits.sm_count = 4000;
  ASSERT_TRUE(engine::store_profile(measured, "13.0", *database_).ok());
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).origin, "measured");
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).limits.sm_count, 132);
}

TEST_F(Recording, AProfileThatNoBoardHasIsNotUsedAndSaysWhy) {
  const runtime::DeviceInfo info = h200_info();
  target::Profile absurd = engine::profile_of(info);
  absurd.origin = "measured";
  absurd.limits.max_cluster = 2147483647;
  absurd.speeds.clock_hz = 0;
  ASSERT_TRUE(engine::store_profile(absurd, "13.0", *database_).ok());
  const auto stored = engine::measured_profile("h200", *database_);
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.error().kind, ErrorKind::Database);
  EXPECT_NE(stored.error().message.find("limits.max_cluster is 2147483647"), std::string::npos)
      << stored.error().message;
  EXPECT_NE(stored.error().message.find("speeds.clock_hz is 0"), std::string::npos) << stored.error().message;
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).origin, "public");
  EXPECT_EQ(engine::current_profile(engine::profile_of(info), database_.get()).limits.max_cluster,
            engine::profile_of(info).limits.max_cluster);
}

}  // namespace
}  // namespace rondo::tuner
