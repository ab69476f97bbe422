#include "compiler/support/units.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

TEST(Units, AreReadable) {
  EXPECT_EQ(digits(1030), "1030");
  EXPECT_EQ(digits(0.02913), "0.0291");
  EXPECT_EQ(duration(1.0959e-3), "1.1 ms");
  EXPECT_EQ(duration(0.0757e-3), "75.7 µs");
  EXPECT_EQ(duration(999.9e-6), "1 ms");
  EXPECT_EQ(duration(2), "2 s");
  EXPECT_EQ(duration(-131e-9), "-131 ns");
  EXPECT_EQ(duration(0), "0");
  EXPECT_EQ(with_prefix(4.3e12, "B/s"), "4.3 TB/s");
  EXPECT_EQ(with_prefix(999.9e9, "B/s"), "1 TB/s");
  EXPECT_EQ(percent(0.923), "92%");
  EXPECT_EQ(percent(0.004), "0.4%");
  EXPECT_EQ(times(1.15), "1.15×");
  EXPECT_EQ(times(12.3), "12×");
}

}  // namespace
}  // namespace rondo
