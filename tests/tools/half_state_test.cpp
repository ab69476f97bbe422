// fp16 training of states that fp16 cannot hold, as code of this CPU, and results that it cannot hold.
#ifdef RONDO_BUILT_LLVM
#include <gtest/gtest.h>

#include "engine/arrays/npy.h"
#include "tests/support/turns.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

// Cell states that begin at 100,000: their histories are kept in fp32, and gradients agree with the reference
// in fp64.
TEST(HalfStates, BeyondFp16AreTrained) {
  const Folder folder;
  const std::string path = folder.path("big.npy");
  write_file(path, engine::to_npy(
                       engine::npy_from(std::vector<double>(2 * 32, 1e5), {2, 1, 32}, kernel::Storage::F32)));
  for (const std::string& cell : rondo::testing::with_turns<std::string>({"lstm", "slstm"}, 2)) {
    std::vector<std::string> words = {"verify", cell,     "--no-db", "--arch", "cpu",     "--dtype",  "fp16",
                                      "--pass", "fws,bw", "--shape", "T=24",   "--state", "c=" + path};
    if (cell == "slstm") words.insert(words.end(), {"--state", "n=" + path});
    const Outcome verified = rondo(words);
    EXPECT_EQ(verified.status, 0) << cell << ": " << verified.err << verified.out;
  }
}

TEST(HalfStates, AnOutputBeyondFp16IsNamed) {
  const Folder folder;
  const std::string cell = folder.path("loud.cell");
  write_file(cell,
             "cell loud(D) {\n  input x[D]\n  state h[D]\n  next h = 0.5 * h + x\n  output y = 1e6 * h\n}\n");
  const Outcome verified = rondo({"verify", cell, "--no-db", "--arch", "cpu", "--dtype", "fp16", "--pass",
                                  "fw", "--shape", "B=2,T=24,H=1,D=16"});
  EXPECT_NE(verified.status, 0);
  EXPECT_NE(verified.err.find("'y_out'"), std::string::npos) << verified.err;
  EXPECT_NE(verified.err.find("65504"), std::string::npos) << verified.err;
}

}  // namespace
}  // namespace rondo::test
#endif
