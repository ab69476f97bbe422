#include <limits>
#include <thread>

#include "tests/tuning_db/fixture.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

class TuningTest : public DatabaseTest {
 protected:
  // Records a trial and makes it best.
  std::int64_t best(const Problem& problem, double median_ms) {
    const std::int64_t trial =
        must(db.record_trial(must(db.upsert_problem(problem)), sample_trial(median_ms)));
    EXPECT_TRUE(must(db.set_best(trial, Replace::Always)));
    return trial;
  }
  std::optional<Neighbour> nearest(const Problem& problem) {
    std::vector<Neighbour> found = must(db.neighbours(problem));
    return found.empty() ? std::nullopt : std::optional(found.front());
  }

  Database db = sample_database(file);
};

TEST_F(TuningTest, DevicesComeBackWhole) {
  Device device = sample_device("b200");
  device.origin = Origin::Measured;
  device.calibrated_at = 123;
  must(db.put_device(device));
  const Device stored = must(db.get_device("b200")).value();
  EXPECT_EQ(stored.name, device.name);
  EXPECT_EQ(stored.sm_count, 132);
  EXPECT_EQ(stored.compute_major, 9);
  EXPECT_EQ(stored.driver, "550.54");
  EXPECT_EQ(stored.profile, R"({"clock_hz":1700000000.0})");
  EXPECT_EQ(stored.origin, Origin::Measured);
  EXPECT_EQ(stored.calibrated_at, 123);
  EXPECT_EQ(must(db.devices()).size(), 2u);
  EXPECT_FALSE(must(db.get_device("a100")).has_value());
}

TEST_F(TuningTest, AShippedProfileNeverReplacesAMeasuredOne) {
  Device measured = sample_device();
  measured.origin = Origin::Measured;
  measured.sm_count = 131;
  must(db.put_device(measured));
  must(db.put_device(sample_device()));
  EXPECT_EQ(must(db.get_device("h200"))->sm_count, 131);
  measured.sm_count = 130;
  must(db.put_device(measured));
  EXPECT_EQ(must(db.get_device("h200"))->sm_count, 130);
}

TEST_F(TuningTest, BadDevicesAndCellsAreRefused) {
  Device device = sample_device("");
  expect_error(db.put_device(device), ErrorKind::Input, "key is empty");
  device = sample_device("x");
  device.profile = "nonsense";
  expect_error(db.put_device(device), ErrorKind::Input, "profile of device 'x'");
  expect_error(db.put_cell({"", "gru", ""}), ErrorKind::Input, "hash of cell 'gru'");
}

TEST_F(TuningTest, CellsAreFoundByNameAndHash) {
  must(db.put_cell({"c0ffee", "renamed", "other text"}));
  EXPECT_EQ(must(db.cells()).size(), 1u);
  EXPECT_EQ(must(db.find_cell("mingru"))->hash, "c0ffee");
  EXPECT_EQ(must(db.find_cell("c0f"))->source, sample_cell().source);
  must(db.put_cell({"beef", "mingru", "a later text"}));
  EXPECT_EQ(must(db.find_cell("mingru"))->hash, "beef");
  EXPECT_FALSE(must(db.find_cell("lstm")).has_value());
  EXPECT_FALSE(must(db.find_cell("")).has_value());
  // A start that several hashes have chooses none of them, unless it is a whole hash or a name.
  must(db.put_cell({"c0ff", "lstm", ""}));
  must(db.put_cell({"c0de", "c0f", ""}));
  expect_error(db.find_cell("c0"), ErrorKind::Input, "'c0' begins the hash of several cells: ");
  for (const char* candidate : {"c0ffee (mingru)", "c0ff (lstm)", "c0de (c0f)"})
    expect_error(db.find_cell("c0"), ErrorKind::Input, candidate);
  EXPECT_EQ(must(db.find_cell("c0ff"))->name, "lstm");
  EXPECT_EQ(must(db.find_cell("c0ffe"))->name, "mingru");
  EXPECT_EQ(must(db.find_cell("c0f"))->hash, "c0de") << "a name comes first";
}

