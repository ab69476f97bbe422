// `rondo run` over files, and `rondo verify --simulate`.
#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/target/profile.h"
#include "engine/arrays/npy.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using engine::read_npy;

// What the equations of mingru.cell say, written again.
std::vector<double> mingru(const std::vector<double>& x, std::vector<double> h, int B, int T, int D) {
  std::vector<double> out;
  for (int b = 0; b < B; ++b)
    for (int t = 0; t < T; ++t)
      for (int d = 0; d < D; ++d) {
        const int at = ((b * T + t) * 2) * D + d;
        const double z = 1 / (1 + std::exp(-x[static_cast<std::size_t>(at)]));
        double& state = h[static_cast<std::size_t>(b * D + d)];
        state = (1 - z) * state + z * x[static_cast<std::size_t>(at + D)];
        out.push_back(state);
      }
  return out;
}

TEST(Run, ComputesWhatTheEquationsSay) {
  const Folder folder;
  write_array(folder.path("x.npy"), {2, 5, 1, 2, 3});
  write_array(folder.path("h0.npy"), {2, 1, 3});
  const Outcome outcome =
      rondo({"run", "mingru", "--input", "x=" + folder.path("x.npy"), "--state", "h=" + folder.path("h0.npy"),
             "--out", "h=" + folder.path("h.npy"), "--last", "h=" + folder.path("last.npy")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("B=2,T=5,H=1,D=3 fp32 on CPU"), std::string::npos) << outcome.out;
  const auto x = engine::npy_values(*read_npy(folder.path("x.npy")), kernel::Storage::F32, "x");
  const auto h0 = engine::npy_values(*read_npy(folder.path("h0.npy")), kernel::Storage::F32, "h0");
  const auto array = read_npy(folder.path("h.npy"));
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(array->shape, (std::vector<std::int64_t>{2, 5, 1, 3}));
  const auto h = engine::npy_values(*array, kernel::Storage::F32, "h");
  const std::vector<double> wanted = mingru(*x, *h0, 2, 5, 3);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR((*h)[i], wanted[i], 1e-6);
  EXPECT_EQ(read_npy(folder.path("last.npy"))->shape, (std::vector<std::int64_t>{2, 1, 3}));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"h.npy", "h0.npy", "last.npy", "x.npy"}));
}

TEST(Run, DenseCellsRunOnTheReference) {
  const Folder folder;
  write_array(folder.path("x.npy"), {1, 4, 2, 3, 5});
  write_array(folder.path("R.npy"), {2, 3, 5, 5});
  write_array(folder.path("b.npy"), {2, 3, 5});
  const Outcome outcome =
      rondo({"run", "gru", "--json", "--input", "x=" + folder.path("x.npy"), "--param-file",
             "R=" + folder.path("R.npy"), "--param-file", "b=" + folder.path("b.npy"), "--out",
             "h=" + folder.path("h.npy"), "--dtype", "bf16"},
            {{"RONDO_LLVM", "none"}});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json run = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(run["where"], "CPU, reference executor in fp64");
  EXPECT_EQ(run["problem"]["arch"], target::host_profile().arch()) << "no GPU was asked";
  EXPECT_EQ(run["problem"]["shape"]["D"], 5);
  EXPECT_EQ(read_npy(folder.path("h.npy"))->elements(), 40);
}

