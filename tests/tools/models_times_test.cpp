// What the models say of recorded trials: `rondo db show`.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/slow_tests.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using nlohmann::json;

// A search by the model alone, which records what the compiler prunes: here kernels that spill, in blocks of
// 1,024 threads. It ends by itself once it has enough candidates, so how many it tries does not depend on the
// machine's speed.
struct Searched {
  const Folder folder;
  const std::string database = folder.path("t.db");
  std::map<std::string, json> model_ms;  // by strategy and parameters

  Searched() {
    const Outcome outcome = rondo({"tune", "lif", "--shape", "B=1,T=65536,D=1024", "--pass", "fws", "--db",
                                   database, "--budget", "600s", "--workers", "1", "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const json passes = json::parse(outcome.out)["passes"];
    for (const json& row : passes[0]["rows"])
      model_ms[row["strategy"].get<std::string>() + row["parameters"].dump()] = row["model_ms"];
  }
};

// One search serves all tests.
const Searched& searched() {
  static const Searched result;
  return result;
}

json shown(const std::string& file) {
  const Outcome outcome = rondo({"db", "show", "lif", "--json", "--db", file});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out)["problems"];
}

TEST(ModelsTimes, AreThoseOfTheSearch) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const std::map<std::string, json>& of_search = searched().model_ms;
  ASSERT_GT(of_search.size(), 1U);
  const json problems = shown(searched().database);
  ASSERT_EQ(problems.size(), 1U);
  ASSERT_FALSE(problems[0]["trials"].empty());
  for (const json& trial : problems[0]["trials"]) {
    const auto row = of_search.find(trial["strategy"].get<std::string>() + trial["parameters"].dump());
    ASSERT_NE(row, of_search.end()) << trial;
    EXPECT_NEAR(trial["model_ms"].get<double>(), row->second.get<double>(), 1e-9) << trial;
  }
  const std::string text = rondo({"db", "show", "lif", "--db", searched().database}).out;
  EXPECT_NE(text.find(" model 0."), std::string::npos) << text;
}

// What a search has recorded, changed and imported into another database; its trials.
json imported(const Folder& folder, const std::function<void(json&)>& change) {
  const std::string changed = folder.path("changed.json"), other = folder.path("other.db");
  const Outcome exported = rondo({"db", "export", "--db", searched().database});
  EXPECT_EQ(exported.status, 0) << exported.err;
  json contents = json::parse(exported.out);
  EXPECT_FALSE(contents["problems"][0]["trials"].empty());
  change(contents);
  write_file(changed, contents.dump());
  const Outcome outcome = rondo({"db", "import", changed, "--db", other});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json problems = shown(other);
  return problems.empty() ? json::array() : problems[0]["trials"];
}

// A cell that was clipped, say, is not what its recorded text says.
TEST(ModelsTimes, AreNoneOfACellThatTheRecordDoesNotTell) {
  const json trials = imported(Folder(), [](json& contents) {
    std::string source = contents["cells"][0]["source"];
    const std::size_t place = source.find("abs(over)");
    ASSERT_NE(place, std::string::npos) << source;
    source.replace(place, 3, "relu");
    contents["cells"][0]["source"] = source;
  });
  ASSERT_FALSE(trials.empty());
  for (const json& trial : trials) EXPECT_TRUE(trial["model_ms"].is_null()) << trial;
}

// Whose products overflow: a file may say anything.
TEST(ModelsTimes, AreNoneOfSizesThatNoProblemHas) {
  const json trials = imported(Folder(), [](json& contents) {
    contents["problems"][0]["shape"] = {{"B", 4294967296}, {"T", 16}, {"H", 4294967296}, {"D", 1}};
    contents["problems"][0]["trials"][0]["strategy"] = "shoot";
  });
  ASSERT_FALSE(trials.empty());
  for (const json& trial : trials) EXPECT_TRUE(trial["model_ms"].is_null()) << trial;
}

TEST(ModelsTimes, AreNoneOfWhatThisVersionDoesNotOffer) {
  const json found = imported(Folder(), [](json& contents) {
    json& trials = contents["problems"][0]["trials"];
    trials = json::array({trials[0], trials[0], trials[0], trials[0]});
    trials[1]["parameters"]["channels"] = 7;
    trials[2]["parameters"].erase("channels");
    trials[3]["strategy"] = "of_another_version";
  });
  int known = 0, unknown = 0;
  for (const json& trial : found) ++(trial["model_ms"].is_null() ? unknown : known);
  EXPECT_EQ(known, 1);
  EXPECT_EQ(unknown, 3);
}

}  // namespace
}  // namespace rondo::test
