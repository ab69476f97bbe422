// What rows of configurations show of their parameters.
#include "tools/rondo/parameter_table.h"

#include <gtest/gtest.h>

namespace rondo::tools {
namespace {

using Rows = std::vector<std::string>;

TEST(ParameterTable, CommonParametersAreSaidOnce) {
  const ParameterTable table = parameter_table({{"stream", {{"stages", 3}, {"steps", 64}, {"unroll", 8}}},
                                                {"stream", {{"stages", 4}, {"steps", 64}, {"unroll", 8}}},
                                                {"stream", {{"stages", 3}, {"steps", 128}, {"unroll", 8}}}});
  EXPECT_EQ(table.rows,
            (Rows{"stream stages=3 steps=64", "stream stages=4 steps=64", "stream stages=3 steps=128"}));
  EXPECT_EQ(table.common, "  all stream: unroll=8\n");
}

TEST(ParameterTable, OneRowHasAll) {
  const ParameterTable table = parameter_table({{"stream", {{"stages", 3}, {"steps", 64}}}});
  EXPECT_EQ(table.rows, (Rows{"stream stages=3 steps=64"}));
  EXPECT_EQ(table.common, "");
}

TEST(ParameterTable, StrategiesAreComparedWithThemselves) {
  const ParameterTable table = parameter_table({{"persistent", {{"stages", 3}, {"steps", 8}}},
                                                {"alternating", {{"stages", 3}, {"units", 8}}},
                                                {"persistent", {{"stages", 3}, {"steps", 4}}},
                                                {"stream", {{"stages", 3}}},
                                                {"stream", {{"stages", 3}}}});
  EXPECT_EQ(table.rows, (Rows{"persistent steps=8", "alternating stages=3 units=8", "persistent steps=4",
                              "stream", "stream"}));
  EXPECT_EQ(table.common, "  all persistent: stages=3\n  all stream: stages=3\n");
}

TEST(ParameterTable, WhatSomeRowsLackIsNotCommon) {
  const ParameterTable table =
      parameter_table({{"stream", {{"grid", 0}, {"stages", 3}}}, {"stream", {{"stages", 3}}}});
  EXPECT_EQ(table.rows, (Rows{"stream grid=0", "stream"}));
  EXPECT_EQ(table.common, "  all stream: stages=3\n");
  EXPECT_EQ(parameter_table({{"a", {{"x", 1}}}, {"a", {{"x", 2}}}}).common, "");
}

TEST(ParameterTable, NoRows) {
  EXPECT_TRUE(parameter_table({}).rows.empty());
  EXPECT_EQ(parameter_table({}).common, "");
}

}  // namespace
}  // namespace rondo::tools
