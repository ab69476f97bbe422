// The source tree keeps its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/structure/rules.h"

namespace rondo::structure {
namespace {

namespace fs = std::filesystem;

fs::path root() {
  const char* const moved = std::getenv("RONDO_SOURCE_DIR");
  return moved != nullptr ? moved : RONDO_SOURCE_DIR;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Sources of the folders, and of those below them, in the order of their paths.
std::vector<SourceFile> sources_of(const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root() / folder)) {
      const fs::path ending = entry.path().extension();
      if (ending == ".cpp" || ending == ".h" || ending == ".cuh")
        files.push_back({entry.path().lexically_relative(root()).generic_string(), read(entry.path())});
    }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::set<std::string> folders_below(const std::string& folder) {
  std::set<std::string> folders;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root() / folder))
    if (entry.is_directory()) folders.insert(entry.path().lexically_relative(root()).generic_string());
  return folders;
}

const std::vector<std::string> kProduct = {kLayers.begin(), kLayers.end()};

// Folders below tests/ whose sources test no single folder: what needs a GPU, the rules themselves, random
// points of all strategies, readers of arbitrary bytes, the C interface as a whole.
const std::set<std::string> kHelpers = {"outside", "gpu", "structure", "points", "fuzz", "capi"};

void expect_none(const Findings& findings) {
  for (const Finding& finding : findings) ADD_FAILURE() << finding.text();
}

TEST(Project, ArrowsAreInTheTable) {
  const std::vector<SourceFile> files = sources_of(kProduct);
  ASSERT_GT(files.size(), 300U);
  const FolderTable table = read_folder_table("docs/folders.md", read(root() / "docs/folders.md"));
  std::vector<SourceFile> code;  // CUDA text includes nothing and has its folder's row
  std::ranges::copy_if(files, std::back_inserter(code),
                       [](const SourceFile& file) { return !file.path.ends_with(".cuh"); });
  expect_none(check_table(code, table));
  expect_none(check_arrows(code, table));
  expect_none(check_layers(code));
}

TEST(Project, FilesFunctionsAndFoldersAreSmall) {
  std::vector<std::string> folders = kProduct;
  for (const char* other : {"include", "benchmarks", "examples", "tests"}) folders.emplace_back(other);
  expect_none(check_sizes(sources_of(folders)));
}

TEST(Project, TestsMirrorTheProduct) {
  std::set<std::string> product(kProduct.begin(), kProduct.end());
  for (const std::string& folder : kProduct) product.merge(folders_below(folder));
  std::set<std::string> tests;  // that have sources: the others hold data
  for (const SourceFile& file : sources_of({"tests"})) tests.insert(folder_of(file.path));
  expect_none(check_mirror(tests, product, kHelpers));
}

}  // namespace
}  // namespace rondo::structure
