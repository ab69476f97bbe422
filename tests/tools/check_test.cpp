// `rondo check`: it says what there is, also where nothing can compute the cell.
#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

std::string written(const Folder& folder, const std::string& name, const std::string& text) {
  write_file(folder.path(name), text);
  return folder.path(name);
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Matrices of 100 rows need more registers than there are.
TEST(Check, ACellThatNothingComputesIsDescribedAllTheSame) {
  const Folder folder;
  std::string text = "cell big(D) {\n  input x[D]\n  param R[100, D, D]\n  state h[D]\n  next h = x";
  for (int row = 0; row < 100; ++row) text += " + sigmoid(R[" + std::to_string(row) + "] @ h)";
  const std::string cell = written(folder, "big.cell", text + "\n  output h\n}\n");
  const Outcome outcome = rondo({"check", cell, "--shape", "B=1,T=4,D=16", "--arch", "h200"});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_TRUE(says(outcome.out, "a dense recurrence")) << outcome.out;
  EXPECT_TRUE(says(outcome.out, "alternating not legal")) << outcome.out;
  EXPECT_TRUE(says(outcome.err, "no strategy computes cell big at this shape on NVIDIA H200")) << outcome.err;
}

// A Mogrifier LSTM (Melis 2020): three products after each other, too large for the matrices to stay on chip.
constexpr const char* kMogrifier = R"(cell mogrifier(D) {
  input x[D]
  param Q[D, D], S[D, D], W[4, D, D], R[4, D, D], b[4, D]
  state h[D], c[D]
  x1 = 2 * sigmoid(Q @ h) * x
  h1 = 2 * sigmoid(S @ x1) * h
  g = W @ x1 + R @ h1 + b
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output h
}
)";

TEST(Check, WhatIsShortIsToldInNumbersAndWithoutFormulas) {
  const Folder folder;
  const Outcome outcome = rondo({"check", written(folder, "mogrifier.cell", kMogrifier), "--arch", "h200"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(says(outcome.out,
                   "shared memory: at least 395008 bytes of shared memory a block, the limit is "
                   "232448\n"))
      << outcome.out;
  EXPECT_TRUE(says(outcome.out, "registers a thread: at least 321, the limit is 255")) << outcome.out;
  for (const char* formula :
       {"implies", "ceil_div", "floor_div", " == ", "does not hold", "reached its limit"})
    EXPECT_FALSE(says(outcome.out, formula)) << formula << "\n" << outcome.out;
}

TEST(Check, RowsThatDependAlikeAreOneLine) {
  const Folder folder;
  const std::string cell = written(
      folder, "mix.cell",
      "cell mix(D) {\n  input x[D]\n  state h[64, D], s[64, D]\n  next h = x * h\n"
      "  next s = [x, s[0]" +
          [] {
            std::string rows;
            for (int row = 1; row < 63; ++row) rows += ", s[" + std::to_string(row) + "]";
            return rows;
          }() +
          "]\n  output y = h[0] + s[63]\n}\n");
  const Outcome outcome = rondo({"check", cell, "--arch", "h200"});
  EXPECT_TRUE(
      says(outcome.out,
           "  next h[0..63] depend on h[0..63], row by row: channel by channel, with a derivative free "
           "of the state\n"
           "  next s[1..63] depend on s[0..62], row by row: channel by channel, with a derivative free "
           "of the state\n"
           "strategies"))
      << outcome.out;
}

TEST(Check, ConstantsAreTheOnesThatAreGiven) {
  const Folder folder;
  const std::string cell =
      written(folder, "decay.cell",
              "cell decay(D) {\n  input x[D]\n  state h[D]\n  const tau = 10\n  const d = "
              "exp(-1 / tau)\n  next h = d * h + x\n  output h\n}\n");
  EXPECT_TRUE(says(rondo({"check", cell, "--const", "tau=5"}).out, "const  tau = 5\n"));
  EXPECT_TRUE(says(rondo({"emit", cell, "--const", "tau=5", "--stage", "step"}).out, "const tau = 5\n"));
  EXPECT_TRUE(says(rondo({"check", cell, "--const", "d=0.5"}).err, "computed from others follows them"));
}

// Strategies that a fixed parameter contradicts are not legal; it is an error where it contradicts all.
TEST(Check, AParameterOfOneStrategyLeavesTheOthersAlone) {
  const Outcome one = rondo({"check", "mingru", "--param", "segments=2", "--arch", "h200"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_TRUE(says(one.out, "segments=2")) << one.out;
  const Outcome none = rondo({"check", "mingru", "--param", "segmants=2", "--arch", "h200"});
  EXPECT_EQ(none.status, 2) << none.out;
  EXPECT_TRUE(says(none.err, "segmants")) << none.err;
}

TEST(Check, ArchitecturesThatAreKnownAreNamedWithTheCpus) {
  EXPECT_TRUE(says(rondo({"check", "mingru", "--arch", "gpu"}).err, "x86-64-v4-amx and aarch64"));
}

TEST(Emit, TextForACpuNamesNoCompilerOfCuda) {
  const Outcome cpu = rondo({"emit", "mingru", "--arch", "cpu", "--no-db"});
  EXPECT_EQ(cpu.status, 0) << cpu.err;
  EXPECT_FALSE(says(cpu.out, "nvcc")) << cpu.out.substr(0, 600);
  EXPECT_TRUE(says(rondo({"emit", "mingru", "--arch", "sm_90", "--no-db"}).out, "compile: nvcc"));
  EXPECT_TRUE(says(rondo({"emit", "mingru", "--arch", "cpu", "--strategy", "stream", "--no-db"}).err,
                   "--strategy host computes on CPUs"));
}

TEST(Run, WhatAnOptionAsksForAndIsNotThereIsSaid) {
  const Folder folder;
  write_array(folder.path("x.npy"), {1, 2, 1, 2, 16});
  std::vector<std::string> run = {"run",      "mingru",  "--input", "x=" + folder.path("x.npy"),
                                  "--no-gpu", "--no-db", "--arch"};
  run.push_back("h100");
  const Outcome board = rondo(run);
  EXPECT_EQ(board.status, 0) << board.err;
  EXPECT_TRUE(says(board.err, "there is no GPU here for --arch h100")) << board.err;
  run.back() = "cpu";
  EXPECT_TRUE(says(rondo(run, {{"RONDO_BACKEND", "nvrtc"}}).err, "--backend nvrtc compiles for GPUs alone"));
}

}  // namespace
}  // namespace rondo::test
