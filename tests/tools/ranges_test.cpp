// Cells whose numbers have a domain, and say so: random data lie in it, arrays outside of it are named.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/arrays/npy.h"
#include "tests/support/turns.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

const std::string kCells = std::string(RONDO_SOURCE_DIR) + "/tests/literature/";

void write_numbers(const std::string& path, const std::vector<std::int64_t>& shape,
                   const std::vector<double>& values) {
  write_file(path, engine::to_npy(engine::npy_from(values, shape, kernel::Storage::F32)));
}

#ifdef RONDO_BUILT_LLVM
TEST(CellsWithRanges, AreVerifiedOnRandomData) {
  const std::vector<std::string> names = {"biquad", "compressor", "garch",  "hmm",        "hmm_scaled",
                                          "iir8",   "izhikevich", "kalman", "masked_log", "phased"};
  for (const std::string& name : rondo::testing::with_turns(names)) {
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    const Outcome found =
        rondo({"verify", kCells + name + ".cell", "--no-db", "--arch", "cpu", "--shape", "B=2,T=24,H=1,D=16",
               "--dtype", place % 2 == 0 ? "fp32" : "bf16", "--pass", "fw,bw", "--seed", "3"});
    EXPECT_EQ(found.status, 0) << name << "\n" << found.out << found.err;
  }
}

TEST(CellsWithRanges, AreTuned) {
  const Folder folder;
  for (const char* name : {"garch", "izhikevich"}) {
    const Outcome found = rondo({"tune", kCells + name + ".cell", "--db", folder.path("tuning.db"), "--arch",
                                 "cpu", "--shape", "B=2,T=40,H=1,D=32", "--dtype", "fp32", "--budget", "1s"});
    EXPECT_EQ(found.status, 0) << name << "\n" << found.out << found.err;
  }
}
#endif

TEST(CellsWithRanges, CheckShowsThem) {
  const Outcome found = rondo({"check", kCells + "garch.cell"});
  EXPECT_NE(found.out.find("in (0, inf) = 1"), std::string::npos) << found.out << found.err;
  const Outcome as_json = rondo({"check", kCells + "garch.cell", "--json"});
  EXPECT_NE(as_json.out.find("\"declared\": \"in (0, inf) = 1\""), std::string::npos) << as_json.out;
}

class OneRow : public ::testing::Test {
 protected:
  // garch: what is left out is in the middle of its range.
  std::vector<std::string> words(const std::vector<std::string>& more = {}) {
    write_numbers(folder_.path("x.npy"), {1, 2, 1, 2}, {0.5, -0.5, 1, 0});
    write_numbers(folder_.path("p.npy"), {1, 2}, {0.05, 0.05});
    std::vector<std::string> all = {
        "run",    kCells + "garch.cell",          "--no-db", "--input", "x=" + folder_.path("x.npy"),
        "--last", "v=" + folder_.path("last.npy")};
    for (const char* name : {"omega", "alpha", "beta"})
      all.insert(all.end(), {"--param-file", std::string(name) + "=" + folder_.path("p.npy")});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<double> last() const {
    return engine::npy_values(engine::read_npy(folder_.path("last.npy")).value(), kernel::Storage::F32, "")
        .value();
  }
  Folder folder_;
};

TEST_F(OneRow, BeginsWithWhatTheCellSays) {
  for (const bool reference : {false, true}) {
    const Outcome found = rondo(reference ? words({"--reference"}) : words());
    ASSERT_EQ(found.status, 0) << found.err;
    // v: 1, then 0.05 + 0.05 * 0.25 + 0.05 * 1 and so on.
    EXPECT_NEAR(last()[0], 0.05 + 0.05 * 1 + 0.05 * 0.1125, 1e-6);
  }
  std::vector<std::string> nothing = words();
  write_numbers(folder_.path("x.npy"), {1, 0, 1, 2}, {});
  ASSERT_EQ(rondo(nothing).status, 0);
  EXPECT_EQ(last(), (std::vector<double>{1, 1})) << "no steps";
}

TEST_F(OneRow, NumbersOutsideAreNamed) {
  std::vector<std::string> wrong = words();
  write_numbers(folder_.path("p.npy"), {1, 2}, {0.05, 0.1});
  const Outcome param = rondo(wrong);
  EXPECT_EQ(param.status, 2);
  EXPECT_NE(param.err.find("'omega': 0.1"), std::string::npos) << param.err;
  EXPECT_NE(param.err.find("at H=0 D=1 is not in (0, 0.1)"), std::string::npos) << param.err;
  wrong = words({"--state", "v=" + folder_.path("v.npy")});
  write_numbers(folder_.path("v.npy"), {1, 1, 2}, {-1, 1});
  for (const char* command : {"run", "verify"}) {
    wrong[0] = command;
    if (command == std::string("verify")) wrong.erase(wrong.begin() + 5, wrong.begin() + 7);
    const Outcome state = rondo(wrong);
    EXPECT_EQ(state.status, 2);
    EXPECT_NE(state.err.find("'v': -1 at B=0 H=0 D=0 is not in (0, inf)"), std::string::npos) << state.err;
  }
}

TEST_F(OneRow, ConstantsThatEmptyARangeAreNamed) {
  write_file(
      folder_.path("c.cell"),
      "cell c(D) {\n  const top = 1\n  input x[D] in (0, top)\n  state h[D]\n  next h = h + x\n  output "
      "h\n}\n");
  const Outcome found = rondo({"check", folder_.path("c.cell"), "--const", "top=-1"});
  EXPECT_EQ(found.status, 2);
  EXPECT_NE(found.err.find("the range (0, -1) of 'x' is empty"), std::string::npos) << found.err;
}

}  // namespace
}  // namespace rondo::test
