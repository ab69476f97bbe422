// What is stored carries its proof: where its code was verified and its time measured. What comes from
// elsewhere brings claims only.
#include <algorithm>
#include <cstdlib>

#include "tests/tuning_db/fixture.h"
#include "tuning_db/schema.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

class ProofTest : public DatabaseTest {
 protected:
  std::int64_t record(Database& to, const Trial& trial, const Problem& problem = sample_problem()) {
    return must(to.record_trial(must(to.upsert_problem(problem)), trial));
  }
  std::int64_t best(Database& to, const Trial& trial, const Problem& problem = sample_problem()) {
    const std::int64_t id = record(to, trial, problem);
    must(to.set_best(id, Replace::Always));
    return id;
  }
  std::int64_t verified_best(double median_ms) {
    const std::int64_t id = best(db, sample_trial(median_ms));
    must(db.record_verification(sample_verification(id)));
    return id;
  }
  // A copy of the file that the first version wrote.
  std::string earlier_file() const {
    const char* moved = std::getenv("RONDO_SOURCE_DIR");
    const std::string source = moved != nullptr ? moved : RONDO_SOURCE_DIR;
    const std::string copy = folder + "/earlier.db";
    std::filesystem::copy_file(source + "/tests/tuning_db/fixtures/earlier_names.db", copy);
    return copy;
  }
  Database other() { return sample_database(folder + "/other.db"); }
  std::int64_t best_id() { return must(db.find_best(sample_problem()))->trial.id; }
  std::optional<Verification> verification(const Platform& platform, const Problem& wanted) {
    const std::vector<Neighbour> found = must(db.neighbours(wanted, {}, &platform));
    return found.empty() ? std::nullopt : found.front().verification;
  }

  Database db = sample_database(file);
};

TEST_F(ProofTest, AnImportThatClaimsToBeFasterDoesNotReplaceWhatWasVerifiedHere) {
  const std::int64_t mine = verified_best(2);
  Database second = other();
  best(second, sample_trial(1.5, R"({"claims":"more"})"));
  EXPECT_EQ(must(db.import_json(must(second.export_json()), "x.json")).best, 0);
  EXPECT_EQ(best_id(), mine);
  EXPECT_EQ(must(db.merge_database(second.path())).best, 0);
  EXPECT_EQ(best_id(), mine);
  EXPECT_EQ(must(db.trials(sample_problem())).size(), 2u) << "it is kept as a trial";
}

TEST_F(ProofTest, AnImportIsACandidateWhereNothingWasVerified) {
  best(db, sample_trial(2));
  Database second = other();
  best(second, sample_trial(1.5));
  EXPECT_EQ(must(db.merge_database(second.path())).best, 1);
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.median_ms, 1.5);
}

TEST_F(ProofTest, AbsurdTimesAreRefusedAndNothingOfTheFileIsTaken) {
  Database second = other();
  best(second, sample_trial(1));
  const std::string good = must(second.export_json());
  const auto with = [&](const std::string& time) {
    std::string text = good;
    const std::string from = "\"median_ms\": 1.0";
    return text.replace(text.find(from), from.size(), "\"median_ms\": " + time);
  };
  expect_error(
      db.import_json(with("1e-9"), "x.json"), ErrorKind::Input,
      "problems[0].trials[0]: trial of strategy 'stream' claims a median of 1e-09 ms; nothing takes less");
  expect_error(db.import_json(with("0"), "x.json"), ErrorKind::Input, "median of 0 ms");
  expect_error(db.import_json(with("-1"), "x.json"), ErrorKind::Input, "median of -1 ms");
  expect_error(db.import_json(with("1e999"), "x.json"), ErrorKind::Input, "'x.json': a number is too large");
  expect_error(db.import_json(with("NaN"), "x.json"), ErrorKind::Input, "not JSON");
  EXPECT_EQ(must(db.stats()).trials, 0);
  EXPECT_TRUE(db.import_json(with("0.001"), "x.json").ok());

  Database third = sample_database(folder + "/third.db");
  best(third, sample_trial(1e-9));
  expect_error(db.merge_database(third.path()), ErrorKind::Input, "nothing takes less");
}

