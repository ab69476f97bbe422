// A problem of any type comes back from its bytes as it was: trials of the tuner are asked for so.
#include "compiler/schedule/problem/serialise.h"

#include <gtest/gtest.h>

namespace rondo::schedule {
namespace {

TEST(ProblemBytes, ComeBackInEveryType) {
  using kernel::Storage;
  for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16, Storage::F64})
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      Problem problem;
      problem.sizes = {3, 5, 7, 11};
      problem.storage = storage;
      problem.pass = pass;
      problem.math = default_math(storage);
      problem.constants = {{"a", 0.1}};
      ByteWriter writer;
      write_problem(writer, problem);
      ByteReader reader(writer.bytes());
      const Problem read = read_problem(reader);
      ASSERT_TRUE(reader.ok()) << kernel::storage_name(storage);
      EXPECT_EQ(read.storage, storage);
      EXPECT_EQ(read.pass, pass);
      EXPECT_EQ(read.math, problem.math);
      EXPECT_EQ(read.constants, problem.constants);
      EXPECT_EQ(read.sizes.dim, 11);
    }
}

}  // namespace
}  // namespace rondo::schedule