// No rows, or no steps: outputs without an element, and the first state as the last one.
TEST(Run, OfNothing) {
  const Folder folder;
  write_array(folder.path("h0.npy"), {2, 1, 3});
  const auto h0 = engine::npy_values(*read_npy(folder.path("h0.npy")), kernel::Storage::F32, "h0");
  for (const bool given : {true, false}) {
    write_array(folder.path("x.npy"), {2, 0, 1, 2, 3});
    std::vector<std::string> words = {"run",     "mingru",
                                      "--input", "x=" + folder.path("x.npy"),
                                      "--out",   "h=" + folder.path("h.npy"),
                                      "--last",  "h=" + folder.path("last.npy")};
    if (given) words.insert(words.end(), {"--state", "h=" + folder.path("h0.npy")});
    const Outcome outcome = rondo(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read_npy(folder.path("h.npy"))->shape, (std::vector<std::int64_t>{2, 0, 1, 3}));
    const auto last = engine::npy_values(*read_npy(folder.path("last.npy")), kernel::Storage::F32, "last");
    EXPECT_EQ(*last, given ? *h0 : std::vector<double>(6, 0));
  }
  write_array(folder.path("x.npy"), {0, 4, 1, 2, 3});
  const Outcome outcome = rondo(
      {"run", "mingru", "--input", "x=" + folder.path("x.npy"), "--last", "h=" + folder.path("last.npy")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_npy(folder.path("last.npy"))->shape, (std::vector<std::int64_t>{0, 1, 3}));
  write_array(folder.path("x.npy"), {1, 4, 1, 2, 0});
  const Outcome wrong = rondo({"run", "mingru", "--input", "x=" + folder.path("x.npy")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("axis 4 is empty"), std::string::npos) << wrong.err;
}

// The numbers of fp16 end early: what has left them is named.
TEST(Run, NamesWhatIsNotFinite) {
  const Folder folder;
  write_file(
      folder.path("grow.cell"),
      "cell grow(D) {\n  input x[D]\n  state h[D]\n  next h = 1000 * h + 100 + 0 * x\n  output h\n}\n");
  write_array(folder.path("x.npy"), {1, 4, 1, 3});
  const std::vector<std::string> words = {"run", folder.path("grow.cell"), "--input",
                                          "x=" + folder.path("x.npy")};
  const Outcome fits = rondo(words);
  EXPECT_EQ(fits.status, 0);
  EXPECT_EQ(fits.err.find("infinite"), std::string::npos) << fits.err;
  std::vector<std::string> short_words = words;
  short_words.insert(short_words.end(), {"--dtype", "fp16"});
  const Outcome overflows = rondo(short_words);
  EXPECT_EQ(overflows.status, 0) << overflows.err;
  EXPECT_NE(overflows.err.find(
                "output 'h': 9 of 12 elements are infinite or no number in fp16, which ends at 65504"),
            std::string::npos)
      << overflows.err;
  EXPECT_EQ(overflows.err.find("last state"), std::string::npos) << overflows.err;
}

// What lies past the end of a row may be no number, and what lies before it may not.
TEST(Run, TakesAnythingInPadding) {
  const Folder folder;
  write_array(folder.path("x.npy"), {2, 4, 1, 2, 3});
  engine::NpyArray x = *read_npy(folder.path("x.npy"));
  std::string data(x.data.view());
  const auto put = [&](int row, int step, const std::string& number) {
    for (int i = 0; i < 6; ++i)
      data.replace(static_cast<std::size_t>(((row * 4 + step) * 6 + i) * 4), 4, number);
    x.data = data;
    write_file(folder.path("x.npy"), engine::to_npy(x));
  };
  const std::string nan("\0\0\xC0\x7F", 4), infinite("\0\0\x80\xFF", 4);
  put(0, 2, nan);
  put(0, 3, infinite);
  put(1, 3, nan);
  write_file(folder.path("lengths.npy"), engine::to_npy({"<i4", {2}, std::string("\2\0\0\0\3\0\0\0", 8)}));
  std::vector<std::string> words = {"run",     "mingru",
                                    "--input", "x=" + folder.path("x.npy"),
                                    "--out",   "h=" + folder.path("h.npy"),
                                    "--last",  "h=" + folder.path("last.npy")};
  EXPECT_EQ(rondo(words).status, 2) << "without lengths there is no padding";
  words.insert(words.end(), {"--lengths", folder.path("lengths.npy")});
  const Outcome outcome = rondo(words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* name : {"h.npy", "last.npy"})
    for (const double value : *engine::npy_values(*read_npy(folder.path(name)), kernel::Storage::F32, name))
      EXPECT_TRUE(std::isfinite(value)) << name;
  put(1, 2, nan);
  const Outcome wrong = rondo(words);
  EXPECT_EQ(wrong.status, 2) << "a step of the row";
  EXPECT_NE(wrong.err.find("element 36 is nan"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("it stands at [1, 2, 0, 0, 0] of (2, 4, 1, 2, 3)"), std::string::npos)
      << wrong.err;
}

// One row of two sequences: three steps, then two, of which the second is past the end.
TEST(Run, TakesFormsOfTheSequence) {
  const Folder folder;
  write_array(folder.path("x.npy"), {1, 5, 1, 2, 3});
  write_array(folder.path("h0.npy"), {1, 1, 3});
  write_file(folder.path("resets.npy"), engine::to_npy({"|b1", {1, 5}, std::string("\0\0\0\1\0", 5)}));
  write_file(folder.path("lengths.npy"), engine::to_npy({"<i4", {1}, std::string("\4\0\0\0", 4)}));
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run",     "mingru",
                                      "--input", "x=" + folder.path("x.npy"),
                                      "--state", "h=" + folder.path("h0.npy"),
                                      "--out",   "h=" + folder.path("h.npy")};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = rondo(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return engine::npy_values(*read_npy(folder.path("h.npy")), kernel::Storage::F32, "h").value();
  };
  const std::vector<double> plain = run({});
  const std::vector<double> h =
      run({"--resets", folder.path("resets.npy"), "--lengths", folder.path("lengths.npy")});
  // All but 0 are resets, also what the lowest byte does not tell.
  write_file(folder.path("wide.npy"),
             engine::to_npy({"<i4", {1, 5}, std::string(13, '\0') + '\1' + std::string(6, '\0')}));
  EXPECT_EQ(run({"--resets", folder.path("wide.npy"), "--lengths", folder.path("lengths.npy")}), h);
  const auto x = engine::npy_values(*read_npy(folder.path("x.npy")), kernel::Storage::F32, "x");
  const std::vector<double> second = mingru({x->begin() + 18, x->end()}, {0, 0, 0}, 1, 2, 3);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(h[i], plain[i]);
  for (std::size_t i = 9; i < 12; ++i) EXPECT_NEAR(h[i], second[i - 9], 1e-6);
  for (std::size_t i = 12; i < 15; ++i) EXPECT_EQ(h[i], 0);
  write_array(folder.path("given.npy"), {1, 1, 3});
  const std::vector<double> given =
      run({"--resets", folder.path("resets.npy"), "--reset-state", "h=" + folder.path("given.npy")});
  const auto from = engine::npy_values(*read_npy(folder.path("given.npy")), kernel::Storage::F32, "given");
  const std::vector<double> after = mingru({x->begin() + 18, x->end()}, *from, 1, 2, 3);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(given[i], plain[i]);
  for (std::size_t i = 9; i < 15; ++i) EXPECT_NEAR(given[i], after[i - 9], 1e-6);
  EXPECT_NE(given[9], h[9]);
  const std::vector<double> reversed = run({"--reversed"});
  EXPECT_NE(reversed, plain);
  for (std::size_t i = 0; i < 3; ++i) {  // the last step is the first of the walk
    const auto h0 = engine::npy_values(*read_npy(folder.path("h0.npy")), kernel::Storage::F32, "h0");
    const std::vector<double> first = mingru({x->begin() + 24, x->end()}, *h0, 1, 1, 3);
    EXPECT_NEAR(reversed[12 + i], first[i], 1e-6);
  }
  const Outcome wrong =
      rondo({"run", "mingru", "--input", "x=" + folder.path("x.npy"), "--lengths", folder.path("x.npy")});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("the cell wants [B]"), std::string::npos) << wrong.err;
}

// A cell that draws: equal seeds give equal results, and no seed is the seed 0.
TEST(Run, ASeedDecidesTheDraws) {
  const Folder folder;
  write_file(folder.path("noisy.cell"),
             "cell noisy(D) { input x[D]\n state h[D]\n const noise = 1\n"
             "next h = h + x + noise * uniform(drop)\n output h }");
  write_array(folder.path("x.npy"), {2, 4, 2, 3});
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> call = {"run",     folder.path("noisy.cell"),
                                     "--input", "x=" + folder.path("x.npy"),
                                     "--out",   "h=" + folder.path("h.npy")};
    call.insert(call.end(), more.begin(), more.end());
    const Outcome outcome = rondo(call);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return std::string(read_npy(folder.path("h.npy"))->data.view());
  };
  const std::string seven = run({"--seed", "7"});
  EXPECT_EQ(run({"--seed", "7"}), seven);
  EXPECT_NE(run({"--seed", "8"}), seven);
  EXPECT_EQ(run({}), run({"--seed", "0"}));
  EXPECT_EQ(run({"--const", "noise=0", "--seed", "8"}), run({"--const", "noise=0"}));
  write_array(folder.path("seed.npy"), {2});
  EXPECT_NE(run({"--param-file", "seed=" + folder.path("seed.npy")}), seven);
  const auto refused = [&](std::vector<std::string> call, const char* message) {
    const Outcome outcome = rondo(std::move(call));
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  };
  const std::string cell = folder.path("noisy.cell"), x = "x=" + folder.path("x.npy");
  refused({"run", cell, "--input", x, "--seed", "-1"}, "the seed -1 is not within 0 and 16777216");
  refused({"run", cell, "--input", x, "--seed", "1", "--param-file", "seed=" + folder.path("seed.npy")},
          "'seed' is given as an array and by --seed");
  write_array(folder.path("x2.npy"), {2, 5, 1, 2, 3});
  refused({"run", "mingru", "--input", "x=" + folder.path("x2.npy"), "--seed", "1"},
          "cell mingru draws no random numbers");
}

