// `rondo report`: where the page goes, what it is made of, and what is said where there is nothing to tell.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

const std::string kShipped = std::string(RONDO_SOURCE_DIR) + "/tuning_db/shipped/h200.json";

bool page_says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportPage, OfWhatIsShippedSaysWhatWasWritten) {
  const Folder folder;
  const std::string page = folder.path("report.html");
  const Outcome outcome = rondo({"report", "--shipped", "-o", page, "--json"}, {{"RONDO_SHIPPED", kShipped}});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json told = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(told["written"], nlohmann::json({page}));
  EXPECT_GT(told["problems"], 100);
  EXPECT_GT(told["figures"], 10);
  EXPECT_TRUE(page_says(read_file(page), "<h3>Roofline of NVIDIA H200</h3>"));
}

TEST(ReportPage, OfOneProblemIsWhatWhyTells) {
  const std::vector<std::string> problem = {"lstm",   "--shape", "B=16,T=1024,H=1,D=768",
                                            "--arch", "h200",    "--no-db"};
  std::vector<std::string> words = {"report"};
  words.insert(words.end(), problem.begin(), problem.end());
  const Outcome page = rondo(words);
  ASSERT_EQ(page.status, 0) << page.err;
  words[0] = "why";
  const Outcome why = rondo(words);
  EXPECT_TRUE(page_says(page.out, "lstm B=16,T=1024,H=1,D=768 bf16 forward"));
  EXPECT_TRUE(page_says(page.out, "By the model: nothing was run."));
  for (const char* same : {"126 MB, each once, at 4.32 TB/s", "77.3 GFLOP at 495 TFLOP/s of mma.sync"}) {
    EXPECT_TRUE(page_says(page.out, same)) << same;
    EXPECT_TRUE(page_says(why.out, same)) << why.out;
  }
}

TEST(ReportPage, PeersStandBesideTheirProblems) {
  const Folder folder;
  write_file(
      folder.path("peers.json"),
      R"([{"cell": "lstm", "shape": {"B": 16, "T": 1024, "H": 1, "D": 768}, "dtype": "bf16", "pass": "fw",
                  "peer_ms": 4.75, "peer": "FlashRNN <fused>"}])");
  const Outcome outcome =
      rondo({"report", "--shipped", "--peers", folder.path("peers.json")}, {{"RONDO_SHIPPED", kShipped}});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(page_says(outcome.out, "<h2>Beside peers</h2>"));
  EXPECT_TRUE(page_says(outcome.out, "FlashRNN &lt;fused&gt;"));
}

TEST(ReportPage, OfARecordIsOnePageOrOnePicture) {
  const std::string record = std::string(RONDO_SOURCE_DIR) + "/benchmarks/results/h200.json";
  const Outcome page = rondo({"report", "--record", record});
  ASSERT_EQ(page.status, 0) << page.err;
  EXPECT_TRUE(page_says(page.out, "<h1>What was measured on NVIDIA H200</h1>"));
  EXPECT_TRUE(page_says(page.out, "<h2>Beside peers</h2>"));
  const Folder folder;
  const std::string file = folder.path("roofline.svg");
  const Outcome picture =
      rondo({"report", "--record", record, "--picture", "roofline", "-o", file, "--json"});
  ASSERT_EQ(picture.status, 0) << picture.err;
  EXPECT_EQ(nlohmann::json::parse(picture.out)["figures"], 1);
  EXPECT_TRUE(read_file(file).starts_with("<svg "));
}

TEST(ReportPage, WithoutADatabaseSaysSo) {
  const Outcome none = rondo({"report", "--no-db"});
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_TRUE(page_says(none.out, "There is no tuning database to read"));
  EXPECT_TRUE(page_says(none.out, "Nothing is tuned yet"));
  const Folder folder;
  EXPECT_EQ(rondo({"report", "--db", folder.path("none.db")}).status, 4) << "one that is named must be there";
  EXPECT_TRUE(folder.files().empty());
}

TEST(ReportPage, TakesThePlaceOfNothingThatItReads) {
  const Folder folder;
  const std::string peers = folder.path("peers.json");
  const std::string text =
      R"([{"cell": "a", "shape": {"B": 1, "T": 1, "H": 1, "D": 1}, "dtype": "b", "pass": "fw",
                                "peer_ms": 1}])";
  write_file(peers, text);
  const Outcome outcome = rondo({"report", "--no-db", "--peers", peers, "-o", peers});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(read_file(peers), text);
}

TEST(ReportPage, MistakesAreNamed) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"report", "--shape", "B=1"},
                                                {"report", "lstm", "--shipped"},
                                                {"report", "--no-db", "--json"},
                                                {"report", "--shipped", "--no-db"},
                                                {"report", "--shipped", "--record", kShipped},
                                                {"report", "--record", kShipped},
                                                {"report", "--record", "no_such_record.json"},
                                                {"report", "--no-db", "--picture", "roofline"},
                                                {"report", "--shipped", "--picture", "nothing"},
                                                {"report", "no_such_cell", "--no-db"}}) {
    const Outcome outcome = rondo(words);
    EXPECT_NE(outcome.status, 0) << words.back();
    EXPECT_TRUE(page_says(outcome.err, "rondo: error:")) << outcome.err;
    EXPECT_FALSE(page_says(outcome.out, "<html")) << words.back();
  }
}

}  // namespace
}  // namespace rondo::test
