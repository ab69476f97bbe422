// `rondo why`: by model where the board is not here, measured where it is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Why, OfABoardThatIsNotHereIsByModel) {
  const Outcome outcome =
      rondo({"why", "lstm", "--shape", "B=16,T=1024,H=1,D=768", "--arch", "h200", "--no-db"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.out, "by model: nothing was run")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "  floors   chain ")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "  binds    chain: ")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "  chain    ns a step, the model's, not calibrated: exchange "))
      << outcome.out;
  EXPECT_TRUE(says(outcome.out, "ns a step, by model: exchange ")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "  kernel   accumulators=")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "  binds    chain: the model's own time is 1.")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "; once: launches and first loads 0.0")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "times as long, by model: --strategy alternating ")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "; other problems: B=32 ")) << outcome.out;
  EXPECT_FALSE(says(outcome.out, "without")) << outcome.out;
}

TEST(Why, JsonHasTheSame) {
  const Outcome outcome = rondo({"why", "mingru", "--shape", "B=8,T=4096,H=1,D=1536", "--pass", "bw",
                                 "--arch", "h100", "--no-db", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json told = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(told["binds"], "bytes");
  EXPECT_TRUE(told["measured_ms"].is_null());
  EXPECT_EQ(told["floors"][0]["name"], "bytes");
  EXPECT_GT(told["share_of_floor"], 0.5);
  EXPECT_EQ(told["without"].size(), 0U);
  EXPECT_TRUE(told["account"].is_null()) << "nothing was measured";
}

#ifdef RONDO_BUILT_LLVM
TEST(Why, OfTheseCpusIsMeasured) {
  const std::vector<std::string> words = {"why",  "lstm",   "--shape", "B=2,T=16,H=1,D=32", "--dtype",
                                          "fp32", "--arch", "cpu",     "--no-db",           "--json"};
  const Outcome outcome = rondo(words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json told = nlohmann::json::parse(outcome.out);
  EXPECT_GT(told["measured_ms"], 0);
  EXPECT_GT(told["without"].size(), 0U);
  std::vector<std::string> by_model = words;
  by_model.push_back("--by-model");
  EXPECT_TRUE(nlohmann::json::parse(rondo(by_model).out)["measured_ms"].is_null());
}
#endif

TEST(Why, CountersStandBesideTheFloors) {
  const Folder folder;
  const std::string file = folder.path("ncu.csv");
  const auto row = [](const std::string& rest) {
    return "\"0\",\"lstm_persistent_fw(int, int)\"," + rest + "\n";
  };
  write_file(file,
             "==PROF== Connected\n\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n" +
                 row("\"dram__bytes.sum\",\"byte\",\"138,412,032\"") +
                 row("\"gpu__time_duration.sum\",\"ns\",\"1,200,000\"") +
                 row("\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active\",\"%\",\"12.5\""));
  const std::vector<std::string> words = {
      "why", "lstm", "--shape", "B=16,T=1024,H=1,D=768", "--arch", "h200", "--no-db", "--counters", file};
  const Outcome outcome = rondo(words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.out,
                   "  counters of ncu, 1 launch of 1.2 ms: 138 MB moved, 1.10 of what must move; "
                   "tensor cores work in 12.5% of the cycles, by the floor of products 15.0%\n"))
      << outcome.out;
  write_file(file, "==ERROR== no permission\n");
  const Outcome refused = rondo(words);
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(says(refused.err, "no counters of ncu: there is no table")) << refused.err;
  EXPECT_TRUE(says(refused.err, "ncu --csv --print-units base --metrics dram__bytes.sum,")) << refused.err;
}

TEST(Why, OnePassIsExplainedAtATime) {
  const Outcome outcome = rondo({"why", "lstm", "--pass", "fw,bw", "--arch", "h200", "--no-db"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(says(outcome.err, "pass")) << outcome.err;
}

}  // namespace
}  // namespace rondo::test
