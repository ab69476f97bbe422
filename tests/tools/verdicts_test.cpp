// What `verify` and `tune` say of cells on whose random data little or nothing can be told.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/slow_tests.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

nlohmann::json parsed_verdict(const Outcome& outcome) {
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

// Multiplies every difference by some 6 a step, so that rounding decides what is left after some of them.
const char* const kGain =
    "cell gain(D) {\n  input x[D]\n  param R[D, D], b[D]\n  state h[D]\n"
    "  next h = tanh(12 * (R @ h) + x + b)\n  output h\n}\n";

TEST(Verdicts, BetterDataTellWhatOthersDoNot) {
  const Folder folder;
  write_file(folder.path("gain.cell"), kGain);
  const nlohmann::json found =
      parsed_verdict(rondo({"verify", folder.path("gain.cell"), "--simulate", "--json", "--shape",
                            "B=2,T=64,H=1,D=32", "--dtype", "bf16", "--seed", "5"}));
  const nlohmann::json& pass = found["passes"][0];
  EXPECT_EQ(pass["verdict"], "agrees") << found;
  EXPECT_GT(pass["cannot_tell"], 0) << "of the shape that was asked for";
  EXPECT_EQ(pass["wrong"], 0);
  EXPECT_NE(pass["covered"].dump().find("more can be told"), std::string::npos) << pass["covered"];
}

// Kernel and reference differ by 1/32: rounding to whole numbers in fp32 is nothing in fp64.
TEST(Verdicts, WhatAbsorbsAllIsNotCalledCorrect) {
  const Folder folder;
  write_file(folder.path("round.cell"),
             "cell round_magic(D) {\n  input x[D]\n  param a[D]\n  state h[D]\n  const magic = 12582912\n"
             "  const scale = 16\n  full = a * h + x\n  next h = ((full * scale + magic) - magic) / scale\n"
             "  output h\n}\n");
  const Outcome found = rondo({"verify", folder.path("round.cell"), "--simulate", "--shape",
                               "B=2,T=16,H=1,D=32", "--dtype", "fp32", "--seed", "5"});
  EXPECT_EQ(found.status, 2) << found.out;
  EXPECT_NE(found.out.find("cannot tell"), std::string::npos) << found.out;
  EXPECT_EQ(found.out.find("correct"), std::string::npos) << found.out;
  EXPECT_NE(found.out.find("0 wrong"), std::string::npos) << found.out;
}

TEST(Verdicts, PartsOfTimeMustBeSeveral) {
  const std::vector<std::string> call = {"verify",  "lstm",    "--arch",          "cpu",
                                         "--no-db", "--shape", "B=2,T=8,H=1,D=8", "--save"};
  const auto fails = [&](const std::string& save, const std::vector<std::string>& more, int status,
                         const std::string& why) {
    std::vector<std::string> words = call;
    words.push_back(save);
    words.insert(words.end(), more.begin(), more.end());
    const Outcome found = rondo(words);
    EXPECT_EQ(found.status, status) << found.out;
    EXPECT_NE(found.err.find(why), std::string::npos) << found.err;
  };
  fails("every=8", {}, 2, "that is no more than one part");
  fails("every=3", {"--simulate"}, 2, "--simulate runs single passes");
  fails("every=3", {"--forms", "directions"}, 3, "walks both ways");
}

#ifdef RONDO_BUILT_LLVM
// The plans of a part, each as ever, and both passes of all parts.
TEST(Verdicts, OfATrainingStepInPartsOfTime) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const Outcome found = rondo({"verify", "lstm", "--arch", "cpu", "--no-db", "--shape", "B=2,T=11,H=1,D=8",
                               "--save", "every=4", "--seed", "3", "--json"});
  ASSERT_EQ(found.status, 0) << found.err;
  const auto passes = nlohmann::json::parse(found.out)["passes"];
  ASSERT_EQ(passes.size(), 4U);
  EXPECT_EQ(passes[0]["problem"]["shape"]["T"], 4);
  EXPECT_EQ(passes[3]["problem"]["shape"]["T"], 11);
  EXPECT_EQ(passes[3]["steps_of_a_part"], 4);
  EXPECT_EQ(passes[3]["covered"][0], "B=2,T=11,H=1,D=8: 3 parts of 4 steps");
}

// What fits is verified as it is named: K is of --memory.
TEST(Verdicts, OfATrainingStepThatFitsInMemory) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  const auto verified = [](const std::vector<std::string>& more) {
    std::vector<std::string> call = {
        "verify", "lnlstm", "--arch", "cpu",  "--no-db", "--shape", "B=2,T=300,H=1,D=32",
        "--pass", "fws,bw", "--save", "auto", "--seed",  "3",       "--json"};
    call.insert(call.end(), more.begin(), more.end());
    const Outcome found = rondo(call);
    EXPECT_EQ(found.status, 0) << found.err;
    return nlohmann::json::parse(found.out)["passes"];
  };
  EXPECT_EQ(verified({}).size(), 2U);
  EXPECT_EQ(verified({"--memory", "1GB"}).size(), 2U);
  const auto passes = verified({"--memory", "100kB"});
  ASSERT_EQ(passes.size(), 4U);
  EXPECT_EQ(passes[3]["steps_of_a_part"], passes[0]["problem"]["shape"]["T"]);
}

// A state that grows fortyfold at a step leaves the numbers, for which no kernel can be blamed.
TEST(Verdicts, TuneNamesTheDataWhereTheReferenceIsOfNoUse) {
  const Folder folder;
  write_file(folder.path("grows.cell"),
             "cell grows(D) {\n  input x[D]\n  state h[D] = 1\n  next h = h * (40 + x)\n  output h\n}\n");
  const Outcome found = rondo({"tune", folder.path("grows.cell"), "--no-db", "--arch", "cpu", "--shape",
                               "B=2,T=64,H=1,D=32", "--dtype", "fp32", "--budget", "2s"});
  EXPECT_EQ(found.status, 2) << found.out << found.err;
  EXPECT_NE(found.err.find("of the reference is"), std::string::npos) << found.err;
  EXPECT_NE(found.err.find("where numbers lie"), std::string::npos) << "what to do: " << found.err;
}
#endif

}  // namespace
}  // namespace rondo::test
