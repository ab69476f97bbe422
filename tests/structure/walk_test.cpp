// Each rule of a walk finds what was planted against it.
#include "tests/structure/walk.h"

#include <gtest/gtest.h>

namespace rondo::structure {
namespace {

using Texts = std::vector<std::string>;

const std::vector<SourceFile> kFiles = {
    {"compiler/low/a.cpp", "int Low::build(int x) {\n  return x;\n}\n"},
    {"engine/mid/a.cpp", "// top(0) in a comment\nint plan() {\n  return choose(1) + build(2);\n}\n"},
    {"engine/mid/b.cpp", "int code() { return machine.build(1) + top(3); }\n"},
    {"engine/mid/choice.h", "inline int choose(int x) { return x; }\n"},
    {"tools/top/a.cpp", "\nint top(int x) { return plan() + x; }\nint rest() { return plan() + code(); }\n"}};

Texts found(const Walk& walk) {
  const FolderTable table =
      read_folder_table("docs/folders.md",
                        "## Which folder may include which\n| folder | holds | may include |\n|---|---|---|\n"
                        "| `compiler/low` | | - |\n| `engine/mid` | | - |\n| `tools/top` | | - |\n");
  Texts texts;
  for (const Finding& finding : check_walk(walk, kFiles, table)) texts.push_back(finding.text());
  return texts;
}

TEST(Walk, GoesDown) {
  EXPECT_EQ(found({{0, "tools/top", "top"},
                   {1, "engine/mid", "plan"},
                   {2, "engine/mid", "choose"},
                   {2, "compiler/low", "build"}}),
            Texts{});
  EXPECT_EQ(found({{0, "tools/top", "rest"},
                   {1, "engine/mid", "plan"},
                   {2, "compiler/low", "build"},
                   {1, "engine/mid", "code"}}),
            Texts{})
      << "it returns to a room once";
}

TEST(Walk, PlantedClimb) {
  EXPECT_EQ(found({{0, "engine/mid", "code"}, {1, "tools/top", "top"}}),
            Texts{"tools/top/a.cpp:2: climb: top climbs from engine/mid to tools/top"});
}

TEST(Walk, WhatIsNotSo) {
  EXPECT_EQ(found({{0, "tools/top", "top"}, {1, "engine/mid", "code"}}),
            Texts{"engine/mid/b.cpp:1: walk: code is not called by top"});
  EXPECT_EQ(found({{0, "engine/mid", "plan"}, {1, "tools/top", "top"}}).size(), 2U)
      << "a comment calls nothing";
  EXPECT_EQ(found({{0, "tools/top", "top"}, {1, "compiler/low", "plan"}}),
            Texts{"compiler/low: walk: plan has no body in compiler/low"});
  EXPECT_EQ(found({{0, "tools/top", "top"}, {1, "attic", "plan"}}),
            (Texts{"attic: walk: plan has no body in attic",
                   "attic: walk: plan has a folder, or a caller's, without a row in docs/folders.md"}));
}

TEST(Walk, ARoomThatIsReturnedToTwice) {
  EXPECT_EQ(found({{0, "tools/top", "rest"},
                   {1, "engine/mid", "plan"},
                   {2, "compiler/low", "build"},
                   {1, "engine/mid", "code"},
                   {2, "compiler/low", "build"},
                   {1, "engine/mid", "plan"}}),
            Texts{"engine/mid/a.cpp:2: return: plan returns to engine/mid again"});
}

}  // namespace
}  // namespace rondo::structure
