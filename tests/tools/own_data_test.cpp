// Data of one's own: `--input`, `--param-file` and `--state` of verify, tune and bench.
#ifdef RONDO_BUILT_LLVM
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/arrays/npy.h"
#include "tests/support/slow_tests.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

// A series whose variance must be above zero: random parameters in [-1/2, 1/2] take it below.
const char* const kGarch = R"(cell garch(D) {
  input x[D]
  param omega[D], alpha[D], beta[D]
  state v[D]

  next v = omega + alpha * square(x) + beta * v
  output nll = 0.5 * (log(v) + square(x) / v)
}
)";

// `first`, and by `step` more to the next of seven numbers.
void write_numbers(const std::string& path, const std::vector<std::int64_t>& shape, double first,
                   double step) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + step * static_cast<double>(i % 7));
  write_file(path, engine::to_npy(engine::npy_from(values, shape, kernel::Storage::F32)));
}

class OwnData : public ::testing::Test {
 protected:
  OwnData() {
    write_file(folder_.path("garch.cell"), kGarch);
    for (const char* name : {"omega", "alpha", "beta"})
      write_numbers(folder_.path(std::string(name) + ".npy"), {1, 16}, 0.05, 0.01);
    write_numbers(folder_.path("v.npy"), {2, 1, 16}, 0.5, 0.1);
    write_numbers(folder_.path("x.npy"), {2, 24, 1, 16}, -0.9, 0.3);
  }

  std::vector<std::string> words(const std::string& command, const std::vector<std::string>& more) const {
    std::vector<std::string> all = {command, folder_.path("garch.cell"), "--arch", "cpu"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> given(const std::string& command, std::vector<std::string> more = {}) const {
    for (const char* name : {"omega", "alpha", "beta"}) {
      more.insert(more.end(), {"--param-file", std::string(name) + "=" + folder_.path(name) + ".npy"});
    }
    more.insert(more.end(),
                {"--state", "v=" + folder_.path("v.npy"), "--input", "x=" + folder_.path("x.npy")});
    return words(command, more);
  }

  Folder folder_;
};

TEST_F(OwnData, TakesTheCellToWhereRandomNumbersDoNot) {
  const Outcome random =
      rondo(words("verify", {"--no-db", "--dtype", "fp32", "--shape", "B=2,T=24,H=1,D=16"}));
  EXPECT_EQ(random.status, 2) << random.out;
  const Outcome own = rondo(given("verify", {"--no-db", "--pass", "fw,fws,bw", "-v"}));
  EXPECT_EQ(own.status, 0) << own.err << own.out;
  EXPECT_NE(own.out.find("B=2,T=24,H=1,D=16"), std::string::npos) << "the shape is that of the arrays";
  EXPECT_EQ(own.out.find("not the full shape"), std::string::npos) << own.out;
}

TEST_F(OwnData, InTheSimulator) {
  const Outcome own = rondo(given("verify", {"--no-db", "--simulate"}));
  EXPECT_EQ(own.status, 0) << own.err << own.out;
}

TEST_F(OwnData, IsTimed) {
  for (const char* what : {"--json", "--ablate"}) {
    std::vector<std::string> more = {"--no-db", "--samples", "3", what};
    if (what != std::string("--json")) more.emplace_back("--json");
    const Outcome own = rondo(given("bench", more));
    ASSERT_EQ(own.status, 0) << own.err << own.out;
    const nlohmann::json bench = nlohmann::json::parse(own.out);
    const nlohmann::json& row = bench.contains("rows") ? bench["rows"][0] : bench;
    EXPECT_NE(row.dump().find("\"D\":16"), std::string::npos) << own.out;
  }
}

TEST_F(OwnData, IsTunedWith) {
  if (rondo::testing::waits_for_its_turn()) GTEST_SKIP() << rondo::testing::kAnotherTurn;
  // In trial processes, and in this one.
  for (const char* limit : {"30s", "0s"}) {
    const Outcome own =
        rondo(given("tune", {"--db", folder_.path("tuning.db"), "--budget", "1s", "--trial-limit", limit}));
    EXPECT_EQ(own.status, 0) << own.err << own.out;
  }
}

TEST_F(OwnData, MayBeOfSomeTensors) {
  std::vector<std::string> more = {"--no-db", "--dtype", "fp32", "--shape", "B=2,T=9,H=1,D=16", "-v"};
  for (const char* name : {"omega", "alpha", "beta"})
    more.insert(more.end(), {"--param-file", std::string(name) + "=" + folder_.path(name) + ".npy"});
  more.insert(more.end(), {"--state", "v=" + folder_.path("v.npy")});
  const Outcome own = rondo(words("verify", more));
  EXPECT_EQ(own.status, 0) << own.err << own.out;
  EXPECT_NE(own.out.find("B=2,T=9"), std::string::npos) << own.out;
}

TEST_F(OwnData, MistakesAreNamed) {
  const Outcome unknown = rondo(words("verify", {"--no-db", "--input", "y=" + folder_.path("x.npy")}));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("has no input 'y'"), std::string::npos) << unknown.err;
  const Outcome shape =
      rondo(given("verify", {"--no-db", "--shape", "B=3,T=24,H=1,D=16", "--dtype", "fp32"}));
  EXPECT_EQ(shape.status, 2);
  EXPECT_NE(shape.err.find("--shape says B=3,T=24"), std::string::npos) << shape.err;
  write_numbers(folder_.path("none.npy"), {2, 0, 1, 16}, 0, 0);
  const Outcome nothing = rondo(words("verify", {"--no-db", "--input", "x=" + folder_.path("none.npy")}));
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.err.find("nothing to compute"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace rondo::test
#endif  // RONDO_BUILT_LLVM
