// Choices that an earlier version stored are found under the names that parameters have now. The fixtures
// were written by that version: a database, its export and its lock file, with choices of stream and
// persistent, all parameters of each.
#include <cstdlib>
#include <filesystem>

#include "compiler/schedule/strategies.h"
#include "compiler/support/text_file.h"
#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "tests/engine/plan/cells.h"
#include "tuning_db/lock_file.h"

namespace rondo::engine {
namespace {

using schedule::Parameters;
using schedule::Pass;

struct Expected {
  const char* cell;
  Pass pass;
  const char* strategy;
  Parameters parameters;
};

std::vector<Expected> expected() {
  return {{"mingru",
           Pass::Forward,
           "stream",
           {{"channels", 192},
            {"per_thread", 2},
            {"steps", 16},
            {"stages", 3},
            {"unroll", 8},
            {"vector", 8},
            {"producer_warps", 0},
            {"rewrite", 2},
            {"segments", 2},
            {"time_split", 4},
            {"exchange", 1},
            {"stream_stores", 0},
            {"interleaved_copies", 1},
            {"pipeline_depth", 2}}},
          {"mingru",
           Pass::Backward,
           "stream",
           {{"channels", 128},
            {"per_thread", 1},
            {"steps", 16},
            {"stages", 3},
            {"unroll", 8},
            {"vector", 8},
            {"producer_warps", 1},
            {"rewrite", 0},
            {"segments", 2},
            {"time_split", 4},
            {"exchange", 0},
            {"stream_stores", 0},
            {"interleaved_copies", 0},
            {"pipeline_depth", 1}}},
          {"lstm",
           Pass::Forward,
           "persistent",
           {{"blocks", 48},
            {"batch_tiles_in_flight", 2},
            {"exchange", 1},
            {"reduce_scatter", 0},
            {"cluster_k_split", 1},
            {"setmaxnreg", 0},
            {"unit_blocks", 1},
            {"batch_tiles", 1},
            {"register_k_tiles", 12},
            {"split_k", 4},
            {"accumulators", 1},
            {"steps", 8},
            {"stages", 3},
            {"vector", 8},
            {"producer_warps", 2},
            {"store_warps", 1},
            {"poll_delay", 0},
            {"tiles_in_turn", 1},
            {"gather_fragments", 0}}},
          {"lstm",
           Pass::Backward,
           "persistent",
           {{"blocks", 24},
            {"batch_tiles_in_flight", 2},
            {"exchange", 1},
            {"reduce_scatter", 1},
            {"cluster_k_split", 2},
            {"setmaxnreg", 1},
            {"unit_blocks", 1},
            {"batch_tiles", 1},
            {"register_k_tiles", 8},
            {"split_k", 2},
            {"accumulators", 1},
            {"steps", 4},
            {"stages", 3},
            {"vector", 8},
            {"producer_warps", 2},
            {"store_warps", 1},
            {"poll_delay", 0},
            {"tiles_in_turn", 1},
            {"gather_fragments", 0}}}};
}

class EarlierNames : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        ("earlier-names-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::filesystem::path fixture(const std::string& name) {
    const char* moved = std::getenv("RONDO_SOURCE_DIR");
    return std::filesystem::path(moved != nullptr ? moved : RONDO_SOURCE_DIR) / "tests/tuning_db/fixtures" /
           name;
  }
  // As the export has it: the cells that are shipped may change.
  static step::Cell cell_named(const std::string& name) {
    const std::string text = read_text_file(fixture("earlier_names.json").string()).value();
    const Result<db::Contents> contents = db::contents_from_json(text, "fixture");
    for (const db::Cell& cell : contents.value().cells)
      if (cell.name == name) return testing::cell_from(cell.source);
    throw std::runtime_error("no cell " + name);
  }
  db::Database open(const std::string& name) const {
    return db::Database::open((folder_ / name).string()).value();
  }
  static schedule::Problem problem_of_case(const Expected& wanted) {
    schedule::Problem problem;
    problem.sizes = wanted.strategy == std::string("stream") ? step::Sizes{8, 4096, 1, 1536}
                                                             : step::Sizes{16, 1024, 1, 768};
    problem.pass = wanted.pass;
    return problem;
  }
  void expect_choices(db::Database& database) const {
    ChooseOptions options;
    options.database = &database;
    for (const Expected& wanted : expected()) {
      const Result<Choice> choice =
          choose({cell_named(wanted.cell), problem_of_case(wanted), profile_}, options);
      ASSERT_TRUE(choice.ok()) << choice.error().message;
      EXPECT_EQ(choice->origin, ChoiceOrigin::Tuned) << wanted.cell;
      EXPECT_EQ(choice->strategy, wanted.strategy);
      EXPECT_EQ(choice->parameters, wanted.parameters) << schedule::print(choice->parameters);
    }
  }

