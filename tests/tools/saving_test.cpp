// --save auto and --memory of the commands.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/slow_tests.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

// With --memory what fits: one way, both, or the passes of a part of time, which `bench` does not time.
TEST(Saving, TuneTakesWhatFitsInMemory) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const auto tuned = [](const std::string& memory) {
    const Outcome outcome = rondo({"tune", "lnlstm", "--shape", "B=2,T=4096,D=32", "--no-db", "--workers",
                                   "1", "--no-gpu", "--pass", "fws,bw", "--save", "auto", "--memory", memory,
                                   "--strategy", "alternating", "--budget", "1s", "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> passes;
    if (outcome.status != 0) return passes;
    const nlohmann::json object = nlohmann::json::parse(outcome.out);
    for (const nlohmann::json& pass : object["passes"]) {
      const nlohmann::json& problem = pass["problem"];
      passes.push_back(fmt::format("{}{} {}", problem["pass"].get<std::string>(),
                                   problem["save"] == "products" ? "+products" : "",
                                   problem["shape"]["T"].get<int>()));
    }
    return passes;
  };
  EXPECT_EQ(tuned("1GB"),
            (std::vector<std::string>{"fws 4096", "fws+products 4096", "bw 4096", "bw+products 4096"}));
  const std::vector<std::string> of_a_part = tuned("600kB");
  ASSERT_EQ(of_a_part.size(), 3U);
  const std::string every = of_a_part[0].substr(std::string("fw ").size());
  EXPECT_LT(std::stoi(every), 4096);
  EXPECT_EQ(of_a_part, (std::vector<std::string>{"fw " + every, "fws " + every, "bw " + every}));
}

TEST(Saving, WhatFitsNowhereIsRefused) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const auto refused = [](const std::vector<std::string>& words, int status, const std::string& why) {
    const Outcome outcome = rondo(words);
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("rondo: error: ", 0), 0U) << outcome.err;
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
  };
  const std::vector<std::string> problem = {"lnlstm", "--shape", "B=2,T=4096,D=32", "--no-db", "--no-gpu",
                                            "--pass", "fws,bw",  "--save",          "auto",    "--memory"};
  const auto words = [&](const std::string& command, const std::string& memory) {
    std::vector<std::string> all = {command};
    all.insert(all.end(), problem.begin(), problem.end());
    all.push_back(memory);
    return all;
  };
  for (const char* command : {"tune", "bench", "verify"}) {
    refused(words(command, "1"), 3, "bytes beside its tensors at the least");
    refused(words(command, "soon"), 2, "no size of memory");
  }
  refused({"bench", "elman", "--save", "every=4", "--ablate"}, 2, "parts of a pass are of one pass");
  refused({"tune", "lnlstm", "--pass", "fws,bw", "--save", "products", "--memory", "1GB"}, 2,
          "--save products says it");
}

#ifdef RONDO_BUILT_LLVM
// A training step as a whole, by kernels of CPUs.
TEST(Saving, BenchTimesAStepInParts) {
  const auto timed = [](const std::vector<std::string>& save) {
    std::vector<std::string> call = {
        "bench",     "gru", "--arch", "cpu",     "--no-db", "--shape", "B=2,T=300,H=1,D=32",
        "--samples", "3",   "--json", "--dtype", "fp32"};
    call.insert(call.end(), save.begin(), save.end());
    const Outcome outcome = rondo(call);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? nlohmann::json::parse(outcome.out)["rows"][0] : nlohmann::json();
  };
  const nlohmann::json parts = timed({"--save", "every=100"}), whole = timed({"--save", "every=300"});
  ASSERT_TRUE(parts.is_object() && whole.is_object());
  EXPECT_EQ(parts["training"]["parts_of_time"], 3);
  EXPECT_EQ(parts["passes"].size(), 3U);
  EXPECT_EQ(whole["training"]["parts_of_time"], 1);
  EXPECT_EQ(whole["passes"].size(), 2U);
  EXPECT_GT(parts["median_ms"].get<double>(), 0);
  const nlohmann::json rows = timed({"--save", "auto", "--memory", "1GB", "--pass", "fws"});
  EXPECT_EQ(rows["pass"], "fws") << "in one piece passes are timed";
}
#endif

}  // namespace
}  // namespace rondo::test
