#include "tests/tuning_db/fixture.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

constexpr std::int64_t kOld = 1'000, kCut = 2'000, kNew = 3'000;

class CareTest : public DatabaseTest {
 protected:
  std::int64_t add_trial(double median_ms, std::int64_t created_at, const std::string& cubin_key = "") {
    Trial trial = sample_trial(median_ms);
    trial.created_at = created_at;
    trial.cubin_key = cubin_key;
    return must(db.record_trial(must(db.upsert_problem(sample_problem())), trial));
  }
  std::string add_cubin(const std::string& source, std::int64_t created_at) {
    Cubin cubin = sample_cubin(std::string(100'000, 'x'));
    cubin.key.source = source;
    cubin.created_at = created_at;
    return must(db.put_cubin(cubin));
  }

  Database db = sample_database(file);
};

TEST_F(CareTest, PruningKeepsTheBestAndTheNew) {
  const std::string kept = add_cubin("of the best", kOld);
  const std::string dropped = add_cubin("old", kOld);
  const std::string recent = add_cubin("new", kNew);
  const std::int64_t best = add_trial(1, kOld, kept);
  must(db.set_best(best, Replace::Always));
  add_trial(2, kOld, dropped);
  const std::int64_t young = add_trial(3, kNew);

  const PruneReport report = must(db.prune(kCut));
  EXPECT_EQ(report.trials, 1);
  EXPECT_EQ(report.cubins, 1);
  EXPECT_LT(report.bytes_after, report.bytes_before - 90'000);
  const std::vector<Trial> trials = must(db.trials(sample_problem()));
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].id, best);
  EXPECT_EQ(trials[1].id, young);
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.id, best);
  EXPECT_TRUE(must(db.get_cubin(kept)).has_value());
  EXPECT_TRUE(must(db.get_cubin(recent)).has_value());
  EXPECT_FALSE(must(db.get_cubin(dropped)).has_value());
  EXPECT_TRUE(must(db.check()).empty());
  EXPECT_EQ(must(db.prune(kCut)).trials, 0);
}

// The code that was verified of the best may be of another version than the code it was tuned with.
TEST_F(CareTest, PruningKeepsWhatWasVerifiedOfTheBest) {
  const std::string tuned = add_cubin("as tuned", kOld), verified = add_cubin("as verified", kOld);
  const std::int64_t best = add_trial(1, kOld, tuned), other = add_trial(2, kOld);
  must(db.set_best(best, Replace::Always));
  for (const std::int64_t trial : {best, other})
    must(db.record_verification(sample_verification(trial, verified)));
  must(db.prune(kCut));
  EXPECT_TRUE(must(db.get_cubin(tuned)) && must(db.get_cubin(verified)));
  EXPECT_EQ(must(db.verifications(best)).size(), 1u);
  EXPECT_TRUE(must(db.verifications(other)).empty());
  EXPECT_TRUE(must(db.check()).empty());
}

TEST_F(CareTest, StatsCount) {
  const std::int64_t best = add_trial(1, kOld);
  must(db.set_best(best, Replace::Always));
  Trial unverified = sample_trial(2);
  unverified.verified = false;
  must(db.record_trial(must(db.upsert_problem(sample_problem())), unverified));
  add_cubin("x", kOld);
  const Stats stats = must(db.stats());
  EXPECT_EQ(stats.devices, 1);
  EXPECT_EQ(stats.cells, 1);
  EXPECT_EQ(stats.problems, 1);
  EXPECT_EQ(stats.trials, 2);
  EXPECT_EQ(stats.verified, 1);
  EXPECT_EQ(stats.best, 1);
  EXPECT_EQ(stats.cubins, 1);
  EXPECT_EQ(stats.cubin_bytes, 100'000);
  EXPECT_GT(stats.file_bytes, 100'000);
}

TEST_F(CareTest, CheckFindsBrokenReferencesAndUnverifiedBest) {
  must(db.set_best(add_trial(1, kOld), Replace::Always));
  EXPECT_TRUE(must(db.check()).empty());
  Connection raw(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
  raw.run_script("DROP TRIGGER best_trial_stays_verified; UPDATE trials SET verified = 0");
  ASSERT_EQ(must(db.check()).size(), 1u);
  EXPECT_NE(must(db.check())[0].find("best but not verified"), std::string::npos);
  raw.run_script("DELETE FROM cells");
  ASSERT_EQ(must(db.check()).size(), 2u);
  EXPECT_NE(must(db.check())[0].find("'problems' refers to a missing row of 'cells'"), std::string::npos);
}

}  // namespace
}  // namespace rondo::db
