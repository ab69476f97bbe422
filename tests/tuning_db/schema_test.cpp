#include "tuning_db/schema.h"

#include <vector>

#include "tests/tuning_db/fixture.h"

namespace rondo::db {
namespace {

class SchemaTest : public DatabaseTest {
 protected:
  Connection open() { return {file, OpenMode::ReadWriteCreate, std::chrono::milliseconds(1000)}; }
  std::vector<Migration> later(const char* sql) {
    std::vector<Migration> steps(migrations().begin(), migrations().end());
    steps.push_back({newest_version() + 1, sql});
    return steps;
  }
};

TEST_F(SchemaTest, StepsAreInOrder) {
  int last = 0;
  for (const Migration& step : migrations()) EXPECT_EQ(step.version, ++last);
  EXPECT_EQ(newest_version(), last);
}

TEST_F(SchemaTest, DigestsAreThoseOfTheSteps) {
  for (const Migration& step : migrations()) {
    Connection connection = open();
    migrate(connection, migrations().first(static_cast<std::size_t>(step.version)));
    EXPECT_EQ(schema_digest(connection), step.digest) << "version " << step.version;
  }
}

TEST_F(SchemaTest, ALaterStepKeepsTheRows) {
  sample_database(file);
  Connection connection = open();
  const auto steps = later("ALTER TABLE cells ADD COLUMN author TEXT NOT NULL DEFAULT ''");
  migrate(connection, steps);
  migrate(connection, steps);  // nothing left to do
  EXPECT_EQ(schema_version(connection, steps), newest_version() + 1);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM cells WHERE author = ''"), 1);
  expect_error(Database::open(file), ErrorKind::Database, "newer than this program's");
}

// A proof of the second version is one of its trial's own pass.
TEST_F(SchemaTest, ProofsOfTheSecondVersionStay) {
  {
    Connection connection = open();
    migrate(connection, migrations().first(2));
    connection.run_script(R"sql(
      INSERT INTO devices VALUES ('h200', 'NVIDIA H200', 9, 0, 132, '', '{}', 'shipped', 0);
      INSERT INTO cells VALUES ('hash', 'mingru', 'cell');
      INSERT INTO problems VALUES (7, 'hash', 'h200', 'sm_90', 8, 4096, 1, 64, '', 'bf16', 'fast', 'fws');
      INSERT INTO trials VALUES (9, 7, 'digest', 'stream', '{}', 'ok', 1, '', 1.0, 0, 7, 32, 0, 0, '', '0.1.0', 5);
      INSERT INTO best VALUES (7, 9);
      INSERT INTO verifications VALUES (9, 'code', 8, 4096, '0.1.0', 'GPU-1', '13.0', 1, 1, 'all agree', 6);
    )sql");
  }
  Database database = must(Database::open(file));
  const std::vector<Verification> proofs = must(database.verifications(9));
  ASSERT_EQ(proofs.size(), 1u);
  EXPECT_EQ(proofs[0].pass, "fws");
  EXPECT_EQ(proofs[0].code, "code");
  EXPECT_EQ(proofs[0].time, 4096);
  EXPECT_TRUE(proofs[0].passed && proofs[0].timed);
  EXPECT_EQ(proofs[0].summary, "all agree");
  EXPECT_TRUE(must(database.list())[0].verified_here);
  EXPECT_TRUE(must(database.check()).empty());
}

TEST_F(SchemaTest, AFailingStepLeavesTheOldVersion) {
  sample_database(file);
  Connection connection = open();
  const auto steps = later("CREATE TABLE extra (x); INSERT INTO nowhere VALUES (1)");
  EXPECT_THROW(migrate(connection, steps), Failure);
  EXPECT_EQ(schema_version(connection), newest_version());
  EXPECT_EQ(connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
  EXPECT_EQ(must(must(Database::open(file)).stats()).cells, 1);
}

TEST_F(SchemaTest, AnOlderFileNeedsOneOpeningForWriting) {
  {
    Connection connection = open();
    migrate(connection, migrations().first(1));
  }
  expect_error(Database::open(file, {.access = Access::ReadOnly}), ErrorKind::Database,
               "older than this program's");
}

}  // namespace
}  // namespace rondo::db
