// What the models say of recorded trials: `rondo db show`.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using nlohmann::json;

// Of a search by the model alone, by parameters.
std::map<std::string, json> tuned(const std::string& file, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"tune", "mingru",    "--shape", "B=2,T=16,D=64", "--db", file, "--budget",
                                    "2s",   "--workers", "1",       "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = rondo(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::map<std::string, json> times;
  const json passes = json::parse(outcome.out)["passes"];
  for (const json& row : passes[0]["rows"])
    times[row["strategy"].get<std::string>() + row["parameters"].dump()] = row["model_ms"];
  return times;
}

json shown(const std::string& file) {
  const Outcome outcome = rondo({"db", "show", "mingru", "--json", "--db", file});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out)["problems"];
}

TEST(ModelsTimes, AreThoseOfTheSearch) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  const std::map<std::string, json> of_search = tuned(file, {});
  ASSERT_GT(of_search.size(), 1U);
  const json problems = shown(file);
  ASSERT_EQ(problems.size(), 1U);
  ASSERT_FALSE(problems[0]["trials"].empty());
  for (const json& trial : problems[0]["trials"]) {
    const auto row = of_search.find(trial["strategy"].get<std::string>() + trial["parameters"].dump());
    ASSERT_NE(row, of_search.end()) << trial;
    EXPECT_NEAR(trial["model_ms"].get<double>(), row->second.get<double>(), 1e-9) << trial;
  }
  const std::string text = rondo({"db", "show", "mingru", "--db", file}).out;
  EXPECT_NE(text.find(" model 0.0"), std::string::npos) << text;
}

// A clipped cell is not what its recorded text says.
TEST(ModelsTimes, AreNoneOfACellThatTheRecordDoesNotTell) {
  const Folder folder;
  const std::string file = folder.path("t.db");
  tuned(file, {"--clip-forward", "1"});
  const json problems = shown(file);
  ASSERT_EQ(problems.size(), 1U);
  for (const json& trial : problems[0]["trials"]) EXPECT_TRUE(trial["model_ms"].is_null()) << trial;
}

TEST(ModelsTimes, AreNoneOfWhatThisVersionDoesNotOffer) {
  const Folder folder;
  const std::string file = folder.path("t.db"), changed = folder.path("changed.json");
  tuned(file, {});
  const Outcome exported = rondo({"db", "export", "--db", file});
  ASSERT_EQ(exported.status, 0) << exported.err;
  json contents = json::parse(exported.out);
  json& trials = contents["problems"][0]["trials"];
  ASSERT_FALSE(trials.empty());
  trials = json::array({trials[0], trials[0], trials[0], trials[0]});
  trials[1]["parameters"]["channels"] = 7;
  trials[2]["parameters"].erase("channels");
  trials[3]["strategy"] = "of_another_version";
  write_file(changed, contents.dump());
  const std::string other = folder.path("other.db");
  const Outcome imported = rondo({"db", "import", changed, "--db", other});
  ASSERT_EQ(imported.status, 0) << imported.err;
  const json problems = shown(other);
  int known = 0, unknown = 0;
  for (const json& trial : problems[0]["trials"]) ++(trial["model_ms"].is_null() ? unknown : known);
  EXPECT_EQ(known, 1);
  EXPECT_EQ(unknown, 3);
}

}  // namespace
}  // namespace rondo::test
