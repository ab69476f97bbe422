#include "tuning_db/exchange.h"

#include <algorithm>

#include "tests/tuning_db/fixture.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

class ExchangeTest : public DatabaseTest {
 protected:
  std::int64_t add(Database& to, const Problem& problem, const Trial& trial, bool best) {
    const std::int64_t id = must(to.record_trial(must(to.upsert_problem(problem)), trial));
    if (best) must(to.set_best(id, Replace::Always));
    return id;
  }
  Database other() { return sample_database(folder + "/other.db"); }

  Database db = sample_database(file);
};

TEST_F(ExchangeTest, JsonGoesRoundWithoutLoss) {
  Trial failed = sample_trial(1);
  failed.status = TrialStatus::CompileError;
  failed.verified = false;
  failed.median_ms.reset();
  failed.reason = "line 3: \"x\" is undefined\n";
  add(db, sample_problem(), failed, false);
  add(db, sample_problem(), sample_trial(0.1 + 0.2, R"({"stages":4,"threads":64})"), true);
  add(db, sample_problem(16), sample_trial(7), false);
  const std::string text = must(db.export_json());

  Database copy = must(Database::open(folder + "/copy.db"));
  const MergeReport report = must(copy.import_json(text, "x.json"));
  EXPECT_EQ(report.devices, 1);
  EXPECT_EQ(report.cells, 1);
  EXPECT_EQ(report.problems, 2);
  EXPECT_EQ(report.trials, 3);
  EXPECT_EQ(report.best, 1);
  EXPECT_EQ(must(copy.export_json()), text);
  EXPECT_EQ(must(copy.find_best(sample_problem()))->trial.median_ms, 0.1 + 0.2);

  const MergeReport again = must(copy.import_json(text, "x.json"));
  EXPECT_EQ(again.trials, 0);
  EXPECT_EQ(again.known_trials, 3);
  EXPECT_EQ(again.devices + again.cells + again.problems + again.best, 0);
}

// What is shipped: one problem a line, and read like any other export.
TEST_F(ExchangeTest, TheBestAloneIsALineAProblem) {
  must(db.put_cell({"beef", "unused", "text"}));
  add(db, sample_problem(), sample_trial(2), false);
  add(db, sample_problem(), sample_trial(1), true);
  add(db, sample_problem(16), sample_trial(7), false);
  const Contents best = best_of(must(db.contents()));
  ASSERT_EQ(best.problems.size(), 1u);
  ASSERT_EQ(best.problems[0].trials.size(), 1u);
  EXPECT_EQ(best.problems[0].trials[0].median_ms, 1);
  EXPECT_EQ(best.cells.size(), 1u);
  const std::string text = must(to_json(best, Layout::LineAnItem));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 13) << text;
  Database copy = must(Database::open(folder + "/copy.db"));
  EXPECT_EQ(must(copy.import_json(text, "x.json")).best, 1);
  EXPECT_EQ(must(copy.find_best(sample_problem()))->trial.median_ms, 1);
  EXPECT_EQ(must(to_json({}, Layout::LineAnItem)),
            "{\n\"format\": \"rondo-tuning\",\n\"version\": 1,\n\"devices\": [],\n\"cells\": [],\n"
            "\"problems\": []\n}\n");
}

TEST_F(ExchangeTest, ATrialIsFoundByAllThatItHolds) {
  const std::int64_t id = add(db, sample_problem(), sample_trial(2), false);
  Trial same = sample_trial(2);
  same.id = -5;
  same.created_at = must(db.trials(sample_problem())).at(0).created_at;
  const auto found = must(db.find_trial(sample_problem(), same, sample_problem(16)));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->trial.id, id);
  EXPECT_EQ(found->problem, sample_problem());
  EXPECT_FALSE(must(db.find_trial(sample_problem(16), same, sample_problem())).has_value());
  same.median_ms = 3;
  EXPECT_FALSE(must(db.find_trial(sample_problem(), same, sample_problem())).has_value());
}

TEST_F(ExchangeTest, OneCellExportsOnlyWhatBelongsToIt) {
  must(db.put_cell({"beef", "lstm", "text"}));
  must(db.put_device(sample_device("unused")));
  Problem lstm = sample_problem();
  lstm.cell = "beef";
  add(db, lstm, sample_trial(1), true);
  add(db, sample_problem(), sample_trial(2), true);
  const Contents contents = must(db.contents("beef"));
  ASSERT_EQ(contents.problems.size(), 1u);
  EXPECT_EQ(contents.problems[0].problem, lstm);
  ASSERT_EQ(contents.cells.size(), 1u);
  EXPECT_EQ(contents.cells[0].name, "lstm");
  EXPECT_EQ(contents.devices.size(), 1u);
  EXPECT_EQ(must(db.contents()).devices.size(), 2u);
}