// A thread of a CPU begins without a launch.
TEST_F(ProofTest, CpusMayBeQuickerThanGpus) {
  Problem cpu = sample_problem(1, 1);
  cpu.arch = "x86-64-v4";
  EXPECT_LT(least_ms(cpu), 1e-4);
  EXPECT_GT(least_ms(cpu), 0);
  must(db.set_best(must(db.record_trial(must(db.upsert_problem(cpu)), sample_trial(1e-4))), Replace::Always));
  Database second = other();
  EXPECT_EQ(must(second.import_json(must(db.export_json()), "own.json")).best, 1) << "one's own export";
  Database third = sample_database(folder + "/third.db");
  EXPECT_EQ(must(third.merge_database(second.path())).best, 1);
}

// What failed here is in nobody's way, however quick it claims to be.
TEST_F(ProofTest, ABestThatIsWrongHereGivesWayToAnImport) {
  Verification wrong = sample_verification(best(db, sample_trial(0.5)));
  wrong.passed = false;
  must(db.record_verification(wrong));
  Database second = other();
  best(second, sample_trial(2, R"({"is":"right"})"));
  EXPECT_EQ(must(db.import_json(must(second.export_json()), "x.json")).best, 1);
  EXPECT_EQ(must(db.find_best(sample_problem()))->trial.median_ms, 2);
}

TEST_F(ProofTest, TheLeastTimeGrowsWithTheResults) {
  EXPECT_DOUBLE_EQ(least_ms(sample_problem(1, 1)), 0.5e-3);
  EXPECT_DOUBLE_EQ(least_ms(sample_problem(1 << 10, 1 << 20)), 2.0 * (1 << 30) / 100e9);
}

TEST_F(ProofTest, ANumberThatWasFoundWrongHereDoesNotComeBackAsBest) {
  Database second = other();
  best(second, sample_trial(1));
  const std::string text = must(second.export_json());
  ASSERT_EQ(must(db.import_json(text, "x.json")).best, 1);
  Verification wrong = sample_verification(best_id());
  wrong.passed = false;
  must(db.record_verification(wrong));
  const std::int64_t better = record(db, sample_trial(3, R"({"is":"right"})"));
  must(db.set_best(better, Replace::Always));
  EXPECT_EQ(must(db.import_json(text, "x.json")).best, 0);
  EXPECT_EQ(best_id(), better);
}

TEST_F(ProofTest, VerificationsDoNotTravel) {
  Database second = other();
  must(second.record_verification(sample_verification(best(second, sample_trial(1)))));
  const std::string text = must(second.export_json());
  EXPECT_EQ(text.find("GPU-1"), std::string::npos);
  must(db.merge_database(second.path()));
  EXPECT_TRUE(must(db.verifications(best_id())).empty());
  EXPECT_FALSE(must(db.list())[0].verified_here);
  EXPECT_TRUE(must(second.list())[0].verified_here);
}

TEST_F(ProofTest, CodeThatComesInUnderAKeyVoidsWhatWasVerifiedUnderIt) {
  const std::int64_t mine = best(db, sample_trial(1));
  must(db.record_verification(sample_verification(mine, sample_cubin().key.hash())));
  Database second = other();
  must(second.put_cubin(sample_cubin("other bytes")));
  must(db.merge_database(second.path(), {}, Database::Kernels::Taken));
  EXPECT_TRUE(must(db.verifications(mine)).empty());
  // Code that was there already stays, with its proof.
  must(db.record_verification(sample_verification(mine, sample_cubin().key.hash())));
  must(db.merge_database(second.path(), {}, Database::Kernels::Taken));
  EXPECT_EQ(must(db.verifications(mine)).size(), 1u);
}

