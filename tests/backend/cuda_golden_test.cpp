// The emitted text of the sample kernels, character for character. RONDO_UPDATE_GOLDEN=1 writes the files
// anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/backend/cuda/emit.h"
#include "tests/backend/cuda/kernels.h"

namespace rondo::backend::cuda {
namespace {

std::filesystem::path golden_file(const std::string& name) {
  const char* elsewhere = std::getenv("RONDO_SOURCE_DIR");
  return std::filesystem::path(elsewhere != nullptr ? elsewhere : RONDO_SOURCE_DIR) / "tests/golden/cuda" /
         (name + ".cu");
}

class Golden : public ::testing::TestWithParam<testing::Sample> {};

TEST_P(Golden, TextIsAsRecorded) {
  const std::string text = emit({&GetParam().kernel});
  const std::filesystem::path path = golden_file(GetParam().name);
  if (std::getenv("RONDO_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; run with RONDO_UPDATE_GOLDEN=1";
  std::stringstream recorded;
  recorded << file.rdbuf();
  EXPECT_EQ(text, recorded.str())
      << "if the change is meant, run with RONDO_UPDATE_GOLDEN=1 and read the difference";
}

INSTANTIATE_TEST_SUITE_P(Cuda, Golden, ::testing::ValuesIn(testing::samples()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rondo::backend::cuda
