// How errors become the program's status: as docs/command-line.md and the help say.
#include "tools/rondo/report.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "tests/tools/program.h"

namespace rondo::tools {
namespace {

const std::map<ErrorKind, int>& documented() {
  static const std::map<ErrorKind, int> statuses = {{ErrorKind::Input, 2},   {ErrorKind::Unsupported, 3},
                                                    {ErrorKind::Missing, 4}, {ErrorKind::Database, 5},
                                                    {ErrorKind::Device, 6},  {ErrorKind::Compile, 7},
                                                    {ErrorKind::Wrong, 8},   {ErrorKind::Internal, 70},
                                                    {ErrorKind::Memory, 71}, {ErrorKind::Cancelled, 130}};
  return statuses;
}

// The numbers that head the rows of the page's table, but for 0.
std::vector<int> statuses_of_the_page() {
  const std::string page = test::read_file(std::string(RONDO_SOURCE_DIR) + "/docs/command-line.md");
  const std::size_t first = page.find("## Exit status"), end = page.find("\n## ", first + 1);
  const std::string section = page.substr(first, end - first);
  const std::regex row("\n\\| (\\d+) \\|");
  std::vector<int> statuses;
  for (std::sregex_iterator match(section.begin(), section.end(), row), last; match != last; ++match)
    if (const int status = std::stoi((*match)[1]); status != 0) statuses.push_back(status);
  return statuses;
}

TEST(Printable, NothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\tb\nc \xc3\xa9"), "a\tb\nc \xc3\xa9");
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\rb\x7f"), "a\\x0db\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\xc2\\x9b31m")
      << "U+009B begins a command too";
}

TEST(Sizes, HaveUnitsThatCanBeCompared) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(99999), "99999 bytes");
  EXPECT_EQ(size_text(100000), "0.10 MB");
  EXPECT_EQ(size_text(25'165'824), "25.2 MB");
  EXPECT_EQ(size_text(99'499'999), "99.5 MB");
  EXPECT_EQ(size_text(100'000'000), "0.10 GB");
  EXPECT_EQ(size_text(1'610'612'736), "1.61 GB");
  EXPECT_EQ(size_text(141'000'000'000), "141 GB");
}

TEST(ExitStatus, EachKindOfErrorHasTheDocumentedOne) {
  std::vector<int> ascending;
  for (const auto& [kind, status] : documented()) {
    EXPECT_EQ(exit_status(kind), status) << kind_name(kind);
    ascending.push_back(status);
  }
  std::sort(ascending.begin(), ascending.end());
  EXPECT_EQ(statuses_of_the_page(), ascending) << "docs/command-line.md";
}

}  // namespace
}  // namespace rondo::tools
