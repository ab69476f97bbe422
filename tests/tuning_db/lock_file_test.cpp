#include "tuning_db/lock_file.h"

#include "compiler/support/text_file.h"
#include "tests/tuning_db/fixture.h"

namespace rondo::db {
namespace {

class LockFileTest : public DatabaseTest {
 protected:
  std::string tuned() {
    Database db = sample_database(file);
    for (const auto& [batch, parameters] : {std::pair{8, R"({"threads":64})"}, {64, R"({"threads":256})"}}) {
      const std::int64_t problem = must(db.upsert_problem(sample_problem(batch)));
      must(db.set_best(must(db.record_trial(problem, sample_trial(1, parameters))), Replace::Always));
    }
    must(db.record_trial(must(db.upsert_problem(sample_problem(9))), sample_trial(1)));  // no best
    return must(db.export_lock());
  }
};

TEST_F(LockFileTest, GoesRound) {
  const std::string path = folder + "/rondo.lock";
  must(write_text_file(path, tuned()));
  const PinnedChoices pinned = must(PinnedChoices::load(path));
  EXPECT_EQ(pinned.size(), 2u);
  const PinnedChoice* choice = pinned.find(sample_problem(8));
  ASSERT_NE(choice, nullptr);
  EXPECT_EQ(choice->strategy, "stream");
  EXPECT_EQ(choice->parameters, R"({"threads":64})");
  EXPECT_EQ(choice->cell_name, "mingru");
  EXPECT_EQ(choice->rondo_version, "0.1.0");
  EXPECT_EQ(pinned.find(sample_problem(9)), nullptr);
}

TEST_F(LockFileTest, FindsTheNearest) {
  const PinnedChoices pinned = must(PinnedChoices::parse(tuned(), "x.lock"));
  EXPECT_EQ(pinned.nearest(sample_problem(9))->parameters, R"({"threads":64})");
  EXPECT_EQ(pinned.nearest(sample_problem(50))->parameters, R"({"threads":256})");
  Problem other = sample_problem(8);
  other.dtype = "fp32";
  EXPECT_EQ(pinned.nearest(other), nullptr);
}

TEST_F(LockFileTest, BadFilesAreNamed) {
  const std::string good = tuned();
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& part) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    expect_error(PinnedChoices::parse(bad, "x.lock"), ErrorKind::Input, part);
  };
  refused("{", "[", "'x.lock' is no lock file: not JSON at byte");
  refused("rondo-lock", "rondo-tuning", "'x.lock' is no lock file: its \"format\" is not \"rondo-lock\"");
  refused("\"version\": 1", "\"version\": 2", "lock file version 2, but this program reads version 1");
  refused("\"version\": 1", "\"version\": \"1\"", "version: an integer is expected");
  refused("\"choices\"", "\"choice\"", "'choices' is missing");
  refused("\"strategy\": \"stream\"", "\"strategy\": \"\"", "choices[0].strategy: is empty");
  refused("\"parameters\": {", "\"parameters\": 3, \"x\": {", "choices[0].parameters: an object is expected");
  refused("\"B\": 64", "\"B\": 8", "choices[1]: another choice is pinned for the same problem");
  refused("\"D\": 1536", "\"D\": -1", "choices[0]: the problem's D is -1");
  expect_error(PinnedChoices::parse("", "x.lock"), ErrorKind::Input, "'x.lock'");
  expect_error(PinnedChoices::parse("[]", "x.lock"), ErrorKind::Input, "is no lock file");
  expect_error(PinnedChoices::load(folder + "/none.lock"), ErrorKind::Missing, "none.lock': No such file");
  expect_error(PinnedChoices::load(folder), ErrorKind::Input, "Is a directory");
}

TEST_F(LockFileTest, WritingReplacesWholeFilesOnly) {
  const std::string path = folder + "/x.lock";
  must(write_text_file(path, "old"));
  must(write_text_file(path, "new"));
  EXPECT_EQ(must(read_text_file(path)), "new");
  expect_error(write_text_file(folder + "/none/x.lock", "text"), ErrorKind::Input, "No such file");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);  // no temporary left
}

}  // namespace
}  // namespace rondo::db
