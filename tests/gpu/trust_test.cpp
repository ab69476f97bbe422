// Records from elsewhere on a GPU: verified on first use, once, and passed over where they are wrong here.
#include "engine/trust/trusted_plan.h"

#include <algorithm>
#include <filesystem>

#include "tests/gpu/gpu.h"
#include "tuner/tune/tune.h"

namespace rondo::tuner {
namespace {

using engine::ChoiceOrigin;
using rondo::testing::library_cell;

class TrustOnGpu : public rondo::testing::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (HasFatalFailure()) return;
    path_ =
        (std::filesystem::path(::testing::TempDir()) /
         ("trust-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db"))
            .string();
    remove_files();
    database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
    p_ = problem(schedule::Pass::Forward, {4, 300, 1, 128}, kernel::Storage::BF16);
    ASSERT_TRUE(database_->put_device(engine::to_device(gpu_->profile)).ok());
    ASSERT_TRUE(database_->put_cell({step::canonical_hash(cell_), cell_.name, cell_.source}).ok());
    machine_ = engine::find_machine("auto", nullptr).value();
  }
  void TearDown() override {
    database_.reset();
    remove_files();
  }
  void remove_files() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  // As an import leaves it.
  void record(const engine::Candidate& candidate) {
    db::Trial trial;
    trial.strategy = candidate.strategy;
    trial.parameters = engine::parameters_to_json(candidate.parameters);
    trial.verified = true;
    trial.median_ms = 0.001;
    const auto id = database_->upsert_problem(engine::database_problem({cell_, p_, gpu_->profile}));
    const auto recorded = database_->record_trial(id.value(), trial);
    ASSERT_TRUE(database_->set_best(recorded.value(), db::Replace::Always).ok());
  }
  Result<engine::ReadyPlan> trusted(bool strict = false) {
    notes_.clear();
    engine::TrustOptions options;
    options.database = database_.get();
    options.strict = strict;
    options.note = [this](const std::string& note) { notes_.push_back(note); };
    return engine::trusted_plan({cell_, p_, gpu_->profile}, machine_, {}, options);
  }

  step::Cell cell_ = library_cell("mingru");
  schedule::Problem p_;
  std::string path_;
  std::unique_ptr<db::Database> database_;
  engine::Machine machine_;
  std::vector<std::string> notes_;
};

TEST_F(TrustOnGpu, FirstUseVerifiesAndTheSecondIsQuick) {
  record(engine::ranked_candidates({cell_, p_, gpu_->profile})->at(3));
  EXPECT_EQ(trusted(true).error().kind, ErrorKind::Missing) << "--strict";
  const auto first = trusted();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->choice.origin, engine::ChoiceOrigin::Tuned);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("verified on first use"), std::string::npos) << notes_[0];
  const auto second = trusted(true);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_TRUE(second->compiled.from_cache);
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(second->choice.origin, engine::ChoiceOrigin::Tuned);
}

// A short tune leaves a proof, and its winner takes the place of a claim that nothing can reach.
TEST_F(TrustOnGpu, ATunedWinnerReplacesAClaimAndIsProven) {
  record(engine::ranked_candidates({cell_, p_, gpu_->profile})->at(3));
  TuneOptions options;
  options.budget_s = 5;
  options.trial_limit = std::chrono::milliseconds(0);
  options.database = database_.get();
  options.seed = 1;
  const auto tuned = tune({cell_, p_, gpu_->profile}, gpu_->machine(), options);
  ASSERT_TRUE(tuned.ok()) << tuned.error().message;
  EXPECT_TRUE(tuned->stored_as_best) << tuned->summary();
  EXPECT_NE(tuned->best()->at_shape.find("every element beside a plain kernel"), std::string::npos)
      << tuned->best()->at_shape;
  const auto proven = trusted(true);
  ASSERT_TRUE(proven.ok()) << proven.error().message;
  EXPECT_EQ(proven->choice.parameters, tuned->best()->candidate.parameters);
  EXPECT_TRUE(notes_.empty());
}

}  // namespace
}  // namespace rondo::tuner