// Clips, constants and forms make other cells of a text, and all have its name.
TEST_F(TuningTest, ANameMeansAllCellsThatHaveIt) {
  must(db.put_cell({"beef", "mingru", "the same, clipped"}));
  must(db.put_cell({"cafe", "lstm", ""}));
  Problem problem = sample_problem();
  must(db.upsert_problem(problem));
  problem.cell = "beef";
  must(db.upsert_problem(problem));
  problem.cell = "cafe";
  must(db.upsert_problem(problem));
  EXPECT_EQ(must(db.list("mingru")).size(), 2u);
  EXPECT_EQ(must(db.list("beef")).size(), 1u);
  EXPECT_EQ(must(db.list()).size(), 3u);
  EXPECT_EQ(must(db.contents("mingru")).problems.size(), 2u);
  EXPECT_EQ(must(db.contents("mingru")).cells.size(), 2u);
  EXPECT_EQ(must(db.contents("beef")).cells.size(), 1u);
  EXPECT_EQ(must(db.contents("beef")).devices.size(), 1u);
}

TEST_F(TuningTest, OneProblemHasOneId) {
  const std::int64_t id = must(db.upsert_problem(sample_problem()));
  EXPECT_EQ(must(db.upsert_problem(sample_problem())), id);
  for (std::string Problem::*field : {&Problem::arch, &Problem::dtype, &Problem::math, &Problem::pass}) {
    Problem other = sample_problem();
    other.*field = "other";
    EXPECT_NE(must(db.upsert_problem(other)), id);
  }
  for (std::int64_t Shape::*extent : {&Shape::B, &Shape::T, &Shape::H, &Shape::D}) {
    Problem other = sample_problem();
    other.shape.*extent += 1;
    EXPECT_NE(must(db.upsert_problem(other)), id);
  }
  EXPECT_EQ(must(db.stats()).problems, 9);
}

TEST_F(TuningTest, ProblemsNeedTheirCellAndDevice) {
  Problem problem = sample_problem();
  problem.cell = "unknown";
  expect_error(db.upsert_problem(problem), ErrorKind::Input, "cell 'unknown'");
  problem = sample_problem();
  problem.device = "toaster";
  expect_error(db.upsert_problem(problem), ErrorKind::Input, "device 'toaster'");
  expect_error(db.upsert_problem(sample_problem(0)), ErrorKind::Input, "B is 0");
  EXPECT_EQ(must(db.stats()).problems, 0);
}

TEST_F(TuningTest, TrialsComeBackWholeAndOnce) {
  const std::int64_t problem = must(db.upsert_problem(sample_problem()));
  Trial failed = sample_trial(1, R"({"b":2,"a":1})");
  failed.status = TrialStatus::Spill;
  failed.verified = false;
  failed.median_ms.reset();
  failed.reason = "spills 48 bytes";
  failed.spill_bytes = 48;
  failed.cubin_key = "abc";
  const std::int64_t id = must(db.record_trial(problem, failed));
  EXPECT_EQ(must(db.record_trial(problem, failed)), id);
  must(db.record_trial(problem, sample_trial(0.25)));

  const std::vector<Trial> trials = must(db.trials(sample_problem()));
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].id, id);
  EXPECT_EQ(trials[0].parameters, R"({"a":1,"b":2})");
  EXPECT_EQ(trials[0].status, TrialStatus::Spill);
  EXPECT_EQ(trials[0].reason, "spills 48 bytes");
  EXPECT_EQ(trials[0].spill_bytes, 48);
  EXPECT_EQ(trials[0].cubin_key, "abc");
  EXPECT_FALSE(trials[0].median_ms.has_value());
  EXPECT_EQ(trials[1].median_ms, 0.25);
  EXPECT_EQ(trials[1].spread, 0.01);
  EXPECT_EQ(trials[1].samples, 25);
  EXPECT_EQ(trials[1].registers, 40);
  EXPECT_EQ(trials[1].shared_bytes, 49152);
  EXPECT_EQ(trials[1].rondo_version, "0.1.0");
  EXPECT_EQ(trials[1].created_at, 1'700'000'000);
  EXPECT_TRUE(must(db.trials(sample_problem(77))).empty());
}

