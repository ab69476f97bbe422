#include "compiler/support/enum_text.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

enum class Colour { Red, Green, Blue32 };
constexpr EnumText<Colour> kColours[] = {
    {Colour::Red, "red"}, {Colour::Green, "green"}, {Colour::Blue32, "blue"}};

TEST(EnumText, ThereAndBack) {
  EXPECT_STREQ(to_text(kColours, Colour::Red), "red");
  EXPECT_STREQ(to_text(kColours, Colour::Blue32), "blue");
  EXPECT_EQ(from_text(kColours, "green"), Colour::Green);
  EXPECT_EQ(from_text(kColours, "Green"), std::nullopt);
  EXPECT_EQ(from_text(kColours, ""), std::nullopt);
  EXPECT_STREQ(to_text(kColours, static_cast<Colour>(3)), "?");
  EXPECT_STREQ(to_text(kColours, static_cast<Colour>(-1)), "?");
}

// The assertion that guards each table fails for a row too few, wherever it is missing, and for rows out of
// order.
TEST(EnumText, TablesAreTotal) {
  static_assert(is_total(kColours));
  constexpr EnumText<Colour> without_last[] = {{Colour::Red, "red"}, {Colour::Green, "green"}};
  static_assert(!is_total(without_last));
  constexpr EnumText<Colour> without_first[] = {{Colour::Green, "green"}, {Colour::Blue32, "blue"}};
  static_assert(!is_total(without_first));
  constexpr EnumText<Colour> out_of_order[] = {
      {Colour::Red, "red"}, {Colour::Blue32, "blue"}, {Colour::Green, "green"}};
  static_assert(!is_total(out_of_order));
  constexpr EnumText<Colour> twice[] = {
      {Colour::Red, "red"}, {Colour::Green, "green"}, {Colour::Blue32, "blue"}, {Colour::Blue32, "blue"}};
  static_assert(!is_total(twice));
}

}  // namespace
}  // namespace rondo
