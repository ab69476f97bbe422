#include "compiler/support/enum_text.h"

#include <gtest/gtest.h>

namespace rondo {
namespace {

enum class Hue { Red, Green, Blue32 };
constexpr EnumText<Hue> kHues[] = {{Hue::Red, "red"}, {Hue::Green, "green"}, {Hue::Blue32, "blue"}};

TEST(EnumText, ThereAndBack) {
  EXPECT_STREQ(to_text(kHues, Hue::Red), "red");
  EXPECT_STREQ(to_text(kHues, Hue::Blue32), "blue");
  EXPECT_EQ(from_text(kHues, "green"), Hue::Green);
  EXPECT_EQ(from_text(kHues, "Green"), std::nullopt);
  EXPECT_EQ(from_text(kHues, ""), std::nullopt);
  EXPECT_STREQ(to_text(kHues, static_cast<Hue>(3)), "?");
  EXPECT_STREQ(to_text(kHues, static_cast<Hue>(-1)), "?");
}

// The assertion that guards each table fails for a row too few, wherever it is missing, and for rows out of
// order.
TEST(EnumText, TablesAreTotal) {
  static_assert(is_total(kHues));
  constexpr EnumText<Hue> without_last[] = {{Hue::Red, "red"}, {Hue::Green, "green"}};
  static_assert(!is_total(without_last));
  constexpr EnumText<Hue> without_first[] = {{Hue::Green, "green"}, {Hue::Blue32, "blue"}};
  static_assert(!is_total(without_first));
  constexpr EnumText<Hue> out_of_order[] = {{Hue::Red, "red"}, {Hue::Blue32, "blue"}, {Hue::Green, "green"}};
  static_assert(!is_total(out_of_order));
  constexpr EnumText<Hue> twice[] = {
      {Hue::Red, "red"}, {Hue::Green, "green"}, {Hue::Blue32, "blue"}, {Hue::Blue32, "blue"}};
  static_assert(!is_total(twice));
}

}  // namespace
}  // namespace rondo
