// What the model thinks best is remembered by the database that a command is given, and by no other.
#include <gtest/gtest.h>

#include "tests/tools/program.h"
#include "tuning_db/database.h"

namespace rondo::test {
namespace {

std::int64_t opinions_in(const std::string& file) {
  return db::Database::open(file, {.access = db::Access::ReadOnly})->stats()->opinions;
}

TEST(Opinions, AreKeptInTheDatabaseOfTheCommand) {
  const Folder folder;
  const std::string file = folder.path("tuning.db"), standard = folder.path("standard.db");
  for (const std::string& each : {file, standard}) ASSERT_TRUE(db::Database::open(each).ok());
  const auto emit = [&](const std::vector<std::string>& database) {
    std::vector<std::string> words = {"emit",   "mingru", "--shape", "B=2,T=16,D=64",
                                      "--arch", "h200",   "--stage", "launches"};
    words.insert(words.end(), database.begin(), database.end());
    const Outcome outcome = rondo(words, {{"RONDO_DB", standard}, {"RONDO_SHIPPED", "none"}});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  };
  const std::string plain = emit({"--no-db"});
  EXPECT_EQ(opinions_in(standard), 0) << "without a database nothing is remembered";
  for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(emit({"--db", file}), plain);
  EXPECT_EQ(opinions_in(file), 1);
  EXPECT_EQ(opinions_in(standard), 0);
  EXPECT_EQ(emit({}), plain);
  EXPECT_EQ(opinions_in(standard), 1);
  EXPECT_EQ(rondo({"db", "list", "--db", file}).out, "nothing is tuned yet\n");
  EXPECT_EQ(rondo({"db", "check", "--db", file}).status, 0);
  EXPECT_EQ(rondo({"db", "export", "--db", file}).out.find("opinion"), std::string::npos);
}

}  // namespace
}  // namespace rondo::test
