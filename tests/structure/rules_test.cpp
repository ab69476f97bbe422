// Each rule finds what was planted against it, and names file, line and rule.
#include "tests/structure/rules.h"

#include <gtest/gtest.h>

namespace rondo::structure {
namespace {

std::vector<std::string> texts(const Findings& findings) {
  std::vector<std::string> result;
  for (const Finding& finding : findings) result.push_back(finding.text());
  return result;
}
using Texts = std::vector<std::string>;

const char* const kTable =
    "# Overview\n\n| other | table | `x` |\n|---|---|---|\n\n## Which folder may include which\n\n"
    "| folder | holds | may include |\n|---|---|---|\n| `compiler/low` | the base | - |\n"
    "| `compiler/high` | the top | `compiler/low` |\n\n| `compiler/low` | of another table | - |\n";

FolderTable table() { return read_folder_table("docs/folders.md", kTable); }

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "\n";
  return text;
}

TEST(Rules, ATreeThatKeepsThem) {
  const std::vector<SourceFile> files = {
      {"compiler/low/a.h", "#include <vector>\n#include \"compiler/low/b.h\"\n"},
      {"compiler/high/a.cpp", "#include \"compiler/low/a.h\"\nint f() {" + lines(79) + "}\n"},
      {"compiler/high/b.cpp", lines(500)}};
  EXPECT_EQ(texts(check_arrows(files, table())), Texts{});
  EXPECT_EQ(texts(check_table(files, table())), Texts{});
  EXPECT_EQ(texts(check_sizes(files)), Texts{});
}

TEST(Rules, PlantedArrow) {
  EXPECT_EQ(
      texts(check_arrows(
          {{"compiler/low/a.h", "#pragma once\n\n  # include  \"compiler/high/a.h\"  // up\n"}}, table())),
      (Texts{"compiler/low/a.h:3: arrow: compiler/low may not include compiler/high (docs/folders.md)"}));
  EXPECT_EQ(texts(check_arrows({{"compiler/low/a.cpp", "#include \"a.h\"\n"}}, table())),
            (Texts{"compiler/low/a.cpp:1: arrow: compiler/low may not include a path without a folder "
                   "(docs/folders.md)"}));
}

TEST(Rules, FolderWithoutARow) {
  EXPECT_EQ(texts(check_arrows({{"compiler/new/a.h", "\n"}, {"compiler/new/b.h", "\n"}}, table())),
            (Texts{"compiler/new/a.h: folder: compiler/new has no row in docs/folders.md"}));
}

TEST(Rules, PlantedCycle) {
  const std::string text =
      std::string("## Which folder may include which\n| folder | holds | may include |\n|---|---|---|\n") +
      "| `a` | | `b` |\n| `b` | | `c` |\n| `c` | | `b`, `d` |\n| `d` | | - |\n";
  const FolderTable folders = read_folder_table("docs/folders.md", text);
  EXPECT_EQ(texts(check_table({{"a/x.h", ""}, {"b/x.h", ""}, {"c/x.h", ""}, {"d/x.h", ""}}, folders)),
            (Texts{"docs/folders.md:5: cycle: b -> c -> b"}));
}

TEST(Rules, FaultsOfTheTable) {
  const std::string head =
      "## Which folder may include which\n| folder | holds | may include |\n|---|---|---|\n";
  EXPECT_EQ(texts(check_table({{"a/x.h", ""}},
                              read_folder_table("t.md", head + "| `a` | | `gone` |\n| `b` | | - |\n"))),
            (Texts{"t.md:4: table: a may include gone, which has no row",
                   "t.md:5: table: there is no folder b with sources"}));
  EXPECT_EQ(
      texts(read_folder_table("t.md", head + "| a | | - |\n| `a` | | |\n| `a` | | - |\n| `a` | | - |\n")
                .faults),
      (Texts{"t.md:4: table: a row is | `folder` | what it holds | `folders` that it may include, or - |",
             "t.md:5: table: a includes none: say so by -", "t.md:7: table: a has two rows"}));
  EXPECT_EQ(texts(read_folder_table("t.md", "# Overview\n").faults),
            (Texts{"t.md: table: there is no table below '## Which folder may include which'"}));
}

TEST(Rules, PlantedClimb) {
  EXPECT_EQ(
      texts(check_layers({{"runtime/plan/a.cpp", "\n#include \"tuner/tune/tune.h\"\n"},
                          {"tuner/tune/a.cpp", "#include \"runtime/plan/a.h\"\n#include \"rondo/rondo.h\"\n"},
                          {"attic/a.h", ""}})),
      (Texts{"runtime/plan/a.cpp:2: layer: an arrow climbs from runtime to tuner",
             "attic/a.h: layer: its top-level folder is no layer"}));
}

TEST(Rules, LongFile) {
  EXPECT_EQ(texts(check_sizes({{"compiler/low/a.h", lines(501)}, {"compiler/low/a.cuh", lines(502)}})),
            (Texts{"compiler/low/a.h: long file: 501 lines; a file has at most 500",
                   "compiler/low/a.cuh: long file: 502 lines; a file has at most 500"}));
}

TEST(Rules, LongFunction) {
  EXPECT_EQ(
      texts(check_sizes({{"compiler/low/a.cpp", "int x;\nint C::f()\n    const {" + lines(79) + "}\n"}})),
      (Texts{"compiler/low/a.cpp:2: long function: C::f has 81 lines; a function has at most 80"}));
}

TEST(Rules, UnclosedBracket) {
  EXPECT_EQ(texts(check_sizes({{"compiler/low/a.cpp", "int x;\nint f() {\n"}})),
            (Texts{"compiler/low/a.cpp:2: brackets: no bracket closes this one"}));
}

TEST(Rules, FullFolder) {
  std::vector<SourceFile> files = {{"compiler/low/a.h", ""}, {"compiler/low/deeper/a.cpp", ""}};
  for (int i = 0; i < 30; ++i) files.push_back({"compiler/low/" + std::to_string(i) + ".cpp", ""});
  EXPECT_EQ(texts(check_sizes(files)), Texts{});
  files.push_back({"compiler/low/30.cpp", ""});
  EXPECT_EQ(texts(check_sizes(files)),
            (Texts{"compiler/low: full folder: 31 .cpp files; a folder has at most 30"}));
}

TEST(Rules, TestsWithoutAProduct) {
  EXPECT_EQ(texts(check_mirror(
                {"tests/low", "tests/gone", "tests/engine/plan", "tests/golden", "tests/golden/gone"},
                {"compiler/low", "runtime", "engine/plan"}, {"golden"})),
            (Texts{"tests/gone: mirror: there is no folder gone or compiler/gone"}));
}

}  // namespace
}  // namespace rondo::structure
