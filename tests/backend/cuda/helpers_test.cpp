// The table of helpers that is read from prelude/*.cuh.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/backend/cuda/prelude.h"

namespace rondo::backend::cuda {
namespace {

TEST(CudaHelpers, StandAfterWhatTheyNeed) {
  std::vector<std::string_view> seen;
  for (const Helper& helper : helpers()) {
    for (const std::string_view needed : helper.needs)
      EXPECT_TRUE(std::ranges::find(seen, needed) != seen.end()) << helper.name << " needs " << needed;
    EXPECT_TRUE(std::ranges::find(seen, helper.name) == seen.end()) << helper.name << " twice";
    seen.push_back(helper.name);
  }
  EXPECT_GT(seen.size(), 90U);
}

// What a section is named is what its text defines.
TEST(CudaHelpers, DefineWhatTheyAreNamed) {
  for (const Helper& helper : helpers())
    EXPECT_NE(helper.text.find(helper.name), std::string_view::npos) << helper.name;
}

TEST(CudaHelpers, SectionsOfAFile) {
  const std::vector<Helper> read = parse_helpers(
      "// for readers\n\n//: word\ntypedef int word;\n\n//: pair needs word i64\n// two\nstruct pair {\n\n  "
      "word a; //: b\n};\n");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].name, "word");
  EXPECT_TRUE(read[0].needs.empty());
  EXPECT_EQ(read[0].text, "typedef int word;\n");
  EXPECT_EQ(read[1].name, "pair");
  EXPECT_EQ(read[1].needs, (std::vector<std::string_view>{"word", "i64"}));
  EXPECT_EQ(read[1].text, "// two\nstruct pair {\n\n  word a; //: b\n};\n");
}

TEST(CudaHelpers, DamagedFiles) {
  for (const char* text :
       {"//: word\n", "//:\ntypedef int word;\n", "//: word other\ntypedef int word;\n",
        "//: word needs\ntypedef int word;\n", "//: word", "//: word\n\n//: next\nint x;\n"})
    EXPECT_THROW(parse_helpers(text), std::logic_error) << text;
  try {
    parse_helpers("//: word\ntypedef int word;\n\n//: next\n");
    FAIL() << "a section without a text is accepted";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("line 4"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rondo::backend::cuda
