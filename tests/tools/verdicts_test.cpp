// What `tune` says of cells that leave the numbers on random data.
#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace rondo::test {
namespace {

#ifdef RONDO_BUILT_LLVM
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
