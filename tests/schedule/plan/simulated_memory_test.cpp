// The memory of a simulated device: what overlaps is said, and never shared.
#include "compiler/schedule/plan/simulated_memory.h"

#include <gtest/gtest.h>

namespace rondo::schedule {
namespace {

kernel::GlobalBuffer words(std::int64_t count) { return kernel::output_buffer(kernel::Storage::F32, count); }

TEST(SimulatedMemory, TensorsSideBySideAreApart) {
  SimulatedMemory memory;
  EXPECT_EQ(memory.add(0, "scratch", 1024, 40, words(10)), "");
  EXPECT_EQ(memory.add(1, "carries", 1064, 40, words(10)), "");
  EXPECT_EQ(memory.add(2, "vectors", 1020, 4, words(1)), "");
  EXPECT_EQ(memory.find(0, 1024), 0);
  EXPECT_EQ(memory.find(1, 1064), 1);
  EXPECT_EQ(memory.find(1, 1024), -1);
  EXPECT_EQ(memory.find(3, 1024), -1);
  EXPECT_EQ(memory.at(1064), &memory.buffers()[1]);
  EXPECT_EQ(memory.at(1060), nullptr);
}

TEST(SimulatedMemory, AnOverlapIsSaidAndNotShared) {
  for (const executable::Address address : {1024, 1020, 1060, 1030}) {
    SimulatedMemory memory;
    EXPECT_EQ(memory.add(0, "scratch", 1024, 40, words(10)), "");
    EXPECT_EQ(memory.add(1, "carries", address, 8, words(2)), "scratch") << address;
    EXPECT_EQ(memory.find(0, 1024), 0) << address;
    EXPECT_EQ(memory.find(1, address), 1) << address;
  }
}

TEST(SimulatedMemory, ATensorWithoutElementsTakesAPlaceToo) {
  SimulatedMemory memory;
  EXPECT_EQ(memory.add(0, "nothing", 1024, 0, words(0)), "");
  EXPECT_EQ(memory.add(1, "carries", 1024, 8, words(2)), "nothing");
}

}  // namespace
}  // namespace rondo::schedule
