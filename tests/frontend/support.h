// Files of the source tree, for the tests of the frontend.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/frontend/frontend.h"

namespace rondo::frontend::testing {

inline std::filesystem::path source_dir() {
  const char* moved = std::getenv("RONDO_SOURCE_DIR");
  return moved ? moved : RONDO_SOURCE_DIR;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// The .cell files of a folder of the source tree, sorted.
inline std::vector<std::filesystem::path> cell_files(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / folder)) {
    if (entry.path().extension() == ".cell") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The one cell of a text that must be right.
inline step::Cell parse_one(const std::string& text) {
  Parsed parsed = parse(text, "test.cell");
  if (!parsed.ok()) throw std::runtime_error(render_all(parsed, text, "test.cell"));
  if (parsed.cells.size() != 1) throw std::runtime_error("expected one cell");
  return std::move(parsed.cells[0]);
}

inline step::Cell shipped(const std::string& name) {
  return parse_one(read_file(source_dir() / "cells" / (name + ".cell")));
}

}  // namespace rondo::frontend::testing
