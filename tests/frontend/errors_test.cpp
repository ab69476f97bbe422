// One bad input a file: tests/errors/*.cell end with lines "# expect LINE:COLUMN MESSAGE", one for every
// error the text before them must give; no error may be missing, added or moved. A line "# help TEXT" after
// one says which help it must have.
#include <gtest/gtest.h>

#include <optional>
#include <sstream>

#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

constexpr std::string_view kMarker = "# expect ";
constexpr std::string_view kHelpMarker = "# help ";

struct ExpectedError {
  std::string error;                // "LINE:COLUMN MESSAGE"
  std::optional<std::string> help;  // any one if there is none
};

struct Case {
  std::string text;
  std::vector<ExpectedError> expected;
};

Case read_case(const std::filesystem::path& path) {
  const std::string all = read_file(path);
  const std::size_t begin = all.starts_with(kMarker) ? 0 : all.find("\n" + std::string(kMarker)) + 1;
  Case result{all.substr(0, begin), {}};
  std::istringstream lines(all.substr(begin));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kHelpMarker)) {
      result.expected.back().help = line.substr(kHelpMarker.size());
    } else {
      result.expected.push_back({line.substr(kMarker.size()), {}});
    }
  }
  return result;
}

std::string text_of(const std::vector<ExpectedError>& list) {
  std::string text;
  for (const ExpectedError& one : list) text += one.error + "\n" + (one.help ? "  " + *one.help + "\n" : "");
  return text;
}

class BadCell : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadCell, GivesExactlyTheExpectedErrors) {
  const Case bad = read_case(GetParam());
  ASSERT_FALSE(bad.expected.empty()) << "no '# expect' line";
  const Parsed parsed = parse(bad.text, "bad.cell");
  EXPECT_TRUE(parsed.cells.empty());
  std::vector<ExpectedError> found;
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    const bool help = found.size() < bad.expected.size() && bad.expected[found.size()].help;
    found.push_back({std::to_string(diagnostic.span.line) + ":" + std::to_string(diagnostic.span.column) +
                         " " + diagnostic.message,
                     help ? std::optional(diagnostic.help) : std::nullopt});
  }
  EXPECT_EQ(text_of(found), text_of(bad.expected)) << render_all(parsed, bad.text, "bad.cell");
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

TEST(Errors, WhatIsNotShownCostsNoTime) {
  // Every name that is defined is a candidate for every name that is not; only so many are looked at.
  std::string text = "cell c(D) {\n  input x[D]\n  state h[D]\n";
  for (int i = 0; i < 9000; ++i)
    text += "  aaaa" + std::to_string(i) + " = bbbb" + std::to_string(i) + "(x) + h\n";
  text += "  next h = unknown\n  output h\n}\n";
  const Parsed parsed = parse(text, "names.cell");
  ASSERT_EQ(parsed.diagnostics.size(), 201u);
  EXPECT_EQ(parsed.diagnostics.back().message, "too many errors; the rest is not shown");
}

TEST(Errors, AnOverlongFileIsRefused) {
  const Parsed parsed = parse(std::string(3 << 20, '#'), "long.cell");
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].message, "this file has 3145728 bytes; the limit is 1048576");
}

}  // namespace
}  // namespace rondo::frontend::testing
