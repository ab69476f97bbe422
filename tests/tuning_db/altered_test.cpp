// Files that are tuning databases by their header, and whose contents somebody or something has changed.
#include "tests/tuning_db/fixture.h"
#include "tuning_db/sqlite.h"

namespace rondo::db {
namespace {

class AlteredTest : public DatabaseTest {
 protected:
  AlteredTest() {
    Database db = sample_database(file);
    must(db.record_trial(must(db.upsert_problem(sample_problem())), sample_trial(1)));
  }
  void alter(const std::string& sql) const {
    Connection(file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(0)).run_script(sql.c_str());
  }
  // Nothing of the file is used, and by no way in.
  void expect_refused(const std::string& part) {
    expect_error(Database::open(file), ErrorKind::Database, part);
    expect_error(Database::open(file, {.access = Access::ReadOnly}), ErrorKind::Database, part);
    Database other = must(Database::open(folder + "/other.db"));
    expect_error(other.merge_database(file), ErrorKind::Database, part);
  }
};

// A row of such a view asks for a gigabyte, or there is no last one.
TEST_F(AlteredTest, AViewInPlaceOfATable) {
  alter(
      "PRAGMA legacy_alter_table = ON; ALTER TABLE cells RENAME TO old_cells;"
      "CREATE VIEW cells AS SELECT 'a' AS hash, 'b' AS name, zeroblob(900000000) AS source, 1 AS rowid");
  expect_refused("its table 'cells' is missing");
}

TEST_F(AlteredTest, ATriggerThatNeverEnds) {
  alter(
      "CREATE TRIGGER more AFTER DELETE ON trials BEGIN INSERT INTO cells WITH RECURSIVE n(i) AS (SELECT 1 "
      "UNION "
      "ALL SELECT i + 1 FROM n) SELECT i, '', '' FROM n; END");
  expect_refused("the trigger 'more', which");
}

TEST_F(AlteredTest, ATableWithAnotherText) {
  alter(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'source TEXT NOT NULL', "
      "'source "
      "TEXT AS (hex(zeroblob(400000000)))') WHERE name = 'cells'");
  expect_refused("its table 'cells' is another one");
}

TEST_F(AlteredTest, AMissingTable) {
  alter("DROP TABLE verifications");
  expect_refused("is missing");
}

TEST_F(AlteredTest, AForeignTableAndIndex) {
  alter("CREATE TABLE notes (x)");
  expect_refused("the table 'notes', which");
  alter("DROP TABLE notes; CREATE INDEX mine ON trials (reason)");
  expect_refused("the index 'mine', which");
}

// SQLite's own statistics change nothing but its plans.
TEST_F(AlteredTest, StatisticsAreNoAlteration) {
  alter("ANALYZE");
  EXPECT_EQ(must(must(Database::open(file)).stats()).trials, 1);
}

// A damaged file may claim a value of any length; memory is not asked for it.
TEST_F(AlteredTest, AValueOfFortyMegabytes) {
  Connection connection(file, OpenMode::ReadOnly, std::chrono::milliseconds(0));
  EXPECT_EQ(connection.integer("SELECT length(zeroblob(30000000))"), 30'000'000);
  EXPECT_THROW(connection.integer("SELECT length(hex(zeroblob(20000000)))"), Failure);
}

// JSON in rows is read and printed by recursion.
TEST_F(AlteredTest, JsonNestedTooDeep) {
  constexpr int kDepth = 200'000;
  std::string nested;
  for (int i = 0; i < kDepth; ++i) nested += R"({"a":)";
  nested += "1" + std::string(kDepth, '}');
  for (const std::string column : {"devices SET profile", "trials SET parameters"}) {
    alter("PRAGMA ignore_check_constraints = ON; UPDATE " + column + " = '" + nested + "'");
    Database db = must(Database::open(file));
    expect_error(db.export_json(), ErrorKind::Database, "nested too deep");
    alter("UPDATE " + column + " = '{}'");
    must(db.export_json());
  }
}

}  // namespace
}  // namespace rondo::db