TEST_F(TuningTest, TrialsThatContradictThemselvesAreRefused) {
  const std::int64_t problem = must(db.upsert_problem(sample_problem()));
  const auto refused = [&](auto change, const std::string& part) {
    Trial trial = sample_trial(1);
    change(trial);
    expect_error(db.record_trial(problem, trial), ErrorKind::Input, part);
  };
  refused([](Trial& t) { t.strategy = ""; }, "no strategy");
  refused([](Trial& t) { t.parameters = "3"; }, "no JSON object");
  refused([](Trial& t) { t.median_ms = 0; }, "median of 0");
  refused([](Trial& t) { t.median_ms = std::numeric_limits<double>::quiet_NaN(); }, "median of nan");
  refused([](Trial& t) { t.spread = -1; }, "spread of -1");
  refused([](Trial& t) { t.samples = -1; }, "samples");
  refused([](Trial& t) { t.status = TrialStatus::Wrong; }, "both wrong and verified");
  expect_error(db.record_trial(problem + 1, sample_trial(1)), ErrorKind::Input, "no problem");
  EXPECT_EQ(must(db.stats()).trials, 0);
}

TEST_F(TuningTest, BestRefusesWhatIsNotVerified) {
  const std::int64_t problem = must(db.upsert_problem(sample_problem()));
  const auto refused = [&](auto change, const std::string& part) {
    Trial trial = sample_trial(1);
    change(trial);
    const std::int64_t id = must(db.record_trial(problem, trial));
    expect_error(db.set_best(id, Replace::Always), ErrorKind::Input, part);
    // The file itself refuses it too, whoever writes.
    Connection raw(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
    EXPECT_THROW(raw.run("INSERT INTO best (problem, trial) VALUES (?1, ?2)", problem, id), Failure);
  };
  refused([](Trial& t) { t.verified = false; }, "not verified");
  refused([](Trial& t) { t.median_ms.reset(); }, "not timed");
  refused([](Trial& t) { t.status = TrialStatus::Slower; }, "slower");
  refused([](Trial& t) { t.status = TrialStatus::Wrong, t.verified = false; }, "wrong");
  expect_error(db.set_best(4711, Replace::Always), ErrorKind::Input, "no trial 4711");
  EXPECT_FALSE(must(db.find_best(sample_problem())).has_value());
}

TEST_F(TuningTest, TheFileKeepsBestVerified) {
  const std::int64_t good = best(sample_problem(), 1);
  const std::int64_t other_problem = must(db.upsert_problem(sample_problem(16)));
  const std::int64_t other = must(db.record_trial(other_problem, sample_trial(2)));
  Trial unverified = sample_trial(3);
  unverified.verified = false;
  const std::int64_t bad = must(db.record_trial(must(db.upsert_problem(sample_problem())), unverified));

  Connection raw(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
  raw.run_script("PRAGMA foreign_keys = ON");
  EXPECT_THROW(raw.run("UPDATE best SET trial = ?1", bad), Failure);
  EXPECT_THROW(raw.run("UPDATE best SET trial = ?1", other), Failure);  // of another problem
  EXPECT_THROW(raw.run("UPDATE trials SET verified = 0 WHERE id = ?1", good), Failure);
  EXPECT_THROW(raw.run("UPDATE trials SET status = 'timeout' WHERE id = ?1", good), Failure);
  EXPECT_THROW(raw.run("DELETE FROM trials WHERE id = ?1", good), Failure);
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.id, good);
}

TEST_F(TuningTest, ReplaceIfFasterKeepsTheFaster) {
  const std::int64_t problem = must(db.upsert_problem(sample_problem()));
  const std::int64_t first = must(db.record_trial(problem, sample_trial(2)));
  const std::int64_t slower = must(db.record_trial(problem, sample_trial(3)));
  const std::int64_t faster = must(db.record_trial(problem, sample_trial(1)));
  EXPECT_TRUE(must(db.set_best(first, Replace::IfFaster)));
  EXPECT_FALSE(must(db.set_best(slower, Replace::IfFaster)));
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.id, first);
  EXPECT_TRUE(must(db.set_best(faster, Replace::IfFaster)));
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.id, faster);
  EXPECT_TRUE(must(db.set_best(slower, Replace::Always)));
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.id, slower);
}

