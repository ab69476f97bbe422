#include "engine/service/saving.h"

#include <gtest/gtest.h>

namespace rondo::engine {
namespace {

TEST(Saving, LikeIsComparedWithLike) {
  const TrainingTime states{{1, 10}, {2, 20}}, products{{2, 5}, {3, 6}};
  SaveComparison found = compare_saving(states, products);
  EXPECT_TRUE(found.measured);
  EXPECT_EQ(found.states_s, 3);
  EXPECT_EQ(found.products_s, 5);
  EXPECT_STREQ(found.faster(), "states");
  // One that was not measured: what the model says counts for all.
  for (int missing = 0; missing < 4; ++missing) {
    TrainingTime of[2] = {states, products};
    TrainingTime& way = of[missing / 2];
    (missing % 2 == 0 ? way.forward : way.backward).measured = 0;
    found = compare_saving(of[0], of[1]);
    EXPECT_FALSE(found.measured);
    EXPECT_EQ(found.states_s, 30);
    EXPECT_EQ(found.products_s, 11);
    EXPECT_STREQ(found.faster(), "products");
  }
  EXPECT_STREQ(compare_saving(states, states).faster(), "states") << "it needs less memory";
}

}  // namespace
}  // namespace rondo::engine