TEST_F(ProofTest, AClaimGivesWayToATimeMeasuredHere) {
  const Platform here = sample_platform();
  const Contest contest{&here, 0};
  // Claimed, never timed here.
  best(db, sample_trial(0.001, R"({"a":"claim"})"));
  const std::int64_t first = record(db, sample_trial(2));
  must(db.record_verification(sample_verification(first)));
  EXPECT_TRUE(must(db.set_best(first, Replace::IfFaster, contest)));
  // Timed here: a slower one does not take its place, unless it was beaten side by side.
  const std::int64_t slower = record(db, sample_trial(3));
  EXPECT_FALSE(must(db.set_best(slower, Replace::IfFaster, contest)));
  EXPECT_TRUE(must(db.set_best(slower, Replace::IfFaster, {&here, first})));
  EXPECT_EQ(best_id(), slower);
}

TEST_F(ProofTest, AnotherVersionDeviceOrDriverIsElsewhere) {
  const Problem problem = sample_problem();
  const std::int64_t mine = verified_best(1);
  const Platform here = sample_platform();
  ASSERT_TRUE(verification(here, problem).has_value());
  EXPECT_TRUE(verification(here, problem)->passed);
  EXPECT_EQ(verification(here, problem)->code, "code");
  for (std::string Platform::*field : {&Platform::rondo_version, &Platform::device, &Platform::driver}) {
    Platform elsewhere = here;
    elsewhere.*field = "other";
    EXPECT_FALSE(verification(elsewhere, problem).has_value());
    const std::int64_t slower = record(db, sample_trial(5));
    EXPECT_TRUE(must(db.set_best(slower, Replace::IfFaster, {&elsewhere, 0}))) << "a time of another machine";
    must(db.set_best(mine, Replace::Always));
  }
  EXPECT_FALSE(must(db.neighbours(problem))[0].verification.has_value()) << "no platform, no proof";
}

// At the wanted sizes, else at the neighbour's own; the later of two codes.
TEST_F(ProofTest, WhatWasVerifiedForTheWantedSizesComesFirst) {
  const std::int64_t mine = verified_best(1);
  const Problem wanted = sample_problem(16, 100);
  EXPECT_EQ(verification(sample_platform(), wanted)->batch, 8);
  Verification wrong = sample_verification(mine);
  wrong.batch = 16;
  wrong.time = 100;
  wrong.passed = false;
  must(db.record_verification(wrong));
  EXPECT_FALSE(verification(sample_platform(), wanted)->passed);
  EXPECT_TRUE(verification(sample_platform(), sample_problem())->passed);
  Verification later = wrong;
  later.code = "another text";
  later.created_at += 1;
  later.passed = true;
  must(db.record_verification(later));
  EXPECT_EQ(verification(sample_platform(), wanted)->code, "another text");
  EXPECT_EQ(must(db.neighbours(wanted, {}, nullptr)).size(), 1u);
  const Platform here = sample_platform();
  EXPECT_EQ(must(db.neighbours(wanted, {}, &here)).size(), 1u) << "one trial, once";
}

TEST_F(ProofTest, VerificationsComeBackWholeAndReplaceEachOther) {
  const std::int64_t mine = best(db, sample_trial(1));
  Verification one = sample_verification(mine);
  must(db.record_verification(one));
  one.passed = one.timed = false;
  one.summary = "h: error 1";
  must(db.record_verification(one));
  const std::vector<Verification> all = must(db.verifications(mine));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].platform, sample_platform());
  EXPECT_EQ(all[0].time, 4096);
  EXPECT_EQ(all[0].summary, "h: error 1");
  EXPECT_EQ(all[0].created_at, 1'700'000'000);
  EXPECT_FALSE(all[0].passed);
  EXPECT_TRUE(all[0].timed) << "comparing it again makes its time no claim";
  one.code = "";
  expect_error(db.record_verification(one), ErrorKind::Input, "names no code");
  one = sample_verification(mine + 1);
  expect_error(db.record_verification(one), ErrorKind::Input, "no trial");
}