TEST_F(TuningTest, NearestGoesByBatchFirst) {
  EXPECT_FALSE(nearest(sample_problem()).has_value());
  best(sample_problem(1, 1024), 1);
  best(sample_problem(64, 4096), 2);
  must(db.upsert_problem(sample_problem(8, 4097)));  // nearer, but has no best

  const Neighbour small = nearest(sample_problem(2, 2048)).value();
  EXPECT_EQ(small.problem, sample_problem(1, 1024));
  EXPECT_EQ(small.trial.median_ms, 1);
  EXPECT_NEAR(small.distance.shape, 1.25, 1e-9);
  EXPECT_EQ(nearest(sample_problem(8, 32768))->problem, sample_problem(64, 4096));
  // As many steps in all as the second has; but its batch is nearer to the first.
  EXPECT_EQ(nearest(sample_problem(4, 65536))->problem, sample_problem(1, 1024));
  EXPECT_EQ(nearest(sample_problem(64, 4096))->distance.shape, 0);
}

TEST_F(TuningTest, NearestPrefersTheSameDeviceAtEqualDistance) {
  must(db.put_device(sample_device("h100")));
  Problem other = sample_problem();
  other.device = "h100";
  best(other, 1);
  EXPECT_EQ(nearest(sample_problem())->problem.device, "h100");
  best(sample_problem(), 2);
  EXPECT_EQ(nearest(sample_problem())->problem.device, "h200");
}

TEST_F(TuningTest, NearestNeedsEverythingElseEqual) {
  best(sample_problem(), 1);
  must(db.put_cell({"beef", "lstm", ""}));
  for (std::string Problem::*field :
       {&Problem::cell, &Problem::arch, &Problem::dtype, &Problem::math, &Problem::pass}) {
    Problem other = sample_problem();
    other.*field = "beef";
    EXPECT_FALSE(nearest(other).has_value());
  }
  for (std::int64_t Shape::*extent : {&Shape::H, &Shape::D}) {
    Problem other = sample_problem();
    other.shape.*extent += 1;
    EXPECT_FALSE(nearest(other).has_value());
  }
}

TEST_F(TuningTest, NeighboursOfOtherPassesAreAskedFor) {
  Problem training = sample_problem();
  training.pass = "fws";
  best(training, 1);
  best(sample_problem(8, 4096 * 4), 2);
  EXPECT_EQ(must(db.neighbours(sample_problem())).size(), 1u);
  const std::vector<Neighbour> both = must(db.neighbours(sample_problem(), {"fws", "fws+products"}));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].problem, training) << "the same shape of another pass";
  EXPECT_TRUE(both[0].distance.other_pass);
  EXPECT_FALSE(both[1].distance.other_pass);
  best(sample_problem(8, 4097), 3);
  EXPECT_EQ(must(db.neighbours(sample_problem(), {"fws"}))[0].problem, sample_problem(8, 4097));
}

TEST_F(TuningTest, ListsProblemsWithTheirBest) {
  best(sample_problem(16), 2);
  const std::int64_t problem = must(db.upsert_problem(sample_problem(8)));
  must(db.record_trial(problem, sample_trial(5)));
  must(db.record_trial(problem, sample_trial(6)));
  const std::vector<ProblemSummary> list = must(db.list());
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].problem, sample_problem(8));
  EXPECT_EQ(list[0].cell_name, "mingru");
  EXPECT_EQ(list[0].trials, 2);
  EXPECT_FALSE(list[0].best.has_value());
  EXPECT_EQ(list[1].best->median_ms, 2);
  EXPECT_EQ(must(db.list("c0ffee")).size(), 2u);
  EXPECT_TRUE(must(db.list("beef")).empty());
}

TEST_F(TuningTest, ThreadsMayShareADatabase) {
  const std::int64_t problem = must(db.upsert_problem(sample_problem()));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 25; ++k) must(db.record_trial(problem, sample_trial(1 + i * 100 + k)));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(must(db.trials(sample_problem())).size(), 100u);
}

TEST_F(TuningTest, MovesAndReopens) {
  best(sample_problem(), 1);
  Database moved = std::move(db);
  EXPECT_TRUE(must(moved.find_best(sample_problem())).has_value());
  db = must(Database::open(file));
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.median_ms, 1);
}

}  // namespace
}  // namespace rondo::db
