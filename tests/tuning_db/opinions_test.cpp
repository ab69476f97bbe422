// What cost models thought best: stored for one model at a time, never waited for, and never sent away.
#include <fmt/format.h>

#include <cmath>

#include "tests/tuning_db/fixture.h"
#include "tuning_db/schema.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

class OpinionsTest : public DatabaseTest {
 protected:
  static Opinion opinion(const std::string& asked = "asked", const std::string& model = "model") {
    return {model, asked, "stream", R"({"b":2,"a":1})", 0.1 + 0.2};
  }
  std::optional<Opinion> found(const std::string& asked = "asked", const std::string& model = "model") {
    return must(db.find_opinion(model, asked));
  }
  // Past the checks of the schema, as damage does.
  void change(const std::string& sql) {
    Connection connection(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
    connection.run_script(("PRAGMA ignore_check_constraints = ON; " + sql).c_str());
  }

  Database db = sample_database(file);
};

TEST_F(OpinionsTest, AreFoundAsTheyWereStored) {
  EXPECT_FALSE(found());
  must(db.put_opinion(opinion()));
  const auto known = found();
  ASSERT_TRUE(known);
  EXPECT_EQ(known->strategy, "stream");
  EXPECT_EQ(known->parameters, R"({"a":1,"b":2})");
  EXPECT_EQ(known->seconds, 0.1 + 0.2) << "bit for bit";
  EXPECT_EQ(must(db.stats()).opinions, 1);
  EXPECT_TRUE(must(db.check()).empty());
}

TEST_F(OpinionsTest, AnswerTheirOwnQuestionToTheirOwnModelAlone) {
  must(db.put_opinion(opinion()));
  EXPECT_FALSE(found("another"));
  EXPECT_FALSE(found("asked", "another"));
}

TEST_F(OpinionsTest, TheLaterTakesThePlaceOfTheEarlier) {
  must(db.put_opinion(opinion()));
  Opinion later = opinion();
  later.strategy = "shoot";
  must(db.put_opinion(later));
  EXPECT_EQ(found()->strategy, "shoot");
  EXPECT_EQ(must(db.stats()).opinions, 1);
}

TEST_F(OpinionsTest, ThoseOfOtherModelsGo) {
  for (const char* asked : {"one", "two"}) must(db.put_opinion(opinion(asked, "old")));
  must(db.put_opinion(opinion("three", "new")));
  EXPECT_FALSE(found("one", "old"));
  EXPECT_TRUE(found("three", "new"));
  EXPECT_EQ(must(db.stats()).opinions, 1);
}

TEST_F(OpinionsTest, TheOldestGoWhereThereAreTooMany) {
  must(db.put_opinion(opinion("first")));
  change(
      fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO "
                  "opinions (asked, model, strategy, parameters, seconds, created_at) SELECT 'asked ' || i, "
                  "'model', 'stream', '{{}}', 1, 0 FROM n",
                  Database::kMostOpinions - 1));
  EXPECT_TRUE(found("first"));
  must(db.put_opinion(opinion("last")));
  EXPECT_FALSE(found("first"));
  EXPECT_TRUE(found("asked 1") && found("last"));
  EXPECT_EQ(must(db.stats()).opinions, Database::kMostOpinions);
}

TEST_F(OpinionsTest, WhatSaysNothingIsNotStored) {
  for (std::string Opinion::*member : {&Opinion::model, &Opinion::asked, &Opinion::strategy}) {
    Opinion bad = opinion();
    (bad.*member).clear();
    expect_error(db.put_opinion(bad), ErrorKind::Input, "is empty");
  }
  Opinion bad = opinion();
  bad.seconds = HUGE_VAL;
  expect_error(db.put_opinion(bad), ErrorKind::Input, "inf seconds");
  bad = opinion();
  bad.parameters = "[1]";
  expect_error(db.put_opinion(bad), ErrorKind::Input, "no JSON object");
  EXPECT_EQ(must(db.stats()).opinions, 0);
}

TEST_F(OpinionsTest, ADamagedOneIsAnErrorUntilItIsStoredAgain) {
  must(db.put_opinion(opinion()));
  change("UPDATE opinions SET parameters = '{\"a\":'");
  expect_error(db.find_opinion("model", "asked"), ErrorKind::Database, "parameters of an opinion");
  must(db.put_opinion(opinion()));
  EXPECT_TRUE(found());
}

// It would wait for an hour here.
TEST_F(OpinionsTest, AreNotWorthWaitingForAnotherProcess) {
  Database patient = must(Database::open(file, {.busy_timeout = std::chrono::hours(1)}));
  {
    Connection other(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(0));
    other.write([&] {
      expect_error(patient.put_opinion(opinion()), ErrorKind::Database, "stays locked by another process");
      EXPECT_FALSE(must(patient.find_opinion("model", "asked"))) << "readers need not wait";
    });
  }
  must(patient.put_opinion(opinion()));
  EXPECT_TRUE(found());
}

TEST_F(OpinionsTest, AReaderWritesThroughAnotherConnection) {
  Database reader = must(Database::open(file, {.access = Access::ReadOnly}));
  const auto put = [](Database& database) { return database.put_opinion(opinion()); };
  expect_error(put(reader), ErrorKind::Database, "opened for reading only");
  must(write_to(reader, put));
  EXPECT_TRUE(must(reader.find_opinion("model", "asked")));
  EXPECT_EQ(std::filesystem::file_size(file + "-wal"), 0u) << "it can still be read in a read-only folder";
}

TEST_F(OpinionsTest, NeverTravel) {
  const std::string before = must(db.export_json()), locked = must(db.export_lock());
  must(db.put_opinion(opinion()));
  EXPECT_EQ(must(db.export_json()), before);
  EXPECT_EQ(must(db.export_lock()), locked);
  Database into = must(Database::open(folder + "/into.db"));
  must(into.merge_database(file, {}, Database::Kernels::Taken));
  EXPECT_EQ(must(into.stats()).opinions, 0);
}

TEST_F(OpinionsTest, PruningRemovesTheOld) {
  must(db.put_opinion(opinion("old")));
  change("UPDATE opinions SET created_at = 1000");
  must(db.put_opinion(opinion("new")));
  must(db.prune(2000));
  EXPECT_FALSE(found("old"));
  EXPECT_TRUE(found("new"));
}

// What a file of the fourth version holds stays, and it takes opinions.
TEST_F(OpinionsTest, AFileOfTheVersionBeforeTakesThem) {
  const std::string older = folder + "/older.db";
  {
    Connection connection(older, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000));
    migrate(connection, migrations().first(4));
    connection.run_script("INSERT INTO cells VALUES ('hash', 'mingru', 'cell')");
  }
  Database database = must(Database::open(older));
  EXPECT_EQ(must(database.cells()).size(), 1u);
  must(database.put_opinion(opinion()));
  EXPECT_TRUE(must(database.find_opinion("model", "asked")));
  EXPECT_EQ(must(database.stats()).schema_version, newest_version());
}

}  // namespace
}  // namespace rondo::db
