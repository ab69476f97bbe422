// The rules of the source tree: which folder may include which, and how large files, functions and folders
// may be.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rondo::structure {

inline constexpr int kMostLinesOfFile = 500;
inline constexpr int kMostLinesOfFunction = 80;
inline constexpr std::size_t kMostSourcesOfFolder = 30;  // .cpp files

struct SourceFile {
  std::string path;  // from the root of the tree: "compiler/kernel/ir/ir.h"
  std::string text;
};

// A breach of a rule.
struct Finding {
  std::string file;
  int line = 0;  // 0 where the rule is about the whole file or folder
  std::string rule;
  std::string message;
  std::string text() const;  // "compiler/step/print.cpp:12: arrow: ..."
};
using Findings = std::vector<Finding>;

// What the table in docs/folders.md allows: for each folder the folders that its files may include,
// directly.
struct FolderTable {
  struct Row {
    int line = 0;
    std::set<std::string> may_include;
  };
  std::string file;  // that the table was read from, for messages
  std::map<std::string, Row> rows;
  Findings faults;  // rows that cannot be read, and folders that have two
};

// Reads the first table below the heading "## Which folder may include which": | folder | holds | may include
// |, names of folders in backticks. A table that is missing is a fault.
FolderTable read_folder_table(const std::string& file, const std::string& text);

// "compiler/kernel" of "compiler/kernel/ir/ir.h".
std::string folder_of(const std::string& path);

// Includes in quotes whose arrow is not in the table, and folders with sources that have no row in it.
Findings check_arrows(const std::vector<SourceFile>& files, const FolderTable& table);

// Faults of the table itself: what cannot be read, rows and arrows of folders that `files` does not have,
// cycles.
Findings check_table(const std::vector<SourceFile>& files, const FolderTable& table);

// The top-level folders, from the bottom up. Each may include itself and those before it.
inline constexpr std::array<const char*, 6> kLayers = {"compiler", "tuning_db", "runtime",
                                                       "engine",   "tuner",     "tools"};
// Includes that climb from a layer to a higher one, and files of no layer.
Findings check_layers(const std::vector<SourceFile>& files);

// Files and functions that are too long, folders that are too full.
Findings check_sizes(const std::vector<SourceFile>& files);

// Folders of tests, "tests/kernel/ir", that mirror no folder of the product. `helpers` are folders below
// tests/ that need not: neither they nor what is below them.
Findings check_mirror(const std::set<std::string>& test_folders, const std::set<std::string>& product_folders,
                      const std::set<std::string>& helpers);

}  // namespace rondo::structure