// Another pass's kernel is another kernel, of the same parameters.
TEST_F(ProofTest, AVerificationIsOfOnePass) {
  const std::int64_t mine = best(db, sample_trial(1));
  const Platform here = sample_platform();
  Problem other = sample_problem();
  other.pass = other.pass == "fw" ? "fws" : "fw";
  const auto seen_from = [&](const Problem& wanted) {
    return must(db.neighbours(wanted, {sample_problem().pass}, &here)).front().verification;
  };
  Verification wrong = sample_verification(mine);
  wrong.pass = other.pass;
  wrong.passed = false;
  must(db.record_verification(wrong));
  EXPECT_FALSE(seen_from(sample_problem()).has_value()) << "nothing was found of its own kernel";
  ASSERT_TRUE(seen_from(other).has_value());
  EXPECT_FALSE(seen_from(other)->passed);
  EXPECT_EQ(must(db.import_json(must(db.export_json()), "x.json")).best, 0);
  EXPECT_EQ(best_id(), mine);
  EXPECT_FALSE(must(db.list())[0].verified_here);
  Verification own = sample_verification(mine);
  must(db.record_verification(own));
  EXPECT_TRUE(seen_from(sample_problem())->passed);
  EXPECT_EQ(seen_from(sample_problem())->pass, sample_problem().pass) << "its own where none is named";
  EXPECT_FALSE(seen_from(other)->passed);
  EXPECT_TRUE(must(db.list())[0].verified_here);
  EXPECT_EQ(must(db.verifications(mine)).size(), 2u);
}

// What another pass's kernel did says nothing of a claim's time.
TEST_F(ProofTest, ATimeIsMeasuredForOnePass) {
  const Platform here = sample_platform();
  Verification other = sample_verification(best(db, sample_trial(0.5)));
  other.pass = sample_problem().pass == "fw" ? "fws" : "fw";
  must(db.record_verification(other));
  EXPECT_TRUE(must(db.set_best(record(db, sample_trial(2)), Replace::IfFaster, {&here, 0})));
  Database second = sample_database(folder + "/second.db");
  best(second, sample_trial(1.5, R"({"claims":"more"})"));
  EXPECT_EQ(must(db.merge_database(second.path())).best, 1) << "nothing was verified of the best";
}

// Every member of a proof counts: for a contest its pass, whether it passed and was timed, and all of its
// platform. An import has to know of this very pass's kernel only whether it was right or wrong here.
TEST_F(ProofTest, ABestIsShieldedByAWholeProofAlone) {
  const Platform here = sample_platform();
  const std::string own_pass = sample_problem().pass, other_pass = own_pass == "fw" ? "fws" : "fw";
  Platform machines[] = {here, here, here, here};
  auto& [rondo_version, device, driver] = machines[1];
  rondo_version = machines[2].device = machines[3].driver = "another";
  int number = 0;
  for (const std::string& pass : {own_pass, other_pass})
    for (const bool passed : {true, false})
      for (const bool timed : {true, false})
        for (const Platform& platform : machines) {
          SCOPED_TRACE(pass + (passed ? " passed" : " failed") + (timed ? " timed " : " not timed ") +
                       std::to_string(&platform - machines));
          Database mine = sample_database(folder + "/mine" + std::to_string(++number) + ".db");
          const std::int64_t id = best(mine, sample_trial(2));
          Verification known = sample_verification(id);
          known.pass = pass;
          known.passed = passed;
          known.timed = timed;
          known.platform = platform;
          must(mine.record_verification(known));
          const bool own = pass == own_pass;
          for (const double claimed : {1.5, 2.5}) {
            Database second = sample_database(folder + "/second" + std::to_string(++number) + ".db");
            best(second, sample_trial(claimed, R"({"claims":"another"})"));
            const bool gives_way = own ? !passed : claimed < 2;
            EXPECT_EQ(must(mine.merge_database(second.path())).best, gives_way ? 1 : 0)
                << "import of " << claimed;
            must(mine.set_best(id, Replace::Always));
          }
          const std::int64_t slower = record(mine, sample_trial(3, R"({"timed":"here"})"));
          EXPECT_EQ(must(mine.set_best(slower, Replace::IfFaster, {&here, 0})),
                    !(own && passed && timed && platform == here))
              << "in a contest";
        }
}

