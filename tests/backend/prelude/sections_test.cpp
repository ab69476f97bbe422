// Files of helpers, cut into sections.
#include "compiler/backend/prelude/sections.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rondo::backend {
namespace {

TEST(HelperSections, SectionsOfAFile) {
  const std::vector<Helper> read = parse_helpers(
      "// for readers\n\n//: word\ntypedef int word;\n\n//: pair needs word i64\n// two\nstruct pair {\n\n  "
      "word a; //: b\n};\n",
      "//:");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "word");
  EXPECT_TRUE(read[0].needs.empty());
  EXPECT_EQ(read[0].text, "typedef int word;\n");
  EXPECT_EQ(read[1].name, "pair");
  EXPECT_EQ(read[1].needs, (std::vector<std::string_view>{"word", "i64"}));
  EXPECT_EQ(read[1].text, "// two\nstruct pair {\n\n  word a; //: b\n};\n");
}

TEST(HelperSections, DamagedFiles) {
  for (const char* text :
       {"//: word\n", "//:\ntypedef int word;\n", "//: word other\ntypedef int word;\n",
        "//: word needs\ntypedef int word;\n", "//: word", "//: word\n\n//: next\nint x;\n"})
    EXPECT_THROW(parse_helpers(text, "//:"), std::logic_error) << text;
  try {
    parse_helpers("//: word\ntypedef int word;\n\n//: next\n", "//:");
    FAIL() << "a section without a text is accepted";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("line 4"), std::string::npos) << error.what();
  }
}

TEST(HelperSections, TheMarkIsTheLanguages) {
  const std::vector<Helper> read = parse_helpers(";: a\n; one\ndefine\n\n;: b needs a\ncall //: no\n", ";:");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].text, "; one\ndefine\n");
  EXPECT_EQ(read[1].needs, std::vector<std::string_view>{"a"});
}

TEST(HelperSections, BringWhatTheyNeed) {
  const std::vector<Helper> read =
      parse_helpers(";: a\na\n;: b\nb\n;: c needs a\nc\n;: d needs c\nd\n", ";:");
  std::set<std::string_view> required;
  require_helper(read, "d", required);
  require_helper(read, "fmaf", required);
  EXPECT_EQ(required, (std::set<std::string_view>{"a", "c", "d"}));
}

TEST(HelperSections, FilesAndTheirOrder) {
  const std::vector<EmbeddedText> files = {{"x", ";: two\n2\n"}, {"y", ";: one\n1\n"}};
  const std::string_view order[] = {"y", "x"}, other[] = {"y", "z"}, few[] = {"x"};
  EXPECT_EQ(read_helpers(files, order, ";:")[0].name, "one");
  EXPECT_THROW(read_helpers(files, other, ";:"), std::logic_error);
  EXPECT_THROW(read_helpers(files, few, ";:"), std::logic_error);
}

TEST(HelperSections, FormsStandInTheirPlaces) {
  const std::vector<Helper> all = parse_helpers(";: a\na\n;: b needs a\nb\n;: c\nc\n", ";:");
  const std::vector<Helper> formed = with_forms(all, parse_helpers(";: b\nother\n", ";:"));
  ASSERT_EQ(formed.size(), 3U);
  EXPECT_EQ(formed[1].text, "other\n");
  EXPECT_TRUE(formed[1].needs.empty());
  EXPECT_EQ(formed[2].name, "c");
  EXPECT_THROW(with_forms(all, parse_helpers(";: d\nd\n", ";:")), std::logic_error);
}

}  // namespace
}  // namespace rondo::backend
