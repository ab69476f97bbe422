// The source tree keeps its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/structure/rules.h"
#include "tests/structure/turns.h"
#include "tests/structure/walk.h"

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

// What a program with more rights than its user believes of the environment is decided in one place.
TEST(Project, TheEnvironmentIsReadInOnePlace) {
  for (const SourceFile& file : sources_of(kProduct)) {
    const bool reads = file.text.find("getenv(") != std::string::npos;
    EXPECT_EQ(reads, file.path == "compiler/support/environment.cpp")
        << file.path << ": environment() of compiler/support/environment.h reads it";
  }
}

// A cell is simplified once, where its Task is made. Whatever simplified it again could see another one.
TEST(Project, ACellIsSimplifiedByItsTask) {
  for (const SourceFile& file : sources_of(kProduct)) {
    const bool may = file.path.starts_with("compiler/step/") || file.path.starts_with("engine/");
    EXPECT_TRUE(may || file.text.find("step::simplify(") == std::string::npos)
        << file.path << ": take the cell of a schedule::Task";
  }
}

// The ways of a request: `rondo run` and the C interface to a plan, and `rondo tune` to a record.
const Walk kWalkOfAPlan = {{5, "engine/service", "answer"},
                           {6, "engine/service", "on_cpus"},
                           {7, "engine/service", "with_kernel"},
                           {8, "engine/service", "known"},
                           {9, "engine/trust", "trusted_plan"},
                           {10, "engine/trust", "trusted_choice"},
                           {11, "engine/trust", "run"},
                           {12, "engine/trust", "make"},
                           {13, "engine/choice", "choose_with"},
                           {14, "engine/choice", "choose"},
                           {15, "engine/choice", "first"},
                           {13, "engine/plan", "make_ready"},
                           {14, "engine/plan", "code_of_choice"},
                           {15, "engine/plan", "code_believed"},
                           {16, "engine/plan", "build_choice"},
                           {16, "engine/plan", "compile_plan"},
                           {17, "engine/plan", "uncompiled_plan"},
                           {18, "compiler/schedule/plan", "lower_plan"},
                           {17, "engine/plan", "image_of"},
                           {18, "compiler/backend/llvm", "compile"},
                           {14, "runtime/device", "load"}};

Walk with_plan(Walk walk) {
  walk.insert(walk.end(), kWalkOfAPlan.begin(), kWalkOfAPlan.end());
  return walk;
}

TEST(Project, TheWalkOfARequestGoesDown) {
  const std::vector<SourceFile> files = sources_of(kProduct);
  const FolderTable table = read_folder_table("docs/folders.md", read(root() / "docs/folders.md"));
  const Walk run = with_plan({{0, "tools/rondo", "run"}, {1, "tools/rondo", "compute"}});
  expect_none(check_walk(run, files, table));
  expect_none(check_walk(with_plan({{0, "tools/rondo", "bench_rows"}}), files, table));
  expect_none(check_walk(with_plan({{0, "tools/librondo", "create_plan"}, {1, "tools/librondo", "plan_for"}}),
                         files, table));
  expect_none(check_walk(with_plan({{0, "tools/librondo", "create_training"},
                                    {1, "tools/librondo", "training_for"},
                                    {2, "engine/service", "answer_training"},
                                    {3, "engine/service", "training"}}),
                         files, table));
  expect_none(check_walk({{0, "tools/rondo", "tune"},
                          {1, "tools/rondo", "tune_problem"},
                          {2, "tuner/tune", "tune"},
                          {3, "engine/choice", "ranked_candidates"},
                          {3, "engine/choice", "known_choices"},
                          {3, "tuner/search", "search"},
                          {3, "engine/plan", "store_cubin"}},
                         files, table));
}

TEST(Project, TestsMirrorTheProduct) {
  std::set<std::string> product(kProduct.begin(), kProduct.end());
  for (const std::string& folder : kProduct) product.merge(folders_below(folder));
  std::set<std::string> tests;  // that have sources: the others hold data
  for (const SourceFile& file : sources_of({"tests"})) tests.insert(folder_of(file.path));
  expect_none(check_mirror(tests, product, kHelpers));
}

// Of a test that runs at every fourth commit, cases that run at every eighth would mostly never run.
TEST(Project, SlowTestsTakeAllOfTheirCases) {
  const std::vector<SourceFile> files = sources_of({"tests"});
  const auto waits = [](const SourceFile& file) {
    return file.text.find("waits_for_its_turn()) GTEST_SKIP()") != std::string::npos;
  };
  ASSERT_GT(std::ranges::count_if(files, waits), 10);
  expect_none(check_turns(files));
}

}  // namespace
}  // namespace rondo::structure