struct BadRun {
  std::vector<std::string> arguments;
  int status;
  std::string message;
};

// --shape says what no array tells, and may leave out what they do.
TEST(Run, TakesExtentsThatNoArrayTells) {
  const Folder folder;
  write_file(folder.path("decay.cell"),
             "cell decay(D) {\n  param a[D]\n  state h[D]\n  next h = a * h\n  output h\n}\n");
  write_array(folder.path("a.npy"), {1, 3});
  write_array(folder.path("h0.npy"), {2, 1, 3});
  const auto run = [&](const std::string& shape) {
    return rondo({"run", folder.path("decay.cell"), "--param-file", "a=" + folder.path("a.npy"), "--state",
                  "h=" + folder.path("h0.npy"), "--shape", shape, "--dtype", "fp32", "--out",
                  "h=" + folder.path("h.npy")});
  };
  const Outcome outcome = run("T=5");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_npy(folder.path("h.npy"))->shape, (std::vector<std::int64_t>{2, 5, 1, 3}));
  const Outcome other = run("T=5,B=3");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("--shape says B=3"), std::string::npos) << other.err;
}

TEST(Run, RefusesBadArraysAndWritesNothing) {
  const Folder folder;
  auto at = [&](const char* option, const std::string& file) {
    return std::vector<std::string>{option, file};
  };
  write_array(folder.path("x.npy"), {2, 5, 1, 2, 3});
  write_array(folder.path("rank.npy"), {2, 5, 2, 3});
  write_array(folder.path("rows.npy"), {2, 5, 1, 3, 3});
  write_array(folder.path("h0.npy"), {4, 1, 3});
  engine::NpyArray integers{"<i4", {2, 5, 1, 2, 3}, std::string(240, '\0')};
  write_file(folder.path("int.npy"), engine::to_npy(integers));
  write_file(folder.path("words.npy"), engine::to_npy({"<u2", {2, 5, 1, 2, 3}, std::string(120, '\0')}));
  write_file(folder.path("text.npy"), "not an array");
  write_file(folder.path("nan.npy"), engine::to_npy({"<f4", {2, 5, 1, 2, 3}, std::string(240, '\xff')}));
  const std::string x = "x=" + folder.path("x.npy");
  const std::vector<std::string> before = folder.files();
  const BadRun cases[] = {
      {{}, 2, "'x' [B, T, H, 2, D] of cell mingru is missing"},
      {at("--input", "x=" + folder.path("nosuch.npy")), 4, "nosuch.npy"},
      {at("--input", "y=" + folder.path("x.npy")), 2, "has no input 'y'"},
      {at("--input", "x"), 2, "name=value"},
      {at("--input", "x=" + folder.path("rank.npy")), 2, "4 axes instead of 5"},
      {at("--input", "x=" + folder.path("rows.npy")), 2, "axis 3 is 3 instead of 2"},
      {at("--input", "x=" + folder.path("int.npy")), 2, "array.astype('float32')"},
      {at("--input", "x=" + folder.path("words.npy")), 2, "dtype cannot be told"},
      {at("--input", "x=" + folder.path("text.npy")), 2, "no .npy file"},
      {at("--input", "x=" + folder.path("nan.npy")), 2, "not finite"},
      {{"--input", x, "--input", x}, 2, "given twice"},
      {{"--input", x, "--state", "h=" + folder.path("h0.npy")}, 2, "B is 4, but 'x' has B=2"},
      {{"--input", x, "--shape", "B=2,T=6,H=1,D=3"}, 2, "--shape says"},
      {{"--input", x, "--dtype", "int8"}, 2, "int8"},
      {{"--input", x, "--last", "c=" + folder.path("c.npy")}, 2, "has no state 'c'"},
  };
  for (const BadRun& bad : cases) {
    std::vector<std::string> arguments = {"run", "mingru", "--out", "h=" + folder.path("h.npy")};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const Outcome outcome = rondo(arguments);
    EXPECT_EQ(outcome.status, bad.status) << bad.message << outcome.err;
    EXPECT_NE(outcome.err.find(bad.message), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(folder.files(), before);
  }
  const Outcome nowhere = rondo({"run", "mingru", "--input", x, "--last", "h=" + folder.path("last.npy"),
                                 "--out", "h=" + folder.path("nowhere/h.npy")});
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_EQ(folder.files(), before);
}

TEST(Verify, SimulatesWithoutAGpu) {
  const Outcome outcome = rondo({"verify", "paragru", "--simulate", "--json", "--shape", "B=2,T=5,H=2,D=33",
                                 "--pass", "fw,fws,bw", "--dtype", "fp32", "--seed", "5"});
  ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const nlohmann::json parsed = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(parsed["passed"].get<bool>());
  EXPECT_EQ(parsed["passes"].size(), 3U);
  EXPECT_GT(parsed["passes"][2]["checks"].size(), 3U);
  for (const auto& pass : parsed["passes"]) {
    ASSERT_GE(pass["covered"].size(), 2U);
    EXPECT_NE(pass["covered"][0].get<std::string>().find("B=2,T=5"), std::string::npos) << pass["covered"];
  }
}

TEST(Verify, SimulatesForms) {
  for (const char* cell : {"mingru", "gru"}) {
    const Outcome outcome = rondo({"verify", cell, "--simulate", "--json", "--shape", "B=5,T=7,H=1,D=33",
                                   "--pass", "fws,bw", "--forms", "resets,lengths,reversed", "--seed", "5"});
    ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    const nlohmann::json parsed = nlohmann::json::parse(outcome.out);
    EXPECT_TRUE(parsed["passed"].get<bool>());
    EXPECT_EQ(parsed["forms"], (nlohmann::json{"resets", "lengths", "reversed"})) << outcome.out;
  }
}

TEST(Verify, SimulatesTwoDirections) {
  for (const char* cell : {"mingru", "gru"}) {
    const Outcome outcome =
        rondo({"verify", cell, "--simulate", "--json", "--shape", "B=5,T=7,H=2,D=33", "--pass", "fws,bw",
               "--forms", "resets,lengths,directions", "--seed", "5"});
    ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    const nlohmann::json parsed = nlohmann::json::parse(outcome.out);
    EXPECT_TRUE(parsed["passed"].get<bool>());
    EXPECT_EQ(parsed["forms"], (nlohmann::json{"resets", "lengths", "directions"})) << outcome.out;
  }
  const Outcome odd =
      rondo({"verify", "gru", "--simulate", "--shape", "B=2,T=3,H=3,D=8", "--forms", "directions"});
  EXPECT_NE(odd.status, 0);
  EXPECT_NE(odd.err.find("H is 3, but the heads are halves that walk in two directions"), std::string::npos)
      << odd.err;
}

TEST(Verify, SimulatesTangents) {
  for (const char* cell : {"paragru", "gru"}) {
    const Outcome outcome = rondo({"verify", cell, "--simulate", "--json", "--shape", "B=3,T=5,H=1,D=33",
                                   "--pass", "fws,bw", "--forms", "lengths,tangents", "--seed", "5"});
    ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
    const nlohmann::json parsed = nlohmann::json::parse(outcome.out);
    EXPECT_TRUE(parsed["passed"].get<bool>());
    EXPECT_EQ(parsed["forms"], (nlohmann::json{"lengths", "tangents"})) << outcome.out;
  }
}

// A sine of so much that rounding alone decides what it is.
TEST(Verify, SaysWhereNothingCanBeSaid) {
  const Folder folder;
  write_file(
      folder.path("chance.cell"),
      "cell chance(D) {\n input x[D]\n state s[D]\n next s = sin(100000000 * (s + x))\n output s\n}\n");
  std::vector<std::string> call = {"verify",
                                   folder.path("chance.cell"),
                                   "--simulate",
                                   "--shape",
                                   "B=2,T=5,D=16",
                                   "--dtype",
                                   "fp32",
                                   "--seed",
                                   "5"};
  const Outcome people = rondo(call);
  EXPECT_EQ(people.status, 2) << people.out;
  EXPECT_NE(people.out.find("cannot tell: "), std::string::npos) << people.out;
  EXPECT_EQ(std::count(people.out.begin(), people.out.end(), '\n'), 1) << people.out;
  std::vector<std::string> verbose = call;
  verbose.push_back("-v");
  const Outcome all = rondo(verbose);
  EXPECT_NE(all.out.find("nothing can be said"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("covered: B=2,T=5"), std::string::npos) << all.out;
  EXPECT_NE(people.err.find("so ill-conditioned"), std::string::npos) << people.err;
  EXPECT_EQ(people.out.find("WRONG"), std::string::npos) << people.out;
  call.push_back("--json");
  const Outcome program = rondo(call);
  EXPECT_EQ(program.status, 2) << program.out;
  const nlohmann::json parsed = nlohmann::json::parse(program.out);
  EXPECT_FALSE(parsed["passed"].get<bool>());
  EXPECT_TRUE(parsed["passes"][0]["checks"][0]["ill_conditioned"].get<bool>());
  EXPECT_EQ(parsed["passes"][0]["checks"][0]["verdict"], "cannot tell");
  EXPECT_EQ(parsed["passes"][0]["verdict"], "cannot tell");
  EXPECT_EQ(parsed["passes"][0]["wrong"], 0);
  EXPECT_GT(parsed["passes"][0]["cannot_tell"], 0);
}

// Of two passes the first is computed by shoot, and the second is not.
TEST(Verify, KeepsTheResultsBeforeAnError) {
  std::vector<std::string> call = {"verify",  "mingru",     "--simulate", "--shape", "B=2,T=5,D=16",
                                   "--dtype", "fp32",       "--seed",     "5",       "--pass",
                                   "fw,bw",   "--strategy", "shoot"};
  const Outcome people = rondo(call);
  EXPECT_EQ(people.status, 2) << people.out;
  EXPECT_NE(people.out.find("correct: shoot"), std::string::npos) << people.out;
  EXPECT_NE(people.err.find("the backward sweep is affine"), std::string::npos) << people.err;
  call.push_back("--json");
  const Outcome program = rondo(call);
  EXPECT_EQ(program.status, 2) << program.out;
  EXPECT_EQ(nlohmann::json::parse(program.out)["passes"].size(), 1U) << program.out;
  EXPECT_NE(program.err.find("the backward sweep is affine"), std::string::npos) << program.err;
}

TEST(Verify, TakesArbitraryStatesWhereAskedFor) {
  const std::vector<std::string> call = {"verify",       "mingru", "--simulate", "--shape",
                                         "B=2,T=5,D=16", "--pass", "fw,bw",      "--dtype",
                                         "fp32",         "--seed", "5",          "-v"};
  std::vector<std::string> arbitrary = call;
  arbitrary.push_back("--arbitrary-states");
  const Outcome usual = rondo(call), asked = rondo(arbitrary);
  ASSERT_EQ(usual.status, 0) << usual.err << usual.out;
  ASSERT_EQ(asked.status, 0) << asked.err << asked.out;
  EXPECT_EQ(usual.out.find("arbitrary states"), std::string::npos) << usual.out;
  EXPECT_NE(asked.out.find("arbitrary states"), std::string::npos) << asked.out;
}

}  // namespace
}  // namespace rondo::test