TEST_F(ExchangeTest, MergingKeepsTheFasterBest) {
  Database second = other();
  add(db, sample_problem(8), sample_trial(2), true);
  add(db, sample_problem(16), sample_trial(1), true);
  add(second, sample_problem(8), sample_trial(1.5), true);
  add(second, sample_problem(16), sample_trial(3), true);
  add(second, sample_problem(32), sample_trial(9), true);
  add(second, sample_problem(8), sample_trial(0.5, R"({"quick":"and unverified"})"), false);
  must(second.put_cubin(sample_cubin()));

  const MergeReport report = must(db.merge_database(second.path(), {}, Database::Kernels::Taken));
  EXPECT_EQ(report.best, 2);
  EXPECT_EQ(report.trials, 4);
  EXPECT_EQ(report.problems, 1);
  EXPECT_EQ(report.cubins, 1);
  EXPECT_EQ(must(db.find_best(sample_problem(8)))->trial.median_ms, 1.5);
  EXPECT_EQ(must(db.find_best(sample_problem(16)))->trial.median_ms, 1);
  EXPECT_EQ(must(db.find_best(sample_problem(32)))->trial.median_ms, 9);
  EXPECT_EQ(must(db.get_cubin(sample_cubin().key))->image, sample_cubin().image);
  EXPECT_TRUE(must(db.check()).empty());

  const MergeReport again = must(db.merge_database(second.path(), {}, Database::Kernels::Taken));
  EXPECT_EQ(again.trials + again.best + again.problems + again.cubins, 0);
  EXPECT_EQ(must(db.merge_database(db.path())).trials, 0);
}

TEST_F(ExchangeTest, MergingKeepsTheNewerMeasuredProfile) {
  const auto measured = [](int sm_count, std::int64_t at) {
    Device device = sample_device();
    device.origin = Origin::Measured;
    device.sm_count = sm_count;
    device.calibrated_at = at;
    return device;
  };
  Database second = other();
  must(db.put_device(measured(131, 100)));
  EXPECT_EQ(must(db.merge_database(second.path())).devices, 0);  // shipped there
  must(second.put_device(measured(130, 50)));
  EXPECT_EQ(must(db.merge_database(second.path())).devices, 0);
  must(second.put_device(measured(129, 200)));
  EXPECT_EQ(must(db.merge_database(second.path())).devices, 1);
  EXPECT_EQ(must(db.get_device("h200"))->sm_count, 129);
}

TEST_F(ExchangeTest, MergingAFileThatIsNoDatabaseChangesNothing) {
  write_bytes(folder + "/x", std::string(5000, 'x'));
  expect_error(db.merge_database(folder + "/x"), ErrorKind::Database, "is not a database");
  expect_error(db.merge_database(folder + "/none.db"), ErrorKind::Missing, "there is no database");
  EXPECT_EQ(must(db.stats()).trials, 0);
}

TEST_F(ExchangeTest, ADamagedCubinIsNotMerged) {
  Database second = other();
  must(second.put_cubin(sample_cubin()));
  Connection(second.path(), OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000))
      .run("UPDATE cubins SET image = x'00'");
  EXPECT_EQ(must(db.merge_database(second.path(), {}, Database::Kernels::Taken)).cubins, 0);
  EXPECT_TRUE(must(db.cubins()).empty());
}

// They are programs of whoever made the other file.
TEST_F(ExchangeTest, KernelsComeOnlyWhereTheyAreAskedForAndSayWhereFrom) {
  Database second = other();
  must(second.put_cubin(sample_cubin()));
  EXPECT_EQ(must(db.merge_database(second.path())).cubins, 0);
  EXPECT_TRUE(must(db.cubins()).empty());
  EXPECT_EQ(must(db.merge_database(second.path(), {}, Database::Kernels::Taken)).cubins, 1);
  const Cubin merged = *must(db.get_cubin(sample_cubin().key));
  EXPECT_TRUE(merged.foreign());
  EXPECT_EQ(provenance(merged.origin), "merged from '" + second.path() + "'");
  EXPECT_EQ(provenance(must(second.cubins())[0].origin), "compiled on this machine");
  EXPECT_FALSE(must(second.get_cubin(sample_cubin().key))->foreign());
  EXPECT_EQ(provenance("compiled on 0123456789abcdef"), "compiled on another machine");
  // What was compiled here takes its place.
  must(db.put_cubin(sample_cubin()));
  EXPECT_FALSE(must(db.get_cubin(sample_cubin().key))->foreign());
}