  std::filesystem::path folder_;
  target::Profile profile_ = target::find_profile("h200").value();
};

TEST_F(EarlierNames, OfADatabase) {
  std::filesystem::copy_file(fixture("earlier_names.db"), folder_ / "tuning.db");
  db::Database database = open("tuning.db");
  expect_choices(database);
}

// Another name is no other code: what was compiled for a choice is looked up by its key still, and is
// compared with this version's text before it runs.
TEST_F(EarlierNames, TheCodeOfAChoiceIsKept) {
  std::filesystem::copy_file(fixture("earlier_names.db"), folder_ / "tuning.db");
  db::Database database = open("tuning.db");
  const Expected wanted = expected().front();
  const auto id =
      database.upsert_problem(database_problem({cell_named(wanted.cell), problem_of_case(wanted), profile_}));
  ASSERT_TRUE(id.ok()) << id.error().message;
  db::Trial trial;
  trial.strategy = wanted.strategy;
  schedule::Parameters earlier;
  for (const auto& [name, value] : wanted.parameters) {
    std::string old = name;
    std::int64_t shift = 0;
    for (const schedule::ParameterRow& row : schedule::find_strategy(wanted.strategy)->parameters())
      if (row.name == name && !row.past.was.empty()) {
        old = row.past.was;
        shift = row.past.shift;
      }
    earlier[old] = value - shift;
  }
  trial.parameters = parameters_to_json(earlier);
  trial.verified = true;
  trial.median_ms = 1e-3;
  trial.cubin_key = "abc";
  const auto recorded = database.record_trial(*id, trial);
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  ASSERT_TRUE(database.set_best(*recorded, db::Replace::Always).ok());
  ChooseOptions options;
  options.database = &database;
  const auto choice = choose({cell_named(wanted.cell), problem_of_case(wanted), profile_}, options);
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->parameters, wanted.parameters);
  EXPECT_EQ(choice->cubin_key, "abc");
}

// A row is known by what was recorded: read again, from the file or from this version's own export, it adds
// nothing.
TEST_F(EarlierNames, OfAnExportWhichReadTwiceAddsNothing) {
  db::Database database = open("tuning.db");
  const std::string text = read_text_file(fixture("earlier_names.json").string()).value();
  EXPECT_EQ(database.import_json(text, "earlier")->trials, 8);
  expect_choices(database);
  const auto again = database.import_json(database.export_json().value(), "again");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->trials, 0);
  EXPECT_EQ(again->known_trials, 8);
  std::filesystem::copy_file(fixture("earlier_names.db"), folder_ / "other.db");
  const auto merged = database.merge_database((folder_ / "other.db").string());
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(merged->trials, 0);
  expect_choices(database);
}

TEST_F(EarlierNames, OfALockFile) {
  const auto pinned = db::PinnedChoices::load(fixture("earlier_names.lock").string());
  ASSERT_TRUE(pinned.ok()) << pinned.error().message;
  for (const Expected& wanted : expected()) {
    const db::PinnedChoice* choice =
        pinned->find(database_problem({cell_named(wanted.cell), problem_of_case(wanted), profile_}));
    ASSERT_NE(choice, nullptr) << wanted.cell;
    EXPECT_EQ(recorded_parameters(choice->strategy, choice->parameters), wanted.parameters);
  }
}

// `--param`: some parameters, under old names or new ones.
TEST_F(EarlierNames, OfParametersAskedFor) {
  const step::Cell cell = cell_named("mingru");
  const Expected wanted = expected()[0];
  const schedule::Problem problem = problem_of_case(wanted);
  const auto asked = [&](const Parameters& parameters, const std::string& strategy = "stream") {
    return choose_with({cell, problem, profile_}, {strategy, parameters});
  };
  const auto now = asked({{"time_split", 4}, {"exchange", 1}, {"pipeline_depth", 2}, {"rewrite", 2}});
  ASSERT_TRUE(now.ok()) << now.error().message;
  for (const char* strategy : {"stream", ""}) {
    const auto before = asked({{"cluster", 4}, {"grid", 1}, {"behind", 1}, {"shorten", 2}}, strategy);
    ASSERT_TRUE(before.ok()) << before.error().message;
    EXPECT_EQ(before->parameters, now->parameters);
  }
  EXPECT_FALSE(asked({{"grid", 1}, {"exchange", 1}}).ok()) << "both names of one parameter";
}

TEST_F(EarlierNames, EveryNameNowIsInASpace) {
  for (const Expected& wanted : expected()) {
    const schedule::Strategy* strategy = schedule::find_strategy(wanted.strategy);
    ASSERT_NE(strategy, nullptr);
    for (const schedule::ParameterRow& row : strategy->parameters()) {
      EXPECT_EQ(wanted.parameters.count(std::string(row.name)), row.past.optional ? 0U : 1U) << row.name;
      EXPECT_EQ(wanted.parameters.count(std::string(row.past.was)), 0U) << row.past.was;
    }
  }
}

}  // namespace
}  // namespace rondo::engine
