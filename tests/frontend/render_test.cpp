// How errors look on a terminal.
#include <gtest/gtest.h>

#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

std::string report(const std::string& text) { return render_all(parse(text, "f.cell"), text, "f.cell"); }

TEST(Render, ShowsPlaceLineCaretHelpAndCount) {
  EXPECT_EQ(report("cell c(D) {\n  input x[D]\n  state h[D]\n  next h = sigmod(h) + x\n  output h\n}\n"),
            "f.cell:4:12: error: unknown function 'sigmod'\n"
            "    4 |   next h = sigmod(h) + x\n"
            "      |            ^~~~~~\n"
            "      = help: did you mean 'sigmoid'?\n"
            "f.cell: 1 error\n");
}

TEST(Render, NoErrorsNoText) {
  EXPECT_EQ(report("cell c(D) { input x[D]; state h[D]; next h = h + x; output h }"), "");
}

TEST(Render, CaretLinesUpBehindTabsAndWideCharacters) {
  // Tabs are shown as blanks to the next multiple of four; a column is a character, whatever its bytes.
  EXPECT_EQ(
      report("cell c(D) {\n\tinput x[D]\n\tstate h[D]\n\tnext h\t= h + yy + x # \xCF\x83\n\toutput h\n}\n"),
      "f.cell:4:15: error: unknown name 'yy'\n"
      "    4 |     next h  = h + yy + x # \xCF\x83\n"
      "      |                   ^~\n"
      "f.cell: 1 error\n");
}

TEST(Render, LongLinesAreCutAroundTheCaret) {
  const std::string filler(300, ' ');
  const std::string text = "cell c(D) {\n  input x[D]\n  state h[D]\n  next h = h +" + filler + "yyy +" +
                           filler + "x\n  output h\n}\n";
  const std::string out = report(text);
  const std::string source =
      out.substr(out.find('\n') + 1, out.find('\n', out.find('\n') + 1) - out.find('\n') - 1);
  EXPECT_LT(source.size(), 120u);
  const std::string carets = out.substr(out.find('\n', out.find('\n') + 1) + 1);
  EXPECT_EQ(source.find("yyy"), carets.find("^~~"));
  EXPECT_EQ(source.substr(8, 3), "...");
  EXPECT_TRUE(source.ends_with("..."));
}

TEST(Render, BrokenBytesAreMadeVisible) {
  std::string text = "cell c(D) {\n  input x[D]\n  state h[D]\n  next h = h ? x\n  output h\n}\n";
  text[text.find('?')] = '\0';
  EXPECT_EQ(report(text),
            "f.cell:4:14: error: unexpected control character 0x00\n"
            "    4 |   next h = h ? x\n"
            "      |              ^\n"
            "      = help: is this a text file in UTF-8?\n"
            "f.cell: 1 error\n");
}

TEST(Render, ByteOrderMarkDoesNotShiftColumns) {
  EXPECT_EQ(report("\xEF\xBB\xBF"
                   "cell (D) { }\n"),
            "f.cell:1:6: error: expected the name of the cell, found '('\n"
            "    1 | cell (D) { }\n"
            "      |      ^\n"
            "f.cell: 1 error\n");
}

TEST(Render, AnyPlaceCanBeRendered) {
  for (const int line : {0, 1, 2, 99}) {
    for (const int column : {-1, 0, 1, 5, 1000}) {
      for (const int length : {0, 1, 1000}) {
        EXPECT_FALSE(render({{line, column, length}, "m", ""}, "ab\n\tc", "f").empty());
      }
    }
  }
}

}  // namespace
}  // namespace rondo::frontend::testing