TEST_F(ExchangeTest, CodeOfOthersIsBlockedAndOnesOwnIsNot) {
  Database second = other();
  must(second.put_cubin(sample_cubin()));
  must(db.merge_database(second.path(), {}, Database::Kernels::Taken));
  must(db.block_cubin(sample_cubin().key.hash(), "h is wrong"));
  const Cubin blocked = *must(db.get_cubin(sample_cubin().key));
  EXPECT_TRUE(blocked.blocked());
  EXPECT_TRUE(blocked.foreign());
  EXPECT_EQ(provenance(blocked.origin), "blocked: h is wrong");
  must(second.block_cubin(sample_cubin().key.hash(), "h is wrong"));
  EXPECT_FALSE(must(second.get_cubin(sample_cubin().key))->blocked());
}

// Each change of a good export is refused with the place, and nothing of it is stored.
TEST_F(ExchangeTest, BadImportsAreRefusedWhole) {
  Database source = other();
  add(source, sample_problem(), sample_trial(1), true);
  must(source.put_cell({"zzz", "new", "text"}));
  const std::string good = must(source.export_json());
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& part) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    expect_error(db.import_json(bad, "x.json"), ErrorKind::Input, part);
    expect_error(db.import_json(bad, "x.json"), ErrorKind::Input, "'x.json'");
  };
  refused("{", "", "not JSON at byte");
  refused("rondo-tuning", "something", "\"format\" is not \"rondo-tuning\"");
  refused("\"version\": 1", "\"version\": 7", "version 7, but this program reads version 1");
  refused("\"status\": \"ok\"", "\"status\": \"great\"",
          "problems[0].trials[0].status: unknown status 'great'");
  refused("\"verified\": true", "\"verified\": false", "problems[0].trials[0]: is marked best");
  refused("\"verified\": true", "\"verified\": 1", "problems[0].trials[0].verified: true or false");
  refused("\"median_ms\": 1.0", "\"median_ms\": -1.0", "median of -1");
  refused("\"T\": 4096", "\"T\": 0", "problems[0]: the problem's T is 0");
  refused("\"T\": 4096", "\"T\": 4.5", "problems[0].shape.T: an integer");
  refused("\"T\": 4096", "\"T\": 18446744073709551615", "too large");
  refused("\"samples\": 25", "\"samples\": 99999999999",
          "problems[0].trials[0].samples: 99999999999 is too large");
  refused("\"dtype\"", "\"type\"", "problems[0]: 'dtype' is missing");
  refused("\"origin\": \"shipped\"", "\"origin\": \"guessed\"", "devices[0].origin");
  refused("\"profile\": {", "\"profile\": [", "not JSON");
  EXPECT_EQ(must(db.cells()).size(), 1u);
  // A problem whose cell does not come along fails in the database, after other rows were added: all roll
  // back.
  std::string orphan = good;
  orphan.replace(orphan.rfind("c0ffee"), 6, "absent");
  expect_error(db.import_json(orphan, "x.json"), ErrorKind::Input, "cell 'absent'");
  EXPECT_EQ(must(db.cells()).size(), 1u);
  EXPECT_EQ(must(db.stats()).problems, 0);
}

// Brackets without end would take one call each to print.
TEST_F(ExchangeTest, DeepNestingIsRefused) {
  const int depth = 1'000'000;
  std::string deep;
  for (int i = 0; i < depth; ++i) deep += R"({"a":)";
  deep += "0" + std::string(depth, '}');
  expect_error(db.import_json(deep, "x.json"), ErrorKind::Input, "nested deeper than 64");
  expect_error(canonical_object(deep, "parameters"), ErrorKind::Input, "nested deeper than 64");
  Trial trial = sample_trial(1);
  trial.parameters = R"({"text":"[[{{ \" [["})";
  add(db, sample_problem(), trial, true);
  EXPECT_TRUE(must(db.find_best(sample_problem())).has_value());
}

TEST_F(ExchangeTest, ACallersCheckRefusesTheWhole) {
  Database second = other();
  add(second, sample_problem(), sample_trial(1), true);
  const auto check = [](const Contents& contents) -> Status {
    EXPECT_EQ(contents.devices.size(), 1u);
    return Error{ErrorKind::Input, "this device is not wanted", ""};
  };
  expect_error(db.import_json(must(second.export_json()), "x.json", check), ErrorKind::Input, "not wanted");
  expect_error(db.merge_database(second.path(), check), ErrorKind::Input, "not wanted");
  EXPECT_EQ(must(db.stats()).problems, 0);
}

TEST_F(ExchangeTest, TextThatIsNotUtf8CannotBeExported) {
  must(db.put_cell({"bad", "bad", "\xff\xfe"}));
  expect_error(db.export_json(), ErrorKind::Input, "cannot be written as JSON");
}

}  // namespace
}  // namespace rondo::db
