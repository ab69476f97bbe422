// One bad input a file: tests/errors/*.cell end with lines "# expect LINE:COLUMN MESSAGE", one for every
// error the text before them must give; no error may be missing, added or moved.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

constexpr std::string_view kMarker = "# expect ";

struct Case {
  std::string text;
  std::vector<std::string> expected;  // "LINE:COLUMN MESSAGE"
};

Case read_case(const std::filesystem::path& path) {
  const std::string all = read_file(path);
  const std::size_t begin = all.starts_with(kMarker) ? 0 : all.find("\n" + std::string(kMarker)) + 1;
  Case result{all.substr(0, begin), {}};
  std::istringstream lines(all.substr(begin));
  for (std::string line; std::getline(lines, line);) result.expected.push_back(line.substr(kMarker.size()));
  return result;
}

class BadCell : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadCell, GivesExactlyTheExpectedErrors) {
  const Case bad = read_case(GetParam());
  ASSERT_FALSE(bad.expected.empty()) << "no '# expect' line";
  const Parsed parsed = parse(bad.text, "bad.cell");
  EXPECT_TRUE(parsed.cells.empty());
  std::vector<std::string> found;
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    found.push_back(std::to_string(diagnostic.span.line) + ":" + std::to_string(diagnostic.span.column) +
                    " " + diagnostic.message);
  }
  EXPECT_EQ(found, bad.expected) << render_all(parsed, bad.text, "bad.cell");
}

std::string name_of(const ::testing::TestParamInfo<std::filesystem::path>& info) { return info.param.stem(); }
INSTANTIATE_TEST_SUITE_P(Errors, BadCell, ::testing::ValuesIn(cell_files("tests/errors")), name_of);

TEST(Errors, ThereAreManyCases) { EXPECT_GE(cell_files("tests/errors").size(), 90u); }

TEST(Errors, AllCasesInOneFileKeepTheirNumber) {
  // Errors of one cell do not hide those of the next.
  std::string text;
  std::size_t expected = 0;
  for (const char* name : {"unknown_name", "shape_of_next", "unused_input", "missing_parenthesis"}) {
    const Case bad = read_case(source_dir() / "tests/errors" / (std::string(name) + ".cell"));
    std::string cell = bad.text;
    text += cell.replace(cell.find("bad"), 3, name);
    expected += bad.expected.size();
  }
  EXPECT_EQ(parse(text, "all.cell").diagnostics.size(), expected);
}

TEST(Errors, GarbageIsReportedUpToALimit) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "cell c(D) { next x = $ }\n";
  const Parsed parsed = parse(text, "garbage.cell");
  EXPECT_GT(parsed.diagnostics.size(), 100u);
  EXPECT_LT(parsed.diagnostics.size(), 300u);
}

TEST(Errors, AnOverlongFileIsRefused) {
  const Parsed parsed = parse(std::string(3 << 20, '#'), "long.cell");
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].message, "this file has 3145728 bytes; the limit is 1048576");
}

}  // namespace
}  // namespace rondo::frontend::testing
