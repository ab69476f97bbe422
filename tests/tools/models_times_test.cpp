// What the models say of recorded trials: `rondo db show`.
#include <gtest/gtest.h>

#include <functional>
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

// What a search has recorded, changed and imported into another database; its trials.
json imported(const Folder& folder, const std::function<void(json&)>& change) {
  const std::string file = folder.path("t.db"), changed = folder.path("changed.json"),
                    other = folder.path("other.db");
  tuned(file, {});
  const Outcome exported = rondo({"db", "export", "--db", file});
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
    const std::size_t place = source.find("tanh");
    const std::size_t other = source.find("sigmoid");
    ASSERT_NE(place == std::string::npos ? other : place, std::string::npos) << source;
    place != std::string::npos ? source.replace(place, 4, "relu") : source.replace(other, 7, "tanh");
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