TEST_F(ProofTest, AFileOfTheFirstSchemaOpensAndProvesNothing) {
  const std::string copy = earlier_file();
  EXPECT_TRUE(must(Database::is_older(copy)));
  {
    Connection raw(copy, OpenMode::ReadOnly, std::chrono::milliseconds(1000));
    ASSERT_EQ(schema_version(raw), 1);
  }
  Database earlier = must(Database::open(copy));
  EXPECT_EQ(must(earlier.stats()).schema_version, newest_version());
  EXPECT_FALSE(must(Database::is_older(copy)));
  EXPECT_TRUE(must(earlier.check()).empty());
  const std::vector<ProblemSummary> list = must(earlier.list());
  ASSERT_EQ(list.size(), 4u);
  for (const ProblemSummary& summary : list) {
    EXPECT_TRUE(summary.best.has_value());
    EXPECT_FALSE(summary.verified_here);
  }
}

// The third knew neither which bytes were verified nor where a kernel came from: nothing is believed of it.
TEST_F(ProofTest, AFileOfTheThirdSchemaProvesNothing) {
  const std::string path = folder + "/third.db";
  {
    Connection raw(path, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
    migrate(raw, migrations().first(3));
    raw.run_script(
        "INSERT INTO cells VALUES ('c0ffee', 'mingru', 'cell mingru(D) {}');"
        "INSERT INTO devices VALUES ('h200', 'H200', 9, 0, 132, '13.0', '{}', 'shipped', 0);"
        "INSERT INTO problems VALUES (1, 'c0ffee', 'h200', 'sm_90', 8, 4096, 1, 1536, 'x', 'bf16', 'fast', "
        "'fw');"
        "INSERT INTO trials VALUES (1, 1, 'd', 'stream', '{}', 'ok', 1, '', 1.5, 0, 3, 40, 0, 0, 'key', "
        "'0.1.0', 7);"
        "INSERT INTO best VALUES (1, 1);"
        "INSERT INTO verifications VALUES (1, 'fw', 'key', 8, 4096, '0.1.0', 'GPU-1', '13.0', 1, 1, "
        "'agrees', 7);"
        "INSERT INTO cubins VALUES ('key', 's', 'f', 'sm_90', '13.0', '{}', 'x', 7, x'00')");
  }
  Database third = must(Database::open(path));
  EXPECT_EQ(must(third.stats()).schema_version, newest_version());
  ASSERT_EQ(must(third.verifications(1)).size(), 1u);
  EXPECT_EQ(must(third.verifications(1))[0].image, "");
  EXPECT_EQ(provenance(must(third.cubins())[0].origin), "of unknown origin");
  EXPECT_EQ(must(third.find_best(sample_problem()))->trial.median_ms, 1.5);
}

TEST_F(ProofTest, MergingAFileOfTheFirstSchemaLeavesItAsItIs) {
  const std::string earlier = earlier_file(), before = read_bytes(earlier);
  const MergeReport report = must(db.merge_database(earlier));
  EXPECT_EQ(report.best, 4);
  EXPECT_TRUE(read_bytes(earlier) == before);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().filename());
  EXPECT_TRUE(std::none_of(files.begin(), files.end(), [](const std::string& name) {
    return name.find("merging") != std::string::npos;
  }));
}

}  // namespace
}  // namespace rondo::db
