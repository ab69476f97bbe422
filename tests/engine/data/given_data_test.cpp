// The caller's arrays at the sizes of another run.
#include "engine/data/given_data.h"

#include <gtest/gtest.h>

namespace rondo::engine {
namespace {

using executable::Role;

TEST(GivenData, RowsAndStepsRepeat) {
  GivenData given;
  given.sizes = {2, 3, 1, 1};
  given.arguments.inputs["x"] = {0, 1, 2, 10, 11, 12};
  given.arguments.initial_states["h"] = {7, 8};
  given.arguments.params["a"] = {5};
  step::Tensor tensor;
  tensor.name = "x";
  const step::Sizes sizes = {3, 4, 1, 1};
  EXPECT_EQ(*given_values(&given, Role::Input, tensor, sizes),
            (std::vector<double>{0, 1, 2, 0, 10, 11, 12, 10, 0, 1, 2, 0}));
  EXPECT_EQ(*given_values(&given, Role::Input, tensor, {1, 2, 1, 1}), (std::vector<double>{0, 1}));
  tensor.name = "h";
  EXPECT_EQ(*given_values(&given, Role::InitialState, tensor, sizes), (std::vector<double>{7, 8, 7}));
  EXPECT_FALSE(given_values(&given, Role::Input, tensor, sizes));
  EXPECT_FALSE(given_values(&given, Role::LastStateGradient, tensor, sizes));
  tensor.name = "a";
  EXPECT_EQ(*given_values(&given, Role::Param, tensor, sizes), (std::vector<double>{5}));
  EXPECT_FALSE(given_values(nullptr, Role::Param, tensor, sizes));
}

}  // namespace
}  // namespace rondo::engine
