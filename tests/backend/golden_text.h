// Recorded texts of backends. RONDO_UPDATE_GOLDEN=1 writes the files anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rondo::backend {

// Compares, character for character, with tests/golden/FILE.
inline void compare_golden(const std::string& file_name, const std::string& text) {
  const char* elsewhere = std::getenv("RONDO_SOURCE_DIR");
  const std::filesystem::path path =
      std::filesystem::path(elsewhere != nullptr ? elsewhere : RONDO_SOURCE_DIR) / "tests/golden" / file_name;
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

}  // namespace rondo::backend
